"""The whole walk on real services: an alert in, a checked, cited, ranked workflow out."""

import json
import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("FLOWXPERT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def test_every_citation_of_a_workflow_can_be_read(running, example):
    ticket = running.walked(example("alertmanager/bgp-down"))
    stored = running.client.get(ticket["candidates"][0]["url"]).json()
    citations = [c for step in stored["workflow"]["steps"] for c in step["citations"]]
    assert citations
    for citation in citations:
        lines = f"{citation['start_line']}-{citation['end_line']}"
        url = f"/v1/sources/{citation['document_id']}"
        source = running.client.get(url, params={"lines": lines, "context": 0}).json()
        assert "".join(source["lines"]).strip()


def test_what_nobody_has_written_about_is_refused_with_what_came_closest(running, example):
    ticket = running.walked(example("generic/nothing-fits"))
    assert ticket["status"] == "refused"
    assert ticket["reason"]
    assert ticket["candidates"] == []


def test_the_closest_known_procedure_is_planned_and_marked(running):
    ticket = running.walked(
        {
            "title": "Neighbour session keeps dropping",
            "description": "Every few minutes the routing session to the provider resets.",
        }
    )
    assert (ticket["status"], ticket["fit"]) == ("planned", "unsure")
    assert ticket["against"]
    assert ticket["candidates"][0]["fit"] == "unsure"


def test_progress_is_told_from_receipt_to_result(running, example):
    body = example("alertmanager/control-plane-cpu")
    body["alerts"][0]["fingerprint"] = "00000000000000aa"
    url = running.post(body).json()["status_url"]
    kinds = []
    with running.client.stream("GET", f"{url}/events") as stream:
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kinds.append(value)
    assert kinds[:4] == ["received", "planning", "retrieved", "candidate"]
    progress = [kind for kind in kinds if kind != "asked"]
    assert progress[-2:] == ["drafted", "planned"]


def test_a_delivery_repeated_after_the_walk_answers_with_the_same_workflow(running, example):
    body = example("alertmanager/fan-tray")
    first = running.walked(body)
    again = running.post(body, params={"wait": 20})
    assert again.status_code == 200
    assert again.json()["workflow"]["id"] == first["workflow_id"]
    assert again.json()["tickets"][0]["created"] is False


def test_alertmanager_bodies_from_the_field_become_tickets(running):
    folder = DATA / "webhooks"
    if not folder.is_dir():
        pytest.skip("set FLOWXPERT_DATA to a folder with webhooks/ to read real bodies")
    bodies = [json.loads(path.read_text()) for path in folder.glob("*/*.json")]
    groups = [b for b in bodies if isinstance(b, dict) and b.get("version") == "4"]
    assert groups
    for body in groups:
        answer = running.post(body)
        assert answer.status_code == 202, answer.text
        tickets = answer.json()["tickets"]
        assert len(tickets) == len(body["alerts"])
        assert {ticket["source"] for ticket in tickets} <= {"alertmanager", "grafana"}


def test_no_body_from_the_field_breaks_the_gateway(running):
    folder = DATA / "webhooks"
    if not folder.is_dir():
        pytest.skip("set FLOWXPERT_DATA to a folder with webhooks/ to read real bodies")
    for path in folder.glob("*/*.json"):
        answer = running.client.post(
            "/workflow", content=path.read_bytes(), headers={"content-type": "application/json"}
        )
        assert answer.status_code in {202, 422}, (path.name, answer.text)
