"""Words of people stand nowhere once their ticket, their person or their time is purged."""

import itertools
import json
import os
import re
import string
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copy
from typing import Any

import httpx
import pytest
import yaml
from sqlalchemy import inspect, text

from services.deployment.embedded import Embedded
from services.deployment.operations.people import PersonErasure
from services.kit.access.caller import LOCAL, acting_as
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.kit.http.server import ServerThread
from services.kit.observability.logging import configure_logging
from services.kit.settings import PlatformSettings
from services.simulator.faults import Fault
from services.simulator.simulation import PAGES, READINGS, Simulation
from services.tickets.adoption.lessons import Lessons
from services.tickets.retention import Retention
from tests.integration.test_attacks_on_runs import Issuer
from tests.integration.test_backup import wipe_database
from tests.postgres import postgres_url
from tests.waiting import eventually

SHUT = Fault("bgp_session_shut", "leaf-1", "10.0.11.1")
UNCLEAR = {"title": "Users report slow pages", "description": "Since noon rack 7 is slow."}
MARK = "zqmark[a-z]{2}zq"


class Marks:
    """Unique words, each with the place that it was written to and whose it is."""

    def __init__(self) -> None:
        self.places: dict[str, tuple[str, frozenset[str]]] = {}
        self._numbers = itertools.count(1)

    def __call__(self, place: str, *owners: str) -> str:
        number = next(self._numbers)
        letters = string.ascii_lowercase
        word = f"zqmark{letters[number // 26]}{letters[number % 26]}zq"
        self.places[word] = (place, frozenset(owners))
        return word

    def of(self, owner: str) -> dict[str, str]:
        return {w: place for w, (place, owners) in self.places.items() if owner in owners}


