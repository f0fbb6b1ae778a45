"""What an older release kept is all there after an upgrade, and what it left waiting is done.

The data was made by that release itself: tests/fixtures/upgrade/README.md.
"""

import json
import tarfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import column as sql_column
from sqlalchemy import func, table, update
from sqlalchemy.engine import make_url

from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.serving.embedded import Embedded
from tests.postgres import postgres_url

FIXTURES = Path(__file__).parents[1] / "fixtures" / "upgrade"
MADE_IN = "/srv/flowxpert"
"""The data folder of the old release; it is unpacked elsewhere here."""
PATHS = (("ingestion_document", "source"), ("ingestion_job", "path"), ("ingestion_job", "source"))
"""Where the old data name that folder."""
WAIT_S = 120


def unpacked(engine: str, folder: Path) -> PlatformSettings:
    with tarfile.open(FIXTURES / f"{engine}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    url = f"sqlite:///{folder / 'flowxpert.db'}" if engine == "sqlite" else postgres_url()
    if engine == "postgres":
        plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(plain, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
            connection.execute((folder / "postgres.sql").read_text(encoding="utf-8"))
    settings = PlatformSettings(_env_file=None, data_dir=folder, database_url=url)
    move_paths(settings.resolved_database_url, folder)
    return settings


def move_paths(url: str, folder: Path) -> None:
    """As if the folder had always been here; what the audit log says cannot be changed."""
    database = Database(url)
    with database.engine.begin() as connection:
        for name, column in PATHS:
            place = table(name, sql_column(column))
            moved = func.replace(place.c[column], MADE_IN, str(folder))
            connection.execute(update(place).values({column: moved}))
    database.close()


def lacking(expected: Any, found: Any, where: str) -> list[str]:
    """What of the expected is not found or is otherwise; fields and list items may be added."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            line
            for name, value in expected.items()
            for line in lacking(value, found.get(name), f"{where}.{name}")
        ]
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) == len(found):
            pairs = enumerate(zip(expected, found, strict=True))
            return [line for n, pair in pairs for line in lacking(*pair, f"{where}[{n}]")]
        missing = [one for one in expected if all(lacking(one, other, "") for other in found)]
        return [f"{where}: not there any more: {one!r}" for one in missing]
    return [] if expected == found else [f"{where}: {expected!r} -> {found!r}"]


def told_otherwise_now(kept: dict[str, Any]) -> None:
    """Change what is meant to be told otherwise since then (decisions 38 and 40).

    Acceptance closes the questions of its ticket; a mark on a step that was reworded afterwards
    is listed beside the edited version, not counted as done in it. Rules read no pages any more:
    what people approved of their readings is kept as read by a person.
    """
    for listed in kept["/v1/readings"]:
        listed["reader"] = listed["reader"].replace("rules", "person")
    for path, each in kept.items():
        if path.startswith("/v1/readings/") and "reading" in each and each["reader"] == "rules":
            each["reader"] = each["reading"]["reader"] = "person"
            each.pop("revision"), each["reading"].pop("version")
        if path.endswith("/work") and path.split("/")[3] != each["candidate_id"]:
            each.pop("done"), each.pop("next")
        elif path.startswith("/v1/tickets/") and "clarifications" in each:
            works = (kept.get(f"{one['url']}/work", {}) for one in each["candidates"])
            if any(work.get("verdict") == "accepted" for work in works):
                for question in each["clarifications"]:
                    question["state"] = question["state"].replace("open", "closed")


def wait_for_the_queue(platform: Embedded) -> None:
    until = time.monotonic() + WAIT_S
    while platform.outbox.counts()["waiting"]:
        assert time.monotonic() < until, platform.outbox.waiting()
        time.sleep(0.1)


@pytest.mark.usefixtures("really_migrated")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_an_upgrade_loses_nothing_and_does_what_waited(tmp_path: Path, engine: str) -> None:
    settings = unpacked(engine, tmp_path)
    recorded = (tmp_path / "expected.json").read_text(encoding="utf-8")
    expected = json.loads(recorded.replace(MADE_IN, str(tmp_path)))
    kept = expected["kept"]
    kept["/v1/audit"] = json.loads(recorded)["kept"]["/v1/audit"]
    told_otherwise_now(kept)
    with Embedded.open(settings) as platform:
        client = TestClient(platform.app, base_url="http://127.0.0.1")
        assert client.get("/v1/tickets").status_code == 401
        client.headers["authorization"] = f"Bearer {expected['key']}"

        def of(path: str) -> Any:
            answer = client.get(path)
            assert answer.status_code == 200, f"{path}: {answer.text}"
            told = answer.json()
            if path.endswith("/work"):
                beside = [each["said"] for each in told["left_behind"]]
                told["steps"] = sorted(told["steps"] + beside, key=lambda each: each["step"])
            return told

        def lost(*paths: str) -> list[str]:
            return [line for path in paths for line in lacking(kept[path], of(path), path)]

        assert lost(*kept) == []
        assert set(expected["tasks"]) <= {task.key for task in platform.outbox.due(limit=100)}

        if engine == "postgres":  # its vectors are not in the dump, as after a change of store
            platform.ingestion.reindex()
        platform.start()
        wait_for_the_queue(platform)

        waited = [ticket for ticket in kept["/v1/tickets"]["tickets"] if not is_over(ticket)]
        assert len(waited) == 3  # two were new, one was answered
        for ticket in waited:
            assert of(f"/v1/tickets/{ticket['id']}")["status"] in {"planned", "refused"}
        (job,) = [job for job in kept["/v1/ingestions"] if job["status"] == "queued"]
        assert of(f"/v1/ingestions/{job['id']}")["status"] == "done"
        assert len(of("/v1/documents")) == len(kept["/v1/documents"]) + 1

        worked_on = versions(kept)
        assert len(worked_on) == 2
        assert lost(*(path for each in worked_on for path in kept if path.startswith(each))) == []
        assert lost("/v1/teams", "/v1/audit", "/v1/acceptance", "/v1/dead-letters") == []
        assert lost(*(path for path in kept if path.startswith("/v1/readings"))) == []

        (letter,) = kept["/v1/dead-letters"]["letters"]
        assert client.post("/v1/dead-letters/retry", json={"all": True}).status_code == 202
        wait_for_the_queue(platform)
        assert of(f"/v1/tickets/{letter['ticket_id']}")["status"] == "planned"


def is_over(ticket: dict[str, Any]) -> bool:
    return ticket["status"] not in {"received", "planning"}


def versions(kept: dict[str, Any]) -> list[str]:
    """Addresses of the workflow that was edited and of its version."""
    (version,) = [
        each for each in kept.values() if isinstance(each, dict) and each.get("version") == 2
    ]
    return [f"/v1/workflows/{version[name]}" for name in ("id", "base_id")]
