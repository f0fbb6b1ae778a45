{{- define "flowxpert.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains "flowxpert" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-flowxpert" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods of one component: call it with (dict "root" $ "component" "gateway"). */}}
{{- define "flowxpert.selector" -}}
app.kubernetes.io/name: flowxpert
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "flowxpert.labels" -}}
{{ include "flowxpert.selector" . }}
app.kubernetes.io/part-of: flowxpert
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* What each process is: the service whose image it runs, its command, what it speaks to. */}}
{{- define "flowxpert.components" -}}
{{ .Files.Get "files/components.yaml" }}
{{- end -}}

{{/* The ports of the stores. */}}
{{- define "flowxpert.storePorts" -}}
postgresql: 5432
redis: 6379
qdrant: 6333
neo4j: 7687
{{- end -}}

{{- define "flowxpert.secretName" -}}
{{- .Values.secrets.existing | default (printf "%s-secrets" (include "flowxpert.fullname" .)) -}}
{{- end -}}

{{- define "flowxpert.image" -}}
{{- $image := .root.Values.image -}}
{{ $image.registry }}/{{ $image.repository }}/{{ .service }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}

{{/* The pod's part of the restricted Pod Security Standard. */}}
{{- define "flowxpert.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "flowxpert.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Where a model answers: our own server, or the one that the values name. Empty: none. */}}
{{- define "flowxpert.modelUrl" -}}
{{- $model := index .root.Values.models .model -}}
{{- if $model.enabled -}}
http://{{ include "flowxpert.fullname" .root }}-{{ .model }}-model:8000/v1
{{- else -}}
{{ $model.url }}
{{- end -}}
{{- end -}}

{{/* Secrets as files: what the settings read them from. */}}
{{- define "flowxpert.secretEnv" -}}
{{- $stores := .stores | default list -}}
- {name: FLOWXPERT_API_KEY_FILE, value: /run/secrets/flowxpert/api-key}
{{- if has "postgresql" $stores }}
- {name: FLOWXPERT_DATABASE_URL_FILE, value: /run/secrets/flowxpert/database-url}
{{- end }}
{{- if has "redis" $stores }}
- {name: FLOWXPERT_REDIS_URL_FILE, value: /run/secrets/flowxpert/redis-url}
{{- end }}
{{- if has "qdrant" $stores }}
- {name: FLOWXPERT_QDRANT_API_KEY_FILE, value: /run/secrets/flowxpert/qdrant-api-key}
{{- end }}
{{- if has "neo4j" $stores }}
- {name: FLOWXPERT_NEO4J_PASSWORD_FILE, value: /run/secrets/flowxpert/neo4j-password}
{{- end }}
{{- if .model }}
- {name: FLOWXPERT_MODEL_API_KEY_FILE, value: /run/secrets/flowxpert/model-api-key}
{{- end }}
{{- range $variable, $key := .secrets | default dict }}
- {name: {{ $variable }}_FILE, value: /run/secrets/flowxpert/{{ $key }}}
{{- end }}
{{- end -}}

{{- define "flowxpert.secretKeys" -}}
{{- $stores := .stores | default list -}}
- {key: api-key, path: api-key}
{{- if has "postgresql" $stores }}
- {key: database-url, path: database-url}
{{- end }}
{{- if has "redis" $stores }}
- {key: redis-url, path: redis-url}
{{- end }}
{{- if has "qdrant" $stores }}
- {key: qdrant-api-key, path: qdrant-api-key}
{{- end }}
{{- if has "neo4j" $stores }}
- {key: neo4j-password, path: neo4j-password}
{{- end }}
{{- if .model }}
- {key: model-api-key, path: model-api-key}
{{- end }}
{{- range $variable, $key := .secrets | default dict }}
- {key: {{ $key }}, path: {{ $key }}}
{{- end }}
{{- end -}}
