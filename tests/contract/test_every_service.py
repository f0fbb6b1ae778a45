"""Each room of `serving/rooms.py` is there wherever services are listed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from services.serving.rooms import ROOMS

ROOT = Path(__file__).parents[2]
SERVICES = [room.name for room in ROOMS]
WORKERS = [f"{room.name}-worker" for room in ROOMS if room.has_queue]
PROCESSES = [*SERVICES, *WORKERS]


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_room_that_answers_is_a_service():
    rooms = {path.parent.name for path in ROOT.glob("services/*/endpoints.py")}
    assert rooms == set(SERVICES)
    assert rooms == {path.parent.name for path in ROOT.glob("services/*/room.py")}


def test_what_a_room_is_made_of_is_imported_when_it_is_built():
    slow = ("services.gateway.app", "services.ingestion.service", "numpy", "fastapi")
    code = f"import services.serving.rooms, sys; sys.exit(any(m in sys.modules for m in {slow}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("service", SERVICES)
def test_it_has_an_image(service):
    targets = re.findall(r"^FROM runtime AS (\w+)\n", text("deploy/Dockerfile"), re.MULTILINE)
    assert service in targets
    assert f'CMD ["serve", "{service}"]' in text("deploy/Dockerfile")


@pytest.mark.parametrize("process", PROCESSES)
def test_it_has_an_entry_in_the_compose_file(process):
    assert process in yaml.safe_load(text("docker-compose.yml"))["services"]


@pytest.mark.parametrize("process", PROCESSES)
def test_it_has_a_deployment_in_the_chart(process):
    assert process in yaml.safe_load(text("helm/flowxpert/values.yaml"))["services"]
    helpers = text("helm/flowxpert/templates/_helpers.tpl")
    table = helpers.partition('define "flowxpert.components"')[2].partition("{{- end -}}")[0]
    assert f"\n{process}:\n" in table


@pytest.mark.parametrize("service", SERVICES)
def test_it_has_a_description_for_callers(service):
    assert json.loads(text(f"proto/openapi/{service}.json"))["paths"]


@pytest.mark.parametrize("service", SERVICES)
def test_it_has_rows_in_the_documentation(service):
    row = rf"^\| `?{service}`? \|"
    assert re.search(row, text("README.md"), re.MULTILINE), "the table of services"
    assert re.search(row, text("docs/deployment.md"), re.MULTILINE), "what it needs and keeps"
    assert re.search(rf"^\| {service}", text("docs/operate/scaling.md"), re.MULTILINE), "scaling"


def observability(path: str) -> Path:
    found = ROOT / "deploy" / "observability" / path
    if not found.exists():
        pytest.skip(f"there is no deploy/observability/{path} yet")
    return found


@pytest.mark.parametrize("process", PROCESSES)
def test_it_is_scraped(process):
    config = yaml.safe_load(observability("prometheus.yml").read_text(encoding="utf-8"))
    names = [
        name
        for job in config["scrape_configs"]
        for found in job.get("dns_sd_configs", [])
        for name in found["names"]
    ]
    assert process in names


@pytest.mark.parametrize("process", PROCESSES)
def test_it_has_a_row_on_a_dashboard(process):
    """A panel that draws a line for each process that is scraped shows this one too."""
    dashboard = json.loads(observability("grafana/dashboards/overview.json").read_text("utf-8"))
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", [])]
    assert any(
        target["expr"] == 'up{job="flowxpert"}' and "{{app}}" in target["legendFormat"]
        for target in targets
    )
