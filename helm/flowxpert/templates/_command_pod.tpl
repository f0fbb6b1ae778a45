{{/* The pod of a command on the database: "root", "command". */}}
{{- define "flowxpert.commandPod" -}}
{{- $what := dict "service" .command "stores" (list "postgresql") -}}
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext: {{- include "flowxpert.podSecurity" 10001 | nindent 2 }}
containers:
  - name: {{ .command }}
    image: {{ include "flowxpert.image" (dict "root" .root "service" "gateway") }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: [{{ .command }}]
    env: {{- include "flowxpert.secretEnv" $what | nindent 6 }}
    securityContext: {{- include "flowxpert.containerSecurity" .root | nindent 6 }}
    resources:
      requests: {cpu: 100m, memory: 256Mi}
      limits: {cpu: "1", memory: 1Gi}
    volumeMounts:
      - {name: data, mountPath: /var/lib/flowxpert}
      - {name: tmp, mountPath: /tmp}
      - {name: secrets, mountPath: /run/secrets/flowxpert, readOnly: true}
volumes:
  - name: data
    emptyDir: {sizeLimit: 100Mi}
  - name: tmp
    emptyDir: {sizeLimit: 100Mi}
  - name: secrets
    secret:
      secretName: {{ include "flowxpert.secretName" .root }}
      defaultMode: 0440
      items: {{- include "flowxpert.secretKeys" $what | nindent 8 }}
{{- end }}
