"""`flowxpert webhooks try`: what files would become, a line for each."""

import json
import os
from pathlib import Path

import pytest

from services.tickets.ticket.severity import SEVERITIES
from tests.command import flowxpert

DATA = Path(os.environ.get("FLOWXPERT_DATA", Path(__file__).parents[3] / "shared" / "data"))
WEBHOOKS = DATA / "webhooks"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "ticket.json").write_text('{"title": "Fan failed", "priority": "P1", "id": 1}')
    (tmp_path / "deep" / "over.json").write_text('{"title": "x", "id": 2, "status": "closed"}')
    (tmp_path / "deep" / "nothing.json").write_text("{}")
    (tmp_path / "deep" / "broken.json").write_text("{")
    (tmp_path / "notes.txt").write_text("no body")
    return tmp_path


def run(*arguments, status=0):
    done = flowxpert("webhooks", "try", *map(str, arguments))
    assert done.returncode == status, done.stderr
    return done.stdout


def test_a_folder_is_tried_to_its_depth_with_a_line_of_json_for_each_file(folder):
    tried = [json.loads(line) for line in run(folder, "--json").splitlines()]
    by_name = {Path(each["file"]).name: each for each in tried}
    assert set(by_name) == {"ticket.json", "over.json", "nothing.json", "broken.json"}
    (ticket,) = by_name["ticket.json"]["tickets"]
    assert (ticket["title"], ticket["severity"]) == ("Fan failed", "critical")
    assert by_name["over.json"]["resolved"][0]["external_id"] == "2"
    assert (by_name["nothing.json"]["status"], by_name["broken.json"]["status"]) == (422, 400)
    assert by_name["nothing.json"]["error"] == "UnrecognisedBodyError"


def test_a_table_tells_how_many_files_each_source_has(folder):
    shown = run(folder)
    assert "Fan failed" in shown
    assert "resolved 2" in shown
    assert [line.split() for line in shown.splitlines()[-2:]] == [
        ["(refused)", "2"],
        ["generic", "2"],
    ]


def test_a_file_may_be_read_as_a_source_that_is_named(folder):
    named = ("--source", "jira", "--json")
    tried = json.loads(run(folder / "ticket.json", *named, status=1))
    assert (tried["status"], tried["error"]) == (422, "UnreadableTicketError")


def test_the_exit_status_is_1_only_where_nothing_could_be_read(folder, tmp_path):
    run(folder / "ticket.json")
    run(folder / "deep", "--json")
    run(folder / "deep" / "broken.json", status=1)
    (tmp_path / "empty").mkdir()
    run(tmp_path / "empty", status=1)


@pytest.mark.skipif(not WEBHOOKS.is_dir(), reason=f"no bodies at {WEBHOOKS}: set FLOWXPERT_DATA")
def test_bodies_that_others_collected_become_tickets_or_a_clear_refusal():
    tried = [json.loads(line) for line in run(WEBHOOKS, "--json").splitlines()]
    assert {each["status"] for each in tried} <= {202, 422}
    read = [each for each in tried if each["status"] == 202]
    assert len(read) >= 90
    sources = {each["source"] for each in read}
    assert sources >= {"alertmanager", "grafana", "pagerduty", "jira", "opsgenie", "servicenow"}
    assert sources >= {"cloudwatch", "sentry", "generic"}
    for ticket in (ticket for each in read for ticket in each["tickets"]):
        assert ticket["title"]
        assert ticket["severity"] in {*SEVERITIES, ""}, ticket
