"""What a list of the command line prints, every other command takes."""

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from services.cli import app
from services.kit.access.keys import Keys
from services.kit.access.sessions.sessions import Sessions
from services.kit.sql.database import Database
from services.kit.tables import OutboxRow
from tests.command import flowxpert
from tests.e2e.conftest import example_alert, started
from tests.unit.ingestion.proposing import page as proposed_page

KIND = re.compile(r"{(\w+)}")
"""A place for an id, by the kind of it."""
NO_ID: Mapping[str, str] = {}
NO_IDS = "it takes nothing that a list prints"
FILES = "it takes files"
EXEMPT = {
    **dict.fromkeys(("up", "serve", "work", "run", "mcp", "simulate", "reindex"), NO_IDS),
    **dict.fromkeys(("migrate", "metrics", "settings", "coverage", "audit"), NO_IDS),
    **dict.fromkeys(("readings reviews", "learn teachers"), NO_IDS),
    **dict.fromkeys(("tickets purge", "build-graph", "compose"), NO_IDS),
    **dict.fromkeys(("keys create", "sources add"), "it takes the name of what it makes"),
    **dict.fromkeys(("learn", "learn status", "learn take", "learn back"), "three fixed names"),
    **dict.fromkeys(("learn withdraw", "learn restore"), "it takes who taught, known or not"),
    **dict.fromkeys(("backup", "restore", "ingest", "export-embedder", "webhooks try"), FILES),
    **dict.fromkeys(
        ("readings import", "tools import openapi", "tools import mcp", "tools try"), FILES
    ),
    **dict.fromkeys(("teams put", "triage learn"), FILES),
    "people forget": "it takes the name of a person",
}
"""Commands that take no id of a list, each with the reason; `bench` and `train` take files."""


@dataclass(frozen=True)
class Listing:
    """A list, and where in a printed line the ids are."""

    command: str
    pattern: str
    unknown: str
    """An id of the same form that nothing has."""


LISTS = {
    "hash": Listing("readings list", r" ([0-9a-f]{12}) ", "0" * 12),
    "document": Listing("readings list", r" (\S+\.md)", "nobody.md"),
    "proposal": Listing("proposals list", r" ([0-9a-f-]{23})", "f" * 8),
    "ticket": Listing("tickets", r" ([0-9a-f-]{23})", "f" * 8),
    "workflow": Listing("ticket {ticket}", r"/v1/workflows/([0-9a-f-]{23})", "f" * 8),
    "root": Listing("roots", r"^ *\d+ +(/\S+)", "/nowhere"),
    "letter": Listing("dead-letters list", r"  (\S+:\S+)$", "gateway.walk_ticket:none"),
    "source": Listing("sources list", r"^([a-z]+)\s+/", "nobody"),
    "key": Listing("keys list", r"^ ?([a-z]+) ", "nobody"),
    "key_prefix": Listing("keys list", r" (fx_[0-9a-f]{12}) ", "fx_" + "0" * 12),
    "session": Listing("sessions list", r"^ ?(key \w+) ", "key nobody"),
    "team": Listing("teams list", r"^(\w+):", "nobody"),
}

