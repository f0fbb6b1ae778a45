"""The chart: linted, rendered, held against Kubernetes' schemas, and asked what it promises."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

helm = pytest.importorskip("helm_python", reason="helm-python-sdk is not installed")
kubernetes_validate = pytest.importorskip("kubernetes_validate")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CHART = ROOT / "helm" / "flowxpert"
VERSION = "1.33.0"
OPERATORS = {"ServiceMonitor", "PrometheusRule"}
"""Kinds that are no part of Kubernetes."""
PODS_OF = {"Deployment", "StatefulSet", "Job"}
EVERY = ("default", "minimal", "full")
Objects = dict[tuple[str, str], dict]


@pytest.fixture(scope="module")
def chart():
    return helm.Chart.load(str(CHART))


def values(name: str) -> dict:
    """What is set on top of the defaults."""
    path = CHART / "ci" / f"{name}-values.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}


def objects(chart, overrides: dict) -> Objects:
    texts = chart.render(overrides, name="flowxpert", namespace="tickets")
    manifests: Objects = {}
    for path, text in texts.items():
        if path.endswith("NOTES.txt"):
            continue
        for each in filter(None, yaml.safe_load_all(text)):
            key = each["kind"], each["metadata"]["name"]
            assert key not in manifests, f"{key} twice"
            manifests[key] = each
    return manifests


@pytest.fixture(scope="module")
def rendered(chart) -> dict[str, Objects]:
    return {name: objects(chart, values(name)) for name in EVERY}


@pytest.fixture(params=EVERY)
def one(request, rendered) -> Objects:
    return rendered[request.param]


def templates(manifests: Objects) -> Iterator[tuple[str, dict]]:
    """Every kind of pod, by the name of what makes it."""
    for (kind, name), each in manifests.items():
        if kind in PODS_OF:
            yield name, each["spec"]["template"]
        elif kind == "CronJob":
            yield name, each["spec"]["jobTemplate"]["spec"]["template"]


def containers(pod: dict) -> list[dict]:
    return [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]


def selected(selector: dict, manifests: Objects) -> list[dict]:
    pods = [pod for _, pod in templates(manifests)]
    return [p for p in pods if selector.items() <= p["metadata"]["labels"].items()]


@pytest.mark.parametrize("name", EVERY)
def test_it_is_clean(name):
    report = helm.lint(str(CHART), values(name), strict=True)
    assert report["errors"] == []
    assert [m for m in report["messages"] if m["severity"] > 1] == []


def test_kubernetes_knows_every_object_and_every_field(one):
    for (kind, _), each in one.items():
        if kind not in OPERATORS:
            kubernetes_validate.validate(each, VERSION, strict=True)


def test_each_service_has_its_processes_in_each_form(one):
    from services.deployment.rooms import ROOMS

    names = {name.split("-", 1)[1] for kind, name in one if kind == "Deployment"}
    workers = {f"{room.name}-worker" for room in ROOMS if room.has_queue}
    assert names >= {room.name for room in ROOMS} | workers


def test_what_selects_pods_selects_exactly_one_kind_of_them(one):
    for (kind, name), each in one.items():
        match kind:
            case "Service":
                selector = each["spec"]["selector"]
            case "Deployment" | "StatefulSet" | "PodDisruptionBudget":
                selector = each["spec"]["selector"]["matchLabels"]
            case _:
                continue
        assert len(selected(selector, one)) == 1, (kind, name)


def test_ports_of_services_and_probes_are_ports_of_their_pods(one):
    for (kind, name), each in one.items():
        if kind == "Service":
            (pod,) = selected(each["spec"]["selector"], one)
            opened = {
                p["name"]: p["containerPort"] for c in containers(pod) for p in c.get("ports", [])
            }
            for port in each["spec"]["ports"]:
                assert opened[port["targetPort"]] == port["port"], name
    for name, pod in templates(one):
        for container in pod["spec"]["containers"]:
            opened = {port["name"] for port in container.get("ports", [])}
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                settings = container.get(probe, {})
                where = settings.get("httpGet", settings.get("tcpSocket"))
                assert where is None or where["port"] in opened, (name, probe)


def test_what_runs_for_long_is_probed(one):
    for (kind, name), each in one.items():
        if kind in {"Deployment", "StatefulSet"}:
            for container in each["spec"]["template"]["spec"]["containers"]:
                for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                    # What `/readyz` asks may take longer than the second that is the default.
                    assert container[probe]["timeoutSeconds"] >= 5, (name, probe)


def test_every_container_keeps_the_restricted_standard_and_has_limits(one):
    for name, pod in templates(one):
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"], name
        assert spec["securityContext"]["runAsUser"] > 0, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False, name
        assert spec["enableServiceLinks"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        assert not [v for v in spec["volumes"] if "hostPath" in v], name
        for container in containers(pod):
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"], name
            assert security["allowPrivilegeEscalation"] is False, name
            assert security["capabilities"] == {"drop": ["ALL"]}, name
            for bound in ("requests", "limits"):
                assert {"cpu", "memory"} <= set(container["resources"][bound]), name


def test_every_image_is_pinned(one):
    for name, pod in templates(one):
        for container in containers(pod):
            tag = container["image"].rpartition("/")[2].partition(":")[2]
            assert any(letter.isdigit() for letter in tag), (name, container["image"])


def test_what_is_mounted_is_a_volume_and_what_is_a_volume_exists(one):
    for name, pod in templates(one):
        spec = pod["spec"]
        made = one.get(("StatefulSet", name), {}).get("spec", {}).get("volumeClaimTemplates", [])
        volumes = {v["name"] for v in [*spec["volumes"], *(claim["metadata"] for claim in made)]}
        mounted = {mount["name"] for c in containers(pod) for mount in c["volumeMounts"]}
        assert mounted == volumes, name
        claims = (v.get("persistentVolumeClaim", {}).get("claimName") for v in spec["volumes"])
        for claim in filter(None, claims):
            assert ("PersistentVolumeClaim", claim) in one, name
        if account := spec.get("serviceAccountName"):
            assert one["ServiceAccount", account]["automountServiceAccountToken"] is False


def secrets_wanted(manifests: Objects) -> Iterator[tuple[str, str]]:
    """Each name and key of a Secret that something refers to."""
    for _, pod in templates(manifests):
        for volume in pod["spec"]["volumes"]:
            sources = volume.get("projected", {}).get("sources", [])
            parts = [part["secret"] for part in sources]
            if "secret" in volume:
                parts.append({"name": volume["secret"]["secretName"], **volume["secret"]})
            for part in parts:
                yield from ((part["name"], item["key"]) for item in part["items"])
    for (kind, _), each in manifests.items():
        if kind == "ServiceMonitor":
            for endpoint in each["spec"]["endpoints"]:
                wanted = endpoint["authorization"]["credentials"]
                yield wanted["name"], wanted["key"]


def documented_keys() -> set[str]:
    """The keys that values.yaml asks of a Secret that is there."""
    text = (CHART / "values.yaml").read_text(encoding="utf-8")
    return set(
        text.partition("with the keys:")[2]
        .partition("Empty:")[0]
        .replace("#", " ")
        .replace(";", ",")
        .replace("for bundled stores also", "")
        .replace(".", "")
        .replace("\n", " ")
        .replace(" ", "")
        .split(",")
    )


def test_every_secret_that_is_referred_to_exists(rendered):
    for name, manifests in rendered.items():
        ours = {
            (secret, key)
            for (kind, secret), each in manifests.items()
            if kind == "Secret"
            for key in each["stringData"]
        }
        existing = values(name).get("secrets", {}).get("existing")
        more = {("jira", "token")} if name == "full" else set()
        there = ours | more | {(existing, key) for key in documented_keys() if existing}
        assert set(secrets_wanted(manifests)) <= there, name


def test_the_secret_that_is_made_holds_what_an_existing_one_must(rendered):
    (secret,) = (each for (kind, _), each in rendered["default"].items() if kind == "Secret")
    assert set(secret["stringData"]) == documented_keys()
    random = {k: v for k, v in secret["stringData"].items() if not k.endswith(("-url", "-auth"))}
    assert len(set(random.values())) == len(random)
    assert min(map(len, random.values())) >= 32
    assert secret["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    assert not [key for key in rendered["minimal"] if key[0] == "Secret"]


def test_no_secret_stands_in_a_variable(one):
    for name, pod in templates(one):
        for container in containers(pod):
            for variable in container.get("env", []):
                if variable["name"].endswith(("PASSWORD", "SECRET", "TOKEN", "API_KEY", "AUTH")):
                    raise AssertionError((name, variable["name"]))


def test_every_flowxpert_variable_is_a_known_setting(one):
    from services.deployment.rooms import SETTINGS

    existing = {name for cls in SETTINGS for name in cls.names()}
    settings = {
        k
        for (kind, _), each in one.items()
        if kind == "ConfigMap"
        for k in each["data"]
        if k.startswith("FLOWXPERT_")
    }
    variables = {
        e["name"]
        for _, pod in templates(one)
        for c in containers(pod)
        for e in c.get("env", [])
        if e["name"].startswith("FLOWXPERT_")
    }
    assert settings | variables <= existing


def test_every_secret_file_is_mounted_where_its_variable_says(one):
    for name, pod in templates(one):
        paths = {}
        for volume in pod["spec"]["volumes"]:
            items = list(volume.get("secret", {}).get("items", []))
            for source in volume.get("projected", {}).get("sources", []):
                items += source["secret"]["items"]
            paths[volume["name"]] = {item["path"] for item in items}
        for container in pod["spec"]["containers"]:
            there = {
                f"{m['mountPath']}/{path}"
                for m in container["volumeMounts"]
                for path in paths.get(m["name"], ())
            }
            named = {e["value"] for e in container.get("env", []) if e["name"].endswith("_FILE")}
            assert named <= there, name


def test_by_default_nobody_may_speak_to_anybody(one):
    policy = one["NetworkPolicy", next(n for k, n in one if n.endswith("-default-deny"))]
    assert set(policy["spec"]["policyTypes"]) == {"Ingress", "Egress"}
    assert "ingress" not in policy["spec"]
    assert [p["port"] for rule in policy["spec"]["egress"] for p in rule["ports"]] == [53, 53]
    selector = policy["spec"]["podSelector"]["matchLabels"]
    assert len(selected(selector, one)) == len(list(templates(one)))


def allowed(manifests: Objects, direction: str, component: str, port: int) -> set[str]:
    """Components that one may speak to (`to`) or hear (`from`) on a port; `*` is anybody."""
    peers = set()
    for (kind, _), each in manifests.items():
        spec = each["spec"] if kind == "NetworkPolicy" else None
        if spec is None:
            continue
        chosen = spec["podSelector"]["matchLabels"].get("app.kubernetes.io/component")
        if chosen not in (None, component):
            continue
        for rule in spec.get({"to": "egress", "from": "ingress"}[direction], []):
            if port in [p["port"] for p in rule["ports"]]:
                for peer in rule.get(direction, [{}]):
                    labels = peer.get("podSelector", {}).get("matchLabels", {})
                    peers.add(labels.get("app.kubernetes.io/component", "*"))
    return peers


def wanted_connections(manifests: Objects) -> Iterator[tuple[str, str, int]]:
    """Who must reach whom, as their settings say."""
    (settings,) = (
        e for (k, n), e in manifests.items() if k == "ConfigMap" and n.endswith("-settings")
    )
    addresses = settings["data"]
    from services.deployment.rooms import ROOMS

    for room in ROOMS:
        for name in room.footprint.calls:
            address = addresses[f"FLOWXPERT_{name.upper()}_URL"]
            host, port = address.removeprefix("http://").split(":")
            for caller in [room.name, f"{room.name}-worker"][: 1 + room.has_queue]:
                yield caller, host.split("-", 1)[1], int(port)
    for _, pod in templates(manifests):
        component = pod["metadata"]["labels"]["app.kubernetes.io/component"]
        files = {e["name"] for c in pod["spec"]["containers"] for e in c.get("env", [])}
        stores = {
            "DATABASE_URL": ("postgresql", 5432),
            "REDIS_URL": ("redis", 6379),
            "QDRANT_API_KEY": ("qdrant", 6333),
            "NEO4J_PASSWORD": ("neo4j", 7687),
        }
        for variable, (store, port) in stores.items():
            if f"FLOWXPERT_{variable}_FILE" in files:
                yield component, store, port
        for container in pod["spec"]["containers"]:
            for entry in container.get("env", []):
                if entry["name"] == "FLOWXPERT_MODEL_URL" and "-model:" in entry["value"]:
                    model = entry["value"].removeprefix("http://").split(":")[0].split("-", 1)[1]
                    yield component, model, 8000


def test_whoever_must_reach_another_may(rendered):
    for name, manifests in rendered.items():
        running = {
            p["metadata"]["labels"]["app.kubernetes.io/component"] for _, p in templates(manifests)
        }
        for caller, called, port in wanted_connections(manifests):
            may = allowed(manifests, "to", caller, port)
            if called in running:
                assert called in may or "*" in may, (name, caller, called)
                assert caller in allowed(manifests, "from", called, port), (name, caller, called)
            else:
                assert "*" in may, (name, caller, called)


def test_stores_are_heard_by_those_alone_that_use_them(rendered):
    for store, port in (("postgresql", 5432), ("redis", 6379), ("qdrant", 6333), ("neo4j", 7687)):
        may = allowed(rendered["full"], "from", store, port)
        wanted = {c for c, called, _ in wanted_connections(rendered["full"]) if called == store}
        assert may == wanted, store


def test_hosts_that_settings_name_are_services(rendered):
    for name, manifests in rendered.items():
        services = {n for kind, n in manifests if kind == "Service"}
        for (kind, _), each in manifests.items():
            if kind == "ConfigMap":
                for value in each["data"].values():
                    host = value.partition("://")[2].partition(":")[0]
                    assert not host or "." in host or host in services, (name, value)


def test_what_is_scaled_by_itself_has_no_number_of_its_own(rendered):
    full = rendered["full"]
    scaled = {
        e["spec"]["scaleTargetRef"]["name"]
        for (k, _), e in full.items()
        if k == "HorizontalPodAutoscaler"
    }
    assert len(scaled) == 6
    for (kind, name), each in full.items():
        if kind == "Deployment":
            assert ("replicas" in each["spec"]) == (name not in scaled), name


def test_what_runs_more_than_once_keeps_one_while_nodes_are_drained(one):
    guarded = {name for kind, name in one if kind == "PodDisruptionBudget"}
    several = set()
    for (kind, name), each in one.items():
        if kind == "Deployment" and not name.endswith("-model"):
            scaler = one.get(("HorizontalPodAutoscaler", name))
            least = scaler["spec"]["minReplicas"] if scaler else each["spec"]["replicas"]
            several |= {name} if least > 1 else set()
    assert guarded == several


def test_those_that_share_a_volume_of_one_node_run_on_one_node(rendered):
    def affine(manifests: Objects) -> list[bool]:
        return [
            "affinity" in pod["spec"] for name, pod in templates(manifests) if "-ingestion" in name
        ]

    assert affine(rendered["default"]) == [True, True]
    assert affine(rendered["full"]) == [False, False]  # a volume of all nodes


def test_the_database_migrates_before_an_upgrade(rendered):
    hooks = {}
    for name, manifests in rendered.items():
        job = next(each for (kind, _), each in manifests.items() if kind == "Job")
        hooks[name] = job["metadata"]["annotations"]["helm.sh/hook"]
        assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["migrate"]
    # Before a first start only where database and Secret do not come with the chart.
    assert hooks == {
        "default": "pre-upgrade",
        "minimal": "pre-upgrade,pre-install",
        "full": "pre-upgrade",
    }


def test_models_take_the_gpus_that_they_say(rendered):
    full = rendered["full"]
    for model, gpus in (("planner", "1"), ("scorer", "2")):
        pod = full["Deployment", f"tickets-{model}-model"]["spec"]["template"]["spec"]
        (vllm,) = pod["containers"]
        for bound in ("requests", "limits"):
            assert vllm["resources"][bound]["nvidia.com/gpu"] == gpus
        assert f"--tensor-parallel-size={gpus}" in vllm["command"]
    assert not [n for k, n in rendered["default"] if n.endswith("-model")]


def test_what_watches_it_is_that_of_the_repository(chart, rendered):
    """The chart's files are links, so that nothing can drift."""
    observability = ROOT / "deploy" / "observability"
    for link, target in (("rules", "rules"), ("dashboards", "grafana/dashboards")):
        assert (CHART / "files" / link).is_symlink()
        assert (CHART / "files" / link).resolve() == (observability / target).resolve()
    full = rendered["full"]
    rules = sorted((observability / "rules").glob("*.yml"))
    made = [each["spec"] for (kind, _), each in full.items() if kind == "PrometheusRule"]
    assert len(made) == len(rules)
    for path in rules:
        assert yaml.safe_load(path.read_text(encoding="utf-8")) in made, path
    dashboards = sorted((observability / "grafana" / "dashboards").glob("*.json"))
    shown = {
        key: json.loads(text)
        for (kind, _), each in full.items()
        if kind == "ConfigMap"
        for key, text in each["data"].items()
        if key.endswith(".json")
    }
    assert shown == {p.name: json.loads(p.read_text(encoding="utf-8")) for p in dashboards}


