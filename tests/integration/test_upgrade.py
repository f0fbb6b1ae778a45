"""Rows of the first schema come through all migrations: no ticket, workflow or task is lost."""

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import MetaData

from services.kit.migrations import ROOMS, UnknownRevisionError, upgrade
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.serving.embedded import Embedded
from services.workflow.model import Workflow
from tests.postgres import postgres_url

FIRST = "0001"
WORKFLOW = {
    "title": "Fan failed",
    "steps": [
        {"id": "s1", "text": "Check the fan tray.", "kind": "process"},
        {"id": "end", "text": "Done.", "kind": "terminal"},
    ],
    "transitions": [{"source": "s1", "target": "end"}],
}
TICKET = {
    "source": "generic",
    "occurrence": "",
    "description": "the fan stands still",
    "labels": {},
    "alert_name": "FanFailed",
    "severity": "critical",
    "url": "",
    "reason": "",
    "nearest": [],
    "created_at": 1.0,
    "updated_at": 1.0,
}
ROWS = [
    (
        "gateway_ticket",
        {
            "id": "t-1",
            "external_id": "1",
            "title": "Fan",
            "status": "planned",
            "workflow_id": "w-1",
        },
        TICKET,
    ),
    (
        "gateway_ticket",
        {"id": "t-2", "external_id": "2", "status": "received", "title": "B"},
        TICKET,
    ),
    (
        "gateway_workflow",
        {"id": "w-1", "ticket_id": "t-1", "rank": 1, "title": "Fan failed", "steps": 2},
        {"planner": "extractive", "seconds": {}, "created_at": 1.0},
    ),
    (
        "gateway_score",
        {"workflow_id": "w-1", "overall": 3.0, "body": "{}", "findings": []},
        dict.fromkeys(("relevance", "coverage", "accuracy", "coherence", "conciseness"), 3.0),
    ),
    (
        "knowledge_document",
        {"id": "fan.md", "title": "Fan", "text": "# Fan\n\nCheck the fan tray.\n"},
        {"media_type": "text/markdown", "content_hash": "0", "front_matter": {}},
    ),
    (
        "outbox",
        {"key": "gateway.walk:t-2", "task": "gateway.walk", "kwargs": {"ticket_id": "t-2"}},
        {"trace_id": "", "created_at": 1.0, "due_at": 1.0, "attempts": 0, "reason": ""},
    ),
]


def fill_first_schema(url):
    database = Database(url)
    with database.engine.begin() as connection:
        if not database.is_sqlite:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE")
            connection.exec_driver_sql("CREATE SCHEMA public")
    for room in ROOMS:
        upgrade(database, room, FIRST)
    there = MetaData()
    there.reflect(database.engine)
    workflow = Workflow.model_validate(WORKFLOW).model_dump_json()
    with database.engine.begin() as connection:
        for name, own, usual in ROWS:
            body = {"body": workflow} if name == "gateway_workflow" else {}
            connection.execute(there.tables[name].insert(), {**usual, **own, **body})
    database.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_data_of_the_first_schema_is_read_by_the_api_after_the_upgrade(tmp_path, engine):
    url = f"sqlite:///{tmp_path / 'flowxpert.db'}" if engine == "sqlite" else postgres_url()
    fill_first_schema(url)
    settings = PlatformSettings(_env_file=None, data_dir=tmp_path, database_url=url)
    with Embedded.open(settings) as platform:
        client = TestClient(platform.app, base_url="http://127.0.0.1")
        done = client.get("/v1/tickets/t-1").json()
        assert (done["title"], done["status"]) == ("Fan", "planned")
        stored = client.get("/v1/workflows/w-1")
        assert stored.status_code == 200
        assert "Check the fan tray." in json.dumps(stored.json())
        assert client.get("/v1/tickets/t-2").json()["title"] == "B"
        assert platform.documents.get("fan.md").title == "Fan"
        # What waited in the queue is done by the new version.
        assert "gateway.walk:t-2" in {task.key for task in platform.outbox.due(limit=10)}


def test_tables_of_newer_code_are_refused_not_changed(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'newer.db'}")
    database.migrate("kit")
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_kit SET version_num = '9999'")
    with pytest.raises(UnknownRevisionError, match="9999"):
        database.migrate("kit")
    database.close()


def test_every_room_begins_with_the_first_revision():
    for room in ROOMS:
        versions = Path("services") / room / "migrations" / "versions"
        assert list(versions.glob(f"v{FIRST}_*.py")), room