TAKES = {
    "readings show": "readings show {hash}",
    "readings history": "readings history {hash}",
    "readings export": "readings export --document {document}",
    "readings edit-block": "readings edit-block {hash} CHANGE",
    "readings suggestions": "readings suggestions {document}",
    "readings take-over": "readings take-over {document} none",
    "readings begin": "readings begin {hash}",
    "readings approve": "readings approve {hash}",
    "readings answer": "readings answer {hash} none 0",
    "readings ask": "readings ask {document} --by 2999-01-01",
    "readings replace": "readings replace {hash} READING",
    "readings edit": "readings edit {hash} --operations OPERATIONS",
    "readings undo": "readings undo {hash}",
    "edit": "edit {hash} words",
    "proposals show": "proposals show {proposal}",
    "proposals accept": "proposals accept {proposal}",
    "proposals withdraw": "proposals withdraw {proposal}",
    "proposals reject": "proposals reject {proposal}",
    "ticket": "ticket {ticket}",
    "workflow": "workflow {workflow}",
    "answer": "answer {ticket}",
    "execute": "execute {ticket}",
    "search": "search {ticket} --no-wait",
    "triage assign": "triage assign {ticket} {team}",
    "triage reject": "triage reject {ticket}",
    "tickets retry": "tickets retry {ticket}",
    "dead-letters retry": "dead-letters retry {letter}",
    "sources log": "sources log {source}",
    "sources sync": "sources sync {source}",
    "sources remove": "sources remove {source}",
    "read": "read {root} --dry",
    "forget": "forget {root} --yes",
    "sessions end": "sessions end {session}",
    "keys rotate": "keys rotate {key_prefix}",
    "keys owner": "keys owner {key} somebody",
    "keys revoke": "keys revoke {key}",
}
"""How commands that take an id of a list are called; a document will do for a hash."""


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its words."""
    for name, each in getattr(command, "commands", {}).items():
        yield from leaves(each, (*path, name))
    if not hasattr(command, "commands") or command.invoke_without_command:
        yield " ".join(path), command


def test_every_command_is_a_list_takes_what_one_prints_or_has_a_reason_not_to() -> None:
    commands = {
        name
        for name, _ in leaves(typer.main.get_command(app))
        if not name.startswith(("bench ", "train "))
    }
    lists = {each.command.removesuffix(" {ticket}") for each in LISTS.values()}
    assert commands == lists | TAKES.keys() | EXEMPT.keys()
    assert not EXEMPT.keys() & (lists | TAKES.keys())
    assert {kind for words in TAKES.values() for kind in KIND.findall(words)} == LISTS.keys()


@dataclass(frozen=True)
class CommandLine:
    """The command line on a platform that runs, and on a data folder that none runs on."""

    url: str
    data_dir: str
    files: dict[str, str]

    def prints(self, words: str, ids: Mapping[str, str] = NO_ID, *, as_json: bool = True) -> str:
        """What a command prints, for programs if it can, with the names of its ids for them."""
        arguments = [self.files.get(word) or word.format(**ids) for word in words.split()]
        name = max((n for n in OPTIONS if words.startswith(n)), key=len)
        where = ["--url", self.url] if "url" in OPTIONS[name] else ["--data-dir", self.data_dir]
        json_option = ["--json"] if as_json and "as_json" in OPTIONS[name] else []
        done = flowxpert(*arguments, *where, *json_option)
        output = f"{done.stdout}{done.stderr}{done.returncode}"
        for kind in KIND.findall(words):
            output = output.replace(ids[kind], kind)
        return output


OPTIONS = {
    name: {parameter.name for parameter in command.params}
    for name, command in leaves(typer.main.get_command(app))
    if name
}


@pytest.fixture
def command_line(
    ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CommandLine]:
    """One with something in each list."""
    monkeypatch.setenv("FLOWXPERT_INGESTION_ALLOWED_ROOTS", json.dumps([str(tmp_path)]))
    offline, synced = shutil.copytree(ingested, tmp_path / "offline"), tmp_path / "synced"
    synced.mkdir()
    files = {"READING": tmp_path / "reading.json", "OPERATIONS": tmp_path / "operations.json"}
    files["READING"].write_text('{"procedures": []}')
    files["OPERATIONS"].write_text('[{"op": "delete", "node": "none"}]')
    teams = tmp_path / "teams.yaml"
    teams.write_text("- {name: network, description: Switches.}\n")
    with started(ingested, tmp_path) as running:
        running.walked(example_alert("alertmanager/fan-tray"))
        running.post(proposed_page(origin="composed").model_dump(mode="json"), "/v1/proposals")
        add_dead_letter(tmp_path / "data")
        sign_in_with_a_key(offline)
        paths = {name: str(path) for name, path in files.items()}
        paths["CHANGE"] = '{"edit": "box", "block": "none", "is_step": true}'
        line = CommandLine(running.url, str(offline), paths)
        line.prints(f"sources add synced {synced}")
        line.prints(f"teams put {teams}")
        yield line


def database_of(data_dir: Path) -> Database:
    return Database(f"sqlite:///{data_dir / 'flowxpert.db'}")


def add_dead_letter(data_dir: Path) -> None:
    database, now = database_of(data_dir), time.time()
    task, ticket = "gateway.walk_ticket", "a ticket that is gone"
    with database.session() as session:
        session.add(
            OutboxRow(
                key=f"{task}:{'0' * 8}",
                task=task,
                kwargs={"ticket_id": ticket, "walk": 1},
                created_at=now,
                due_at=now,
                reason="it broke",
                parked_at=now,
            )
        )
    database.close()


def sign_in_with_a_key(data_dir: Path) -> None:
    key = flowxpert("keys", "create", "desk", "--scope", "read", "--data-dir", str(data_dir))
    database = database_of(data_dir)
    Sessions(database, Keys(database)).begin_with_key(key.stdout.strip())
    database.close()


def test_what_a_list_prints_every_command_takes(command_line: CommandLine) -> None:
    printed: dict[str, str] = {}
    for kind, listing in LISTS.items():
        shown = command_line.prints(listing.command, printed, as_json=kind == "workflow")
        ids = re.findall(listing.pattern, shown, re.MULTILINE)
        assert ids, f"{listing.command} printed no {kind}: {shown}"
        printed[kind] = ids[0]
    not_taken = []
    for words in TAKES.values():
        for form in dict.fromkeys((words, words.replace("{hash}", "{document}"))):
            unknown = [
                command_line.prints(form, printed | {kind: LISTS[kind].unknown})
                for kind in KIND.findall(form)
            ]
            output = command_line.prints(form, printed)
            if output in unknown or "AmbiguousIdError" in output:
                not_taken.append(f"{form.format(**printed)}: {output}")
    assert not_taken == []