class World:
    """A platform with a network to repair, and people who write into every field."""

    def __init__(
        self, platform: Embedded, url: str, issuer: Issuer, network: Simulation, log: Path
    ) -> None:
        self.platform, self.url, self.issuer = platform, url, issuer
        self.network, self.log, self.data = network, log, platform.settings.data_dir
        network.inject(SHUT)
        self.marks = Marks()
        self.refused: list[str] = []
        m = self.marks
        self.x_name = f"Xena {m('name of a person', 'X')}"
        self.x_sub = m("subject of a person", "X")
        self.x = self._person(self.x_name, self.x_sub, "admin")
        self.y = self._person("yan", "yan", "admin")

    def _person(self, name: str, sub: str, role: str) -> httpx.Client:
        claims = {"sub": sub, "preferred_username": name, "email": f"{sub}@example.org"}
        token = self.issuer.token(name, role, **claims)
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, timeout=60, headers=headers)

    def does(self, place: str, answer: httpx.Response) -> Any:
        """What was answered; a refusal is noted: nothing was written there."""
        if answer.status_code >= 300 and answer.status_code not in {302, 303}:
            self.refused.append(f"{place}: {answer.status_code} {answer.text[:300]}")
            return None
        kind = answer.headers.get("content-type", "")
        return answer.json() if "json" in kind and answer.content else answer.text

    def ticket(self, by: httpx.Client, body: dict[str, Any], **headers: str) -> dict[str, Any]:
        answer = by.post("/workflow/generic", params={"wait": 60}, json=body, headers=headers)
        assert answer.status_code in {200, 202}, answer.text
        return self.state(answer.json()["tickets"][0]["id"])

    def state(self, ticket_id: str) -> dict[str, Any]:
        return eventually(
            lambda: self.y.get(f"/v1/tickets/{ticket_id}").json(),
            lambda now: now["status"] not in {"received", "planning"},
        )

    def rests(self, run: str) -> dict[str, Any]:
        return eventually(
            lambda: self.y.get(f"/v1/runs/{run}").json(),
            lambda now: now["phase"] in {"approving", "asking", "ended"},
        )

    # Writing

    def shut_ticket(self, by: httpx.Client, key: str, *owners: str) -> dict[str, Any]:
        """A ticket of the session that is shut, with a mark in each field that is kept."""
        m = self.marks
        alert = SHUT.alert(self.network.world)
        body = {
            "external_id": f"{m(f'{key}: external id', *owners)}",
            "title": f"{alert['annotations']['summary']} {m(f'{key}: title', *owners)}",
            "description": f"Somebody says {m(f'{key}: description', *owners)}.",
            "alert_name": alert["labels"]["alertname"],
            "severity": "critical",
            "url": f"https://tickets.example.org/{m(f'{key}: url', *owners)}",
            "labels": alert["labels"]
            | {
                "remark": m(f"{key}: label", *owners),
                m(f"{key}: label name", *owners): "x",
                "runbook_url": f"https://wiki.example.org/{m(f'{key}: runbook url', *owners)}",
            },
            "service": m(f"{key}: service", *owners),
            "teams": [m(f"{key}: team", *owners)],
        }
        header = {"Idempotency-Key": m(f"{key}: idempotency key", *owners)}
        return self.ticket(by, body, **header)

    def work_on(self, ticket: dict[str, Any], key: str, *owners: str) -> None:
        """Everything that X can write while working on a ticket."""
        m, x, id_ = self.marks, self.x, ticket["id"]
        shown = ticket["workflow_id"]
        steps = x.get(f"/v1/workflows/{shown}").json()["workflow"]["steps"]
        step = next(s["id"] for s in steps if s["kind"] == "process" and not s.get("implied"))
        at = f"/v1/workflows/{shown}/steps/{step}"
        self.does(
            "mark",
            x.put(
                f"{at}/mark",
                json={
                    "state": "skipped",
                    "why": m(f"{key}: why a step is skipped", *owners),
                    "seen": m(f"{key}: what was seen at a step", *owners),
                },
            ),
        )
        self.does(
            "judgement",
            x.put(
                f"{at}/judgement",
                json={"verdict": "rejected", "word": m(f"{key}: word on a step", *owners)},
            ),
        )
        self.does("run: bindings", self.bind(id_))
        started = self.does(
            "run",
            x.post(
                "/v1/runs", json={"ticket_id": id_, "mode": "supervised", "confirms_page": True}
            ),
        )
        if started:
            run = self.rests(started["id"])
            for _ in range(6):
                if run["phase"] == "approving":
                    self.does(
                        "run: approval",
                        x.post(
                            f"/v1/runs/{run['id']}/approval",
                            json={
                                "digest": run["approval"]["digest"],
                                "word": m(f"{key}: why a change is approved", *owners),
                            },
                        ),
                    )
                elif run["phase"] == "asking":
                    self.does(
                        "run: answer",
                        x.post(
                            f"/v1/runs/{run['id']}/answer",
                            json={
                                "question": run["question"]["seq"],
                                "option": run["question"]["options"][0],
                                "word": m(f"{key}: word with an answer to a run", *owners),
                            },
                        ),
                    )
                else:
                    break
                time.sleep(0.2)
                run = self.rests(run["id"])
        by_hand = self.does(
            "by hand",
            x.post(
                "/v1/runs/by-hand",
                json={
                    "ticket_id": id_,
                    "calls": [
                        {
                            "tool": "bgp_session",
                            "target": "leaf-1",
                            "arguments": {"neighbor": "10.0.11.1"},
                        },
                        {
                            "tool": "bgp_session_enable",
                            "target": "leaf-1",
                            "arguments": {"asn": "65001", "neighbor": "10.0.11.1"},
                        },
                    ],
                },
            ),
        )
        if by_hand:
            run = self.rests(by_hand["id"])
            if run["phase"] == "approving":
                self.does(
                    "denial",
                    x.post(
                        f"/v1/runs/{run['id']}/denial",
                        json={
                            "digest": run["approval"]["digest"],
                            "word": m(f"{key}: why a change is denied", *owners),
                        },
                    ),
                )
                self.rests(by_hand["id"])
        summary = self.does(
            "summary",
            x.post(
                "/v1/summaries",
                json={
                    "ticket_ids": [id_],
                    "title": f"Session {m(f'{key}: title of a summary', *owners)}",
                },
            ),
        )
        if summary and summary.get("pages"):
            self.does("proposal", x.post(f"/v1/summaries/{summary['key']}/proposal"))
        self.does(
            "version",
            x.post(
                f"/v1/workflows/{shown}/versions",
                json={
                    "edits": [
                        {
                            "edit": "change",
                            "step": step,
                            "text": f"Look at {m(f'{key}: text of an edited step', *owners)}",
                            "commands": [f"show {m(f'{key}: command of an edited step', *owners)}"],
                            "notes": [m(f"{key}: note of an edited step", *owners)],
                        }
                    ]
                },
            ),
        )
        self.does(
            "acceptance",
            x.put(
                f"/v1/workflows/{shown}/acceptance",
                json={"word": m(f"{key}: word on a workflow", *owners)},
            ),
        )
        self.does(
            "comment",
            self.y.post(
                "/workflow/generic",
                json={
                    "event": "comment",
                    "id": ticket["external_id"],
                    "comment": {
                        "id": m(f"{key}: id of a comment", *owners),
                        "text": m(f"{key}: text of a comment", *owners),
                        "author": self.x_name,
                    },
                },
            ),
        )
        self.does("resolution", x.post(f"/v1/tickets/{id_}/resolution"))

    def bind(self, ticket: str) -> httpx.Response:
        bindings = self.x.get("/v1/bindings", params={"ticket_id": ticket}).json()
        answer = None
        for each in bindings:
            if each["binding"]["tool"] and not each["approved_by"]:
                binding = each["binding"] | {"why": self.marks("why of a binding", "unkept")}
                body = {"ticket_id": ticket, "step": each["step"], "binding": binding}
                answer = self.x.post("/v1/bindings", json=body)
        return answer or self.x.get("/v1/runs")

    def hand_over(self, ticket: dict[str, Any], key: str, *owners: str) -> None:
        m, x, id_ = self.marks, self.x, ticket["id"]
        name = "Night desk"
        self.does("team", x.post("/v1/teams", json={"name": name}))
        self.does(
            "triage",
            x.post(
                f"/v1/tickets/{id_}/triage",
                json={"reason": m(f"{key}: why a workflow is wrong", *owners)},
            ),
        )
        self.does("assign", x.put(f"/v1/tickets/{id_}/team", json={"team": name}))

    def clarify(self, ticket: dict[str, Any], key: str, *owners: str) -> None:
        question = ticket["clarifications"][-1]
        where = f"/v1/tickets/{ticket['id']}/clarifications/{question['id']}/answers"
        words = f"it is {self.marks(f'{key}: answer in own words', *owners)}"
        self.does("answer", self.x.post(where, json={"text": words}))
        self.state(ticket["id"])

    def write_elsewhere(self) -> None:
        """What X writes beside tickets."""
        m, x = self.marks, self.x
        self.does("suspension", x.post("/v1/suspension", json={"why": m("why runs stand", "X")}))
        self.does(
            "owner", x.put("/v1/owners", json={"root": "", "prefix": "", "team": "Night desk"})
        )
        hashes = [each["text_hash"] for each in x.get("/v1/readings").json()]
        for text_hash in hashes[:1]:
            at = f"/v1/readings/{text_hash}"
            read = x.get(at).json()
            node = read["reading"]["procedures"][0]["steps"][0]
            self.does(
                "reading edit",
                x.post(
                    f"{at}/edits",
                    json={
                        "procedure": 0,
                        "operations": [
                            {
                                "op": "insert",
                                "after": node["id"],
                                "node": {
                                    "do": f"Tell {m('text of a step in a reading', 'X')}",
                                    "commands": [
                                        f"echo {m('command of a step in a reading', 'X')}"
                                    ],
                                },
                            },
                        ],
                    },
                ),
            )
            self.does("reading approval", x.post(f"{at}/approvals", json={"procedure": 0}))
        Keys(self.platform.database).create("own", frozenset({Scope.READ}), owner=self.x_sub)
        self.does(
            "upload",
            x.post(
                "/v1/documents",
                files={
                    "files": (
                        f"{m('name of an uploaded file', 'doc')}.md",
                        f"# {m('title of a document', 'doc')}\n\n1. Restart "
                        f"{m('text of a document', 'doc')}.\n".encode(),
                    )
                },
            ),
        )

    def waiting_run(self, ticket_id: str) -> str:
        """X's run of a ticket, which waits for somebody to approve or to answer."""
        self.network.inject(SHUT)
        body = {"ticket_id": ticket_id, "mode": "supervised", "confirms_page": True}
        run = self.x.post("/v1/runs", json=body).raise_for_status().json()
        assert self.rests(run["id"])["phase"] in {"approving", "asking"}
        return str(run["id"])

    def ends(self, run: str) -> None:
        """Until somebody has cancelled it and its ticket was told."""
        self.y.delete("/v1/suspension").raise_for_status()
        self.y.post(f"/v1/runs/{run}/cancellation").raise_for_status()
        self.settle()

    def wipe(self) -> None:
        """As commands do once they have deleted something; then nothing is due any more."""
        self.settle()
        self.platform.database.wipe(rewrites=True)

    # Looking

    def settle(self) -> None:
        """Until no task is due any more, and the scores of each page are prepared."""

        def due() -> int:
            with self.platform.database.session() as session:
                tasks = text(
                    "SELECT count(*) FROM outbox WHERE parked_at IS NULL AND due_at <= :soon"
                )
                texts = text("SELECT count(*) FROM procedure_text WHERE prepared IS NULL")
                waiting = session.scalar(tasks, {"soon": time.time() + 60})
                return int(waiting or 0) + int(session.scalar(texts) or 0)

        eventually(due, lambda left: left == 0)

    def look(self) -> None:
        """Look at all tables, files and the log once, for each mark that stands anywhere."""
        self.stands: dict[str, list[str]] = {}
        for where, content in [*self._tables(), *self._files()]:
            for word in set(re.findall(MARK.encode(), content.lower())):
                stands = self.stands.setdefault(word.decode(), [])
                stands += [where] if where not in stands else []

    def show(self, when: str, *owners: str) -> dict[str, list[str]]:
        """Print and return where marks of these owners stand now, by place."""
        self.look()
        written = {word: place for each in owners for word, place in self.marks.of(each).items()}
        standing = {written[word]: self.stands[word] for word in written if word in self.stands}
        print(f"{when}: {len(written)} places written, {len(standing)} found")  # noqa: T201
        for place, where in standing.items():
            print(f"  {place}: {', '.join(where)}")  # noqa: T201
        return standing

    def _tables(self) -> Iterator[tuple[str, bytes]]:
        database = self.platform.database
        with database.engine.connect() as connection:
            for table in inspect(database.engine).get_table_names():
                columns = [c["name"] for c in inspect(database.engine).get_columns(table)]
                rows = connection.execute(text(f'SELECT * FROM "{table}"')).all()
                for place, column in enumerate(columns):
                    cells = (row[place] for row in rows)
                    joined = b"\n".join(
                        cell
                        if isinstance(cell, bytes)
                        else json.dumps(cell, ensure_ascii=False).encode()
                        if isinstance(cell, dict | list)
                        else str(cell).encode()
                        for cell in cells
                        if cell is not None
                    )
                    yield f"{table}.{column}", joined

    def _files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the marks in files, and in their names.

        Another process reads them: whoever closes a database file drops the locks of its process.
        """
        for path in sorted(self.data.rglob("*")):
            yield f"name of {path.relative_to(self.data)}", str(path).encode()
        grep = subprocess.run(
            ["grep", "--text", "-oirEH", MARK, self.data, self.log],
            env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        assert grep.returncode in {0, 1}, grep.stderr
        for line in grep.stdout.splitlines():
            name, _, mark = line.rpartition(":")
            yield f"file {Path(name).name}", mark.encode()


@contextmanager
def world_on(url: str | None, folder: Path) -> Iterator[World]:
    """The world on a database; None for SQLite in the data folder."""
    issuer, log = Issuer(), folder / "log"
    with (
        pytest.MonkeyPatch.context() as patch,
        log.open("w") as stderr,
        Simulation(folder / "network") as network,
    ):
        for name, value in issuer.settings().items():
            patch.setenv(name, value)
        patch.setenv("FLOWXPERT_EXECUTOR_CATALOGUE", str(network.folder))
        if url:
            wipe_database(url)  # type: ignore[no-untyped-call]
            patch.setenv("FLOWXPERT_DATABASE_URL", url)
        patch.setattr("sys.stderr", stderr)
        patch.setattr("services.scorer.score_cache.EVERY_S", 1.0)
        configure_logging(level="debug")
        policy = network.folder / "policy.yaml"
        changed = yaml.safe_load(policy.read_text()) | {"requester_may_approve": True}
        changed["changes"] = changed.get("changes", {}) | {"by_hand": True}
        policy.write_text(yaml.safe_dump(changed))
        settings = PlatformSettings(_env_file=None, data_dir=folder / "data", port=0)
        with Embedded(settings) as platform:
            pages = folder / "pages"
            pages.mkdir()
            for page in ("BgpSessionDown", "DefaultRouteMissing", "FanFailed", "OpticRxPowerLow"):
                copy(PAGES / f"{page}.md", pages)
            platform.ingestion.ingest_here(pages)
            platform.start()
            server = ServerThread(platform.app, host="127.0.0.1", port=0)
            server.start()
            world = World(platform, server.url, issuer, network, log)
            drawn = {"file": (READINGS.name, READINGS.read_bytes())}
            world.y.post("/v1/readings/import?approve=true", files=drawn).raise_for_status()
            yield world
            world.x.close()
            world.y.close()
            server.stop()
    issuer.server.shutdown()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_no_word_stands_after_each_kind_of_purge(engine: str, tmp_path: Path) -> None:
    with world_on(postgres_url() if engine == "postgresql" else None, tmp_path) as world:
        database = world.platform.database
        named, old = (world.shut_ticket(world.y, key, key, "all") for key in "TU")
        world.work_on(old, "U", "U", "X", "all")
        world.shut_ticket(world.x, "own", "X", "all")
        world.clarify(world.ticket(world.y, UNCLEAR), "W", "X", "all")
        waiting, of_named = world.waiting_run(old["id"]), world.waiting_run(named["id"])
        approval = world.rests(of_named)["approval"]
        world.hand_over(named, "T", "T", "X", "all")
        world.write_elsewhere()
        world.settle()
        assert not world.refused
        written = {word for owner in ("T", "X", "all") for word in world.marks.of(owner)}
        assert len(world.show("before", "T", "X", "all")) == len(written)

        Retention(database, 0.0).forget([named["id"]])
        late = {"digest": approval["digest"], "word": world.marks("late word", "T")}
        world.y.post(f"/v1/runs/{of_named}/approval", json=late)
        world.wipe()
        assert world.show("a ticket whose run waits for an approval", "T") == {}
        assert world.y.get(f"/v1/runs/{of_named}").status_code == 404

        with acting_as(LOCAL):
            PersonErasure(database).erase(world.x_name)
        world.wipe()
        assert world.show("a person whose run waits for an approval", "X", "unkept") == {}
        world.ends(waiting)
        assert world.show("a person, once that run is over", "X") == {}

        Retention(database, 30.0, clock=lambda: time.time() + 31 * 86_400).purge()
        world.wipe()
        assert world.show("all tickets, by age", "all") == {}
        assert old["id"] in {each.source_id for each in Lessons(database).all()}
