"""The platform answers alerts about itself from its own runbooks."""

import re
from pathlib import Path

import pytest
import yaml
from fastapi.testclient import TestClient

from services.embedded import Embedded
from services.kit.settings import PlatformSettings

ROOT = Path(__file__).parents[2]
LABELS = {
    "app": "planner",
    "instance": "planner:8080",
    "missing": "graph",
    "model": "planner-7b",
    "service": "scorer",
    "store": "vectors",
    "target": "jira",
    "task": "gateway.walk_ticket",
}


def alert_rules():
    for path in sorted((ROOT / "deploy" / "observability" / "rules").glob("*.yml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            yield from (rule for rule in group["rules"] if "alert" in rule)


def filled(text):
    """As Prometheus fills the templates in."""
    named = re.sub(r"{{ \$labels\.(\w+) }}", lambda found: LABELS[found[1]], text)
    return re.sub(r"{{ \$value[^}]* }}", "3", named)


def body_of(rule):
    """What Alertmanager posts for it."""
    used = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    alert = {
        "status": "firing",
        "labels": {
            "alertname": rule["alert"],
            **rule["labels"],
            **{name: LABELS[name] for name in used},
        },
        "annotations": {name: filled(text) for name, text in rule["annotations"].items()},
        "startsAt": "2026-03-12T08:14:51.123Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus:9090/graph",
        "fingerprint": f"{abs(hash(rule['alert'])):016x}"[:16],
    }
    return {
        "version": "4",
        "groupKey": f'{{}}:{{alertname="{rule["alert"]}"}}',
        "status": "firing",
        "receiver": "flowxpert",
        "groupLabels": {"alertname": rule["alert"]},
        "commonLabels": alert["labels"],
        "commonAnnotations": alert["annotations"],
        "externalURL": "http://alertmanager:9093",
        "alerts": [alert],
    }


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    """A platform that knows its own runbooks and the examples."""
    settings = PlatformSettings(_env_file=None, data_dir=tmp_path_factory.mktemp("own"))
    with Embedded.open(settings) as opened:
        opened.ingestion.ingest_here(ROOT / "docs" / "operate" / "runbooks")
        opened.ingestion.ingest_here(ROOT / "examples" / "documents")
        opened.start()
        yield TestClient(opened.app, base_url="http://127.0.0.1:8080")


def test_each_alert_is_answered_from_its_own_runbook(platform):
    cited = {}
    for rule in alert_rules():
        answer = platform.post("/workflow/alertmanager", json=body_of(rule), params={"wait": 60})
        ticket = platform.get(answer.json()["status_url"]).json()
        best = platform.get(ticket["candidates"][0]["url"]).json()["workflow"]
        found = {each["document_id"] for step in best["steps"] for each in step["citations"]}
        assert all(step["citations"] or step["implied"] for step in best["steps"])
        cited[rule["alert"]] = ticket["fit"], found
    assert cited == {name: ("sure", {f"{name}.md"}) for name in cited}
    assert len(cited) == 15


def test_the_platform_says_that_everything_answers(platform):
    answer = platform.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert set(answer.json()["checks"]) == {"database", "queue", "graph", "vectors"}