WRONG = {
    "a value that nobody reads": {"gateway": {"replicas": 3}},
    "a misspelt one": {"services": {"gateway": {"replica": 3}}},
    "a number as text": {"services": {"gateway": {"replicas": "3"}}},
    "no memory that Kubernetes knows": {"uploads": {"size": "10 GB"}},
    "an image that moves": {"redis": {"image": "redis:latest"}},
    "an image without a version": {"redis": {"image": "redis"}},
    "a tag that moves": {"image": {"tag": "latest"}},
    "a secret in a setting": {"settings": {"FLOWXPERT_API_KEY": "a-key-of-enough-characters"}},
    "a secret of a service": {"services": {"gateway": {"env": {"FLOWXPERT_TOKEN": "x"}}}},
    "a variable of others": {"settings": {"PATH": "/"}},
    "a port that is none": {"networkPolicy": {"outsidePorts": [0]}},
    "a model without a name": {"models": {"planner": {"enabled": True}}},
    "a graph at a web address": {"neo4j": {"url": "https://neo4j.example.org"}},
    "nobody who may call": {"networkPolicy": {"gatewayFrom": []}},
    "an access mode that is none": {"uploads": {"accessMode": "ReadWriteSometimes"}},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_value_is_refused(chart, wrong):
    with pytest.raises(helm.HelmError):
        chart.validate_schema(chart.merge_values(WRONG[wrong]))


@pytest.mark.parametrize("name", EVERY)
def test_the_example_values_keep_the_schema(chart, name):
    chart.validate_schema(chart.merge_values(values(name)))


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"postgresql": {"enabled": False}}, "secrets.existing"),
        ({"redis": {"enabled": False}}, "secrets.existing"),
        ({"qdrant": {"enabled": False}}, "qdrant.url"),
        ({"neo4j": {"enabled": False}}, "neo4j.url"),
    ],
)
def test_a_store_elsewhere_must_be_named(chart, overrides, says):
    with pytest.raises(helm.HelmError, match=says):
        chart.render(copy.deepcopy(overrides), name="flowxpert")


def test_every_value_is_explained_or_named_by_what_explains_it(chart):
    """Each top-level value has a comment above it, or belongs to the block above that has one."""
    lines = (CHART / "values.yaml").read_text(encoding="utf-8").splitlines()
    top = [n for n, line in enumerate(lines) if line[:1].isalpha()]
    bare = [lines[n].partition(":")[0] for n in top if not lines[n - 1].startswith("#")]
    assert set(bare) <= {
        "image",
        "secrets",
        "podAnnotations",
        "redis",
        "qdrant",
        "neo4j",
        "ingress",
    }
