"""What v0.1.0-alpha.1 kept is all there after an upgrade, and what it left waiting is done.

The data was made by that release itself: tests/fixtures/upgrade/README.md.
"""

import json
import tarfile
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import psycopg
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import column as sql_column
from sqlalchemy import func, inspect, table, update
from sqlalchemy.engine import make_url

from services.deployment.embedded import Embedded
from services.deployment.operations.sql_dump import lines_of, tables_of
from services.kit.migrations import ROOMS
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.knowledge.page.parsing import parse_page
from services.runbook.checklist.build import first_instruction
from tests.postgres import postgres_url

FIXTURES = Path(__file__).parents[1] / "fixtures" / "upgrade"
MADE_IN = "/srv/flowxpert"
"""The data folder of that release; it is unpacked elsewhere here."""
PATHS = (("ingestion_document", "source"), ("ingestion_job", "path"), ("ingestion_job", "source"))
"""Where the old data name that folder."""
WAIT_S = 120


def unpacked(engine: str, folder: Path, made: str = "") -> PlatformSettings:
    with tarfile.open(FIXTURES / f"{made}{engine}.tar.xz") as archive:
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


def lacking(expected: Any, actual: Any, where: str) -> list[str]:
    """What of the expected is not found or is otherwise; fields and list items may be added.

    The revision of a reading is another one where more is kept of its approvals.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        return [
            line
            for name, value in expected.items()
            if name != "revision"
            for line in lacking(value, actual.get(name), f"{where}.{name}")
        ]
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) == len(actual):
            pairs = enumerate(zip(expected, actual, strict=True))
            return [line for n, pair in pairs for line in lacking(*pair, f"{where}[{n}]")]
        missing = [one for one in expected if all(lacking(one, other, "") for other in actual)]
        return [f"{where}: not there any more: {one!r}" for one in missing]
    return [] if expected == actual else [f"{where}: {expected!r} -> {actual!r}"]


def wait_for_the_queue(platform: Embedded) -> None:
    until = time.monotonic() + WAIT_S
    while platform.outbox.counts()["waiting"]:
        assert time.monotonic() < until, platform.outbox.waiting()
        time.sleep(0.1)


def schema_of(database: Database) -> dict[str, list[str]]:
    """Columns, keys, constraints and indices of each table, as lines in order."""
    schema = inspect(database.engine)
    described: dict[str, list[str]] = {}
    for name in schema.get_table_names():
        parts = [
            schema.get_pk_constraint(name),
            *schema.get_columns(name),
            *schema.get_foreign_keys(name),
            *schema.get_unique_constraints(name),
            *schema.get_indexes(name),
        ]
        described[name] = sorted(json.dumps(each, sort_keys=True, default=str) for each in parts)
    return described


def rows_of(database: Database) -> dict[str, list[bytes]]:
    with database.engine.connect() as connection:
        return {table.name: list(lines_of(connection, table)) for table in tables_of(connection)}


def lacking_rows(before: dict[str, list[bytes]], after: dict[str, list[bytes]]) -> list[str]:
    """What of the rows is not there or is otherwise; tables and columns may be added."""
    return [
        line
        for name, rows in before.items()
        for line in lacking(
            [json.loads(row) for row in rows], [json.loads(row) for row in after[name]], name
        )
    ]


@pytest.mark.usefixtures("really_migrated")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_folder_of_the_release_opens_unchanged_and_has_the_tables_of_a_new_one(
    tmp_path: Path, engine: str
) -> None:
    settings = unpacked(engine, tmp_path)
    database = Database(settings.resolved_database_url)
    before = rows_of(database)
    with Embedded(settings):
        pass
    assert lacking_rows(before, rows_of(database)) == []
    old = schema_of(database)
    if engine == "postgres":
        with database.engine.begin() as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    new = Database.memory() if engine == "sqlite" else database
    new.migrate(*ROOMS)
    assert schema_of(new) == old
    new.close()
    database.close()


@pytest.mark.usefixtures("really_migrated")
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_an_upgrade_loses_nothing_and_does_what_waited(tmp_path: Path, engine: str) -> None:
    settings = unpacked(engine, tmp_path)
    recorded = (tmp_path / "expected.json").read_text(encoding="utf-8")
    expected = json.loads(recorded.replace(MADE_IN, str(tmp_path)))
    kept = expected["kept"]
    kept["/v1/audit"] = json.loads(recorded)["kept"]["/v1/audit"]
    with Embedded(settings) as platform:
        client = TestClient(platform.app, base_url="http://127.0.0.1")
        assert client.get("/v1/tickets").status_code == 401
        client.headers["authorization"] = f"Bearer {expected['key']}"

        def of(path: str) -> Any:
            answer = client.get(path)
            assert answer.status_code == 200, f"{path}: {answer.text}"
            body = answer.json()
            if path.endswith("/work"):
                beside = [each["said"] for each in body["left_behind"]]
                body["steps"] = sorted(body["steps"] + beside, key=lambda each: each["step"])
            return body

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


class Upgraded:
    """What people did while rules read pages, opened by the code of today."""

    def __init__(self, platform: Embedded, expected: dict[str, Any]) -> None:
        self.platform = platform
        self.expected = expected
        self.client = TestClient(platform.app, base_url="http://127.0.0.1")

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        return answer.json()

    def mcp(self, method: str, **params: Any) -> Any:
        headers = {"accept": "application/json, text/event-stream"}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.client.post("/mcp", json=body, headers=headers)
        lines = answer.text.splitlines()
        data = next((each[6:] for each in lines if each.startswith("data: ")), answer.text)
        return json.loads(data)["result"]

    def hash(self, page: str) -> str:
        return str(self.expected["readings"][page]["text_hash"])

    def reading(self, page: str) -> Any:
        return self.get(f"/v1/readings/{self.hash(page)}")

    def listed(self, page: str) -> list[str]:
        """Words of people that no box of the page can hold."""
        events = self.get(f"/v1/readings/{self.hash(page)}/history")
        return [each["detail"] for each in events if each["what"] == "left over"]

    def shown(self, page: str) -> str:
        return self.client.get(f"/knowledge/readings/{self.hash(page)}").text

    def boxes(self, page: str) -> dict[str, bool]:
        """Corrections by the first instruction of the box."""
        contents = self.platform.ingestion.contents(page)
        blocks = parse_page("\n".join(contents.lines)).places()
        words = {place.block.key: first_instruction(place.block) for place in blocks}
        return {words[key]: is_step for key, is_step in contents.boxes.items()}

    def renewed(self, ticket: str) -> Any:
        """The workflow of the ticket, once somebody has had it planned anew."""
        before = self.get(f"/v1/tickets/{ticket}")["workflow_id"]
        assert self.client.post(f"/tickets/{ticket}/renewal").status_code == 200
        wait_for_the_queue(self.platform)
        now = self.get(f"/v1/tickets/{ticket}")
        assert (now["status"], now["workflow_id"] == before) == ("planned", False)
        return self.get(f"/v1/workflows/{now['workflow_id']}")


@pytest.fixture(params=["sqlite", "postgres"])
def upgraded(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Upgraded]:
    settings = unpacked(request.param, tmp_path, "read_by_rules.")
    monkeypatch.setenv("FLOWXPERT_EXECUTOR_CATALOGUE", str(tmp_path / "catalogue"))
    expected = json.loads((tmp_path / "expected.json").read_text(encoding="utf-8"))
    with Embedded(settings) as platform:
        yield Upgraded(platform, expected)


def begin(upgraded: Upgraded) -> None:
    """Make the vectors anew, which the data leave out."""
    upgraded.platform.ingestion.reindex()
    upgraded.platform.start()


@pytest.mark.usefixtures("really_migrated")
def test_what_people_did_while_rules_read_pages_is_seen_or_listed(upgraded: Upgraded) -> None:
    kept = upgraded.expected["kept"]
    workflows = [path for path in kept if path.startswith("/v1/workflows")]
    assert [
        line for path in workflows for line in lacking(kept[path], upgraded.get(path), path)
    ] == []
    begin(upgraded)
    approved = upgraded.reading("wiki/fan-failure.md")
    was = upgraded.expected["readings"]["wiki/fan-failure.md"]["reading"]["procedures"]
    assert (approved["state"], approved["reading"]["procedures"]) == ("approved", was)
    own = upgraded.reading("wiki/optic-low-rx-power.md")
    assert own["reading"] == upgraded.expected["readings"]["wiki/optic-low-rx-power.md"]["reading"]

    corrected = ("peer-link-errors.md", "procedures/power-supply-replacement.md")
    for page, doubt in zip(
        (*corrected, "flash-nearly-full.md"), upgraded.expected["doubts"], strict=True
    ):
        assert upgraded.reading(page)["reader"] is None
        assert any(each.startswith(doubt) for each in upgraded.listed(page))
        assert escape(doubt) in upgraded.shown(page)
    assert upgraded.boxes("flash-nearly-full.md") == {
        "Tell the shift that the flash was cleaned": False
    }
    assert "all images but the running one" in " ".join(upgraded.listed("flash-nearly-full.md"))
    moves = "postmortems/mac-move-loop.md"
    objected = upgraded.expected["objected"]
    assert upgraded.boxes(moves) == {objected["macs"]["text"]: False}
    assert any(objected["open"]["text"] in each for each in upgraded.listed(moves))

    undone = upgraded.client.post(f"/v1/readings/{upgraded.hash(corrected[0])}/undo").json()
    assert undone["reading"] == upgraded.expected["readings"][corrected[0]]["reading"]


@pytest.mark.usefixtures("really_migrated")
def test_ticks_and_bindings_of_a_ticket_come_to_the_page_that_it_takes(upgraded: Upgraded) -> None:
    begin(upgraded)
    bgp, macs = (upgraded.expected["tickets"][name] for name in ("bgp", "macs"))
    assert {each["approved_by"] for each in upgraded.get("/v1/bindings", ticket_id=bgp)} == {
        "local"
    }
    for ticket, ticked in (
        (bgp, upgraded.expected["ticked"]["bgp"]),
        (macs, upgraded.expected["ticked"]["macs"]),
    ):
        assert upgraded.client.get(f"/tickets/{ticket}").status_code == 200
        stored = upgraded.renewed(ticket)
        assert upgraded.client.get(f"/tickets/{ticket}").status_code == 200
        assert stored["workflow"]["provenance"]["kind"] == "checklist"
        work = upgraded.get(f"/v1/workflows/{stored['id']}/work")
        seen = {each["seen"] for each in work["steps"]}
        left = {each["said"]["seen"] for each in work["left_behind"]}
        assert {f"Seen at {step['id']}." for step in ticked} <= seen | left
        assert {each["seen"] for each in work["steps"] if each["state"] == "done"}

    bound = upgraded.get("/v1/bindings", ticket_id=bgp)
    assert not [each for each in bound if each["approved_by"]]
    (again,) = [each for each in bound if each["approved_before"]]
    assert again["binding"]["tool"] == "interface_state"
    look = {"ticket_id": bgp, "step": again["step"], "mode": "read_only"}
    assert upgraded.client.post("/v1/runs", json=look).status_code == 409
    listed = upgraded.get("/v1/bindings/orphaned", document_id="BgpSessionDown.md")
    assert sorted(each["text"] for each in listed) == sorted(
        each["text"] for each in upgraded.expected["bound"]
    )
    shown = upgraded.shown("BgpSessionDown.md")
    assert all(escape(each["text"]) in shown for each in listed)
    assert shown.count("proposed again at the box") == 1


@pytest.mark.usefixtures("really_migrated")
def test_proposals_exports_and_clients_of_that_release_are_taken(upgraded: Upgraded) -> None:
    begin(upgraded)
    proposed = upgraded.expected["proposal"]
    path = f"/v1/proposals/{proposed['id']}"
    now = upgraded.get(path)
    assert (now["state"], now["text"]) == ("proposed", proposed["text"])
    assert now["reading"]["reader"] == "composed"
    accepted = upgraded.client.post(f"{path}/acceptance", json={"text_hash": now["text_hash"]})
    assert accepted.status_code == 200, accepted.text
    wait_for_the_queue(upgraded.platform)
    (page,) = upgraded.get("/v1/readings", document=proposed["document_id"])
    assert (page["state"], page["reader"]) == ("approved", "person")

    file = {"file": ("readings.jsonl", upgraded.expected["export"].encode())}
    report = upgraded.client.post("/v1/readings/import", files=file).json()
    assert report["taken"] == report["rows"] - 1
    assert ["BgpSessionDown.md: rules read it" in each["reason"] for each in report["refused"]] == [
        True
    ]

    before = {tool["name"]: tool for tool in upgraded.expected["mcp"]["tools"]}
    tools = {tool["name"]: tool for tool in upgraded.mcp("tools/list")["tools"]}
    for name, tool in before.items():
        for schema in ("inputSchema", "outputSchema"):
            assert tool[schema]["properties"].keys() <= tools[name][schema]["properties"].keys()
        assert set(tools[name]["inputSchema"].get("required", ())) <= set(
            tool["inputSchema"].get("required", ())
        )
    arguments = {"ticket_id": upgraded.expected["tickets"]["macs"]}
    answer = upgraded.mcp("tools/call", name="get_workflow", arguments=arguments)
    was = upgraded.expected["mcp"]["get_workflow"]
    assert lacking(was, answer["structuredContent"], "get_workflow") == []
