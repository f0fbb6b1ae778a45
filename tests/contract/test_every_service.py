"""Each room of `deployment/rooms.py` is there wherever services are listed."""

import json
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
SERVICES = [room.name for room in ROOMS]
WORKERS = [f"{room.name}-worker" for room in ROOMS if room.has_queue]
PROCESSES = [*SERVICES, *WORKERS]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_room_that_answers_is_a_service():
    assert {path.parent.name for path in ROOT.glob("services/*/room.py")} == set(SERVICES)
    allowed = {package for room in ROOMS for package in (room.name, *room.packages)}
    assert {path.parent.name for path in ROOT.glob("services/*/endpoints.py")} <= allowed


def test_what_a_room_is_made_of_is_imported_when_it_is_built():
    slow = ("services.gateway.app", "services.ingestion.service", "numpy", "fastapi")
    code = f"import services.deployment.rooms, sys; sys.exit(any(m in sys.modules for m in {slow}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_lists_deployables_is_what_their_descriptors_say():
    done = subprocess.run(
        [sys.executable, "deploy/export.py", "--check"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_differs_is_named_with_the_command_that_mends_it(tmp_path):
    """In a copy, where Prometheus scrapes one process less."""
    for part in ("deploy", "helm"):
        shutil.copytree(ROOT / part, tmp_path / part, symlinks=True)
    (tmp_path / "docs").mkdir()
    for name in ("pyproject.toml", "docker-compose.yml", "README.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("architecture.md", "deployment.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / "docs" / name)
    scraped = tmp_path / "deploy" / "observability" / "prometheus.yml"
    scraped.write_text(scraped.read_text("utf-8").replace("gateway-worker, ", ""), "utf-8")
    export = [sys.executable, str(tmp_path / "deploy" / "export.py")]
    env = {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*export, "--check"], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip().endswith("deploy/observability/prometheus.yml: run `make docs`")
    subprocess.run(export, env=env, check=True)
    assert scraped.read_text("utf-8") == text("deploy/observability/prometheus.yml")


@pytest.mark.parametrize("service", SERVICES)
def test_it_has_an_image(service):
    built = [
        (each["image"], each["build"]["args"])
        for each in yaml.safe_load(text("docker-compose.yml"))["services"].values()
        if "build" in each
    ]
    assert (f"flowxpert/{service}:0.1.0", {"SERVICE": service}) in built
    assert "\nARG SERVICE\n" in text("deploy/Dockerfile")


@pytest.mark.parametrize(
    ("arguments", "run"), [([], "serve scorer"), (["work", "gateway"], "work gateway")]
)
def test_an_image_serves_its_service_unless_it_is_told_otherwise(tmp_path, arguments, run):
    (tmp_path / "flowxpert").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "flowxpert").chmod(0o755)
    done = subprocess.run(
        [ROOT / "deploy" / "entrypoint", *arguments],
        env={"PATH": f"{tmp_path}:{os.defpath}", "SERVICE": "scorer"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{run}\n"


@pytest.mark.parametrize("process", PROCESSES)
def test_it_has_an_entry_in_the_compose_file(process):
    assert process in yaml.safe_load(text("docker-compose.yml"))["services"]


@pytest.mark.parametrize("process", PROCESSES)
def test_it_has_a_deployment_in_the_chart(process):
    assert process in yaml.safe_load(text("helm/flowxpert/values.yaml"))["services"]
    assert process in yaml.safe_load(text("helm/flowxpert/files/components.yaml"))


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_whom_it_calls_is_there(room):
    assert set(room.footprint.calls) <= set(SERVICES) - {room.name}


@pytest.mark.parametrize("service", SERVICES)
def test_it_has_a_description_for_callers(service):
    assert json.loads(text(f"proto/openapi/{service}.json"))["paths"]


@pytest.mark.parametrize("service", SERVICES)
def test_it_has_rows_in_the_documentation(service):
    row = rf"^\| `?{service}`? \|"
    assert re.search(row, text("README.md"), re.MULTILINE), "the table of services"
    assert re.search(row, text("docs/deployment.md"), re.MULTILINE), "what it needs and keeps"
    assert re.search(row, text("docs/architecture.md"), re.MULTILINE), "what it does, with what"


@pytest.mark.parametrize("process", PROCESSES)
def test_it_is_scraped(process):
    config = yaml.safe_load(text("deploy/observability/prometheus.yml"))
    names = [
        name
        for job in config["scrape_configs"]
        for discovery in job.get("dns_sd_configs", [])
        for name in discovery["names"]
    ]
    assert process in names


@pytest.mark.parametrize("process", PROCESSES)
def test_it_has_a_row_on_a_dashboard(process):
    """A panel that draws a line for each process that is scraped shows this one too."""
    dashboard = json.loads(text("deploy/observability/grafana/dashboards/overview.json"))
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", [])]
    assert any(
        target["expr"] == 'up{job="flowxpert"}' and "{{app}}" in target["legendFormat"]
        for target in targets
    )
