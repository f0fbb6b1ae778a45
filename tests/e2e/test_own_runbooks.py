"""The platform answers alerts about itself from its own runbooks."""

import re
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from services.contracts.ingestion import ForgetRequest, IngestionClient, JobStatus, Upload
from services.kit.http.client import ServiceClient
from tests.waiting import eventually

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
    named = re.sub(r"{{ \$labels\.(\w+) }}", lambda match: LABELS[match[1]], text)
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
        "fingerprint": rule["alert"].encode().hex()[-16:],
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


@pytest.fixture
def knowing(running):
    """The platform, which knows its own runbooks beside the examples, and forgets them again."""
    with ServiceClient(running.url) as client, ExitStack() as opened:
        ingestion = IngestionClient(client)
        files = sorted((ROOT / "docs" / "operate" / "runbooks").glob("*.md"))
        uploads = [Upload(file.name, opened.enter_context(file.open("rb"))) for file in files]
        ended(ingestion, ingestion.upload(uploads))
        sources = {each.id: each.source for each in ingestion.documents()}
        ours = {id_: source for id_, source in sources.items() if "FlowXpert" in id_}
        assert len(ours) == len(files)
        yield running
        for id_, source in ours.items():
            ended(ingestion, ingestion.forget(ForgetRequest(root=source, document=id_)))


def ended(ingestion, job):
    job = eventually(lambda: ingestion.job(job.id), lambda now: now.is_over, within_s=120)
    assert job.status is JobStatus.DONE
    assert job.failed == ()


def test_each_alert_is_answered_from_its_own_runbook(knowing):
    answered = {}
    for rule in alert_rules():
        answer = knowing.post(body_of(rule), "/workflow/alertmanager", params={"wait": 60})
        ticket = knowing.client.get(answer.json()["status_url"]).json()
        best = knowing.client.get(ticket["candidates"][0]["url"]).json()["workflow"]
        cited = {each["document_id"] for step in best["steps"] for each in step["citations"]}
        assert all(step["citations"] or step["implied"] for step in best["steps"])
        answered[rule["alert"]] = ticket["fit"], {Path(id_).name for id_ in cited}
    assert answered == {name: ("sure", {f"{name}.md"}) for name in answered}
    assert len(answered) == 15


def test_the_platform_says_that_everything_answers(running):
    answer = running.client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert set(answer.json()["checks"]) == {"database", "queue", "graph", "vectors"}
