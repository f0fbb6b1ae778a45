"""Two people at one ticket, at random: what they wrote that is gone, or stands under another step.

    python tests/harm/interleavings.py --times 100 --seed 1

Each interleaving is a ticket of the examples on the whole platform in this process. Two people tick
steps, write notes, skip, judge, follow branches, edit, answer the question, correct the page's
reading and take the new one, each on the page as they saw it last; walks run in between. All that
was taken down is then looked for where an engineer sees it: at the step of the shown workflow, or
in the list of what was left behind.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from services.contracts.readings import ApprovalRequest, ReadingQuery
from services.deployment.peers import LocalPeers
from services.deployment.rooms import ROOMS
from services.gateway.room import ROOM as GATEWAY
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.kit.settings import PlatformSettings
from services.room.stores import Stores
from services.runbook.model import Reading, as_json

DOCUMENTS = Path(__file__).parents[2] / "examples" / "documents"
TICKETS = (
    {"title": "BGP session lost on leaf-12", "description": "Routes are gone since 14:05."},
    {"title": "Disk of the controller is full", "description": "No space left on /var/log."},
    {"title": "CRC errors on Ethernet1/7 of leaf-3", "description": "Input errors go up."},
    {"title": "Interface flapping on spine-02", "description": "It goes up and down."},
)
PEOPLE = ("ana", "ben")
WORDS = re.compile(r"word-\d+-\d+")

StepWords = tuple[str, tuple[str, ...]]
"""A step by its text and its commands."""


@dataclass
class Platform:
    """The rooms on one folder; walks run when they are told to."""

    stores: Stores
    peers: LocalPeers
    people: dict[str, TestClient] = field(default_factory=dict)

    def run_tasks(self, most: int = 10_000) -> None:
        """Do so many tasks of the queue."""
        for _ in range(most):
            if not any(self.stores.outbox.run_next(room.name) for room in ROOMS):
                return


def opened(folder: Path) -> Platform:
    """The platform with the example documents and a key for each person."""
    stores = Stores("harm", PlatformSettings(_env_file=None, data_dir=folder), is_alone=True)
    peers = LocalPeers(stores)
    for room in ROOMS:
        register = peers.open_room(room).register
        if register is not None:
            register()
    peers.ingestion.ingest_here(DOCUMENTS)
    app = peers.open_room(GATEWAY).create_app({})
    platform = Platform(stores, peers)
    for name in PEOPLE:
        key = Keys(stores.database).create(name, frozenset({Scope.READ, Scope.OPERATE}))
        headers = {"authorization": f"Bearer {key}"}
        platform.people[name] = TestClient(app, base_url="http://127.0.0.1", headers=headers)
    return platform


def words_of(step: dict[str, Any]) -> StepWords:
    """What a step says."""
    return step["text"], tuple(step.get("commands", ()))


@dataclass
class Page:
    """What one person sees."""

    workflow_id: str
    steps: list[dict[str, Any]]
    exits: dict[str, list[str]]
    work: dict[str, dict[str, Any]]


@dataclass
class Interleaving:
    """One ticket, and what was written on it."""

    platform: Platform
    number: int
    random: random.Random
    ticket: str = ""
    written: dict[str, StepWords | None] = field(default_factory=dict)
    """Each word with the step that it was written under; None of what is of no step."""
    authors: dict[str, str] = field(default_factory=dict)
    words: int = 0
    ticked: set[StepWords] = field(default_factory=set)
    pages: dict[str, Page] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    corrected: list[str] = field(default_factory=list)

    def run(self, actions: int) -> None:
        """Let both people do so many things, and all walks end."""
        body = self.random.choice(TICKETS) | {"id": f"H-{self.number}"}
        body["title"] += f" ({self.number})"
        self.ticket = self._client().post("/workflow/generic", json=body).json()["id"]
        self.platform.run_tasks()
        for name in PEOPLE:
            self._look(name)
        for _ in range(actions):
            name = self.random.choice(PEOPLE)
            action = self.random.choice(self._actions())
            self.counts[action.__name__.strip("_")] += 1
            action(name)
        self.platform.run_tasks()
        for text_hash in self.corrected:
            self.platform.peers.readings(_Named(PEOPLE[0])).undo(text_hash)  # type: ignore[arg-type]

    def _actions(self) -> list[Any]:
        often = [self._tick, self._note, self._follow, self._look]
        rare = [self._skip, self._judge, self._edit, self._answer, self._accept]
        return [*often * 3, *rare * 2, self._work, self._work, self._correct, self._take_new]

    def _client(self, name: str = PEOPLE[0]) -> TestClient:
        return self.platform.people[name]

    def _word(self) -> str:
        self.words += 1
        return f"word-{self.number}-{self.words}"

    def _look(self, name: str) -> None:
        client = self._client(name)
        shown = client.get(f"/v1/tickets/{self.ticket}").json()["workflow_id"]
        if shown is None:
            return
        workflow = client.get(f"/v1/workflows/{shown}").json()["workflow"]
        work = client.get(f"/v1/workflows/{shown}/work").json()
        exits: dict[str, list[str]] = {}
        for edge in workflow["transitions"]:
            exits.setdefault(edge["source"], []).append(edge.get("condition", ""))
        by_step = {each["step"]: each for each in work["steps"]}
        self.pages[name] = Page(shown, workflow["steps"], exits, by_step)

    def _step(self, name: str, *, choice: bool) -> dict[str, Any] | None:
        page = self.pages.get(name)
        if page is None:
            return None
        steps, exits = page.steps[:6], page.exits
        fitting = [each for each in steps if choice == (len(exits.get(each["id"], ())) > 1)]
        return self.random.choice(fitting) if fitting else None

    def _send(self, name: str, what: str, step: dict[str, Any] | None, **fields: str) -> bool:
        page = self.pages[name]
        data = {"step": step["id"], **fields} if step else fields
        address = f"/tickets/{self.ticket}/workflows/{page.workflow_id}/{what}"
        answer = self._client(name).post(address, data=data, follow_redirects=False)
        self.counts["taken" if answer.status_code == 303 else "refused"] += 1
        return answer.status_code == 303

    def _tick(self, name: str) -> None:
        step = self._step(name, choice=False)
        if step and self._send(name, "marks", step, state="done"):
            self.ticked.add(words_of(step))

    def _write_note(self, name: str, step: dict[str, Any], **more: str) -> bool:
        """As the page's form sends it: what stood in the field is sent with what is written."""
        before = self.pages[name].work.get(step["id"], {}).get("seen", "")
        word = self._word()
        is_sent = self._send(name, "marks", step, seen=word, was=before, **more)
        if is_sent:
            self._forget_own(name, before)
            self.written[word], self.authors[word] = words_of(step), name
            self.pages[name].work.setdefault(step["id"], {})["seen"] = word
        return is_sent

    def _forget_own(self, name: str, before: str) -> None:
        """Words of one's own that were seen and written over are gone as they should be."""
        for word in WORDS.findall(before):
            if self.authors.get(word) == name:
                self.written.pop(word, None)

    def _note(self, name: str) -> None:
        step = self._step(name, choice=False)
        if step:
            self._write_note(name, step)

    def _follow(self, name: str) -> None:
        step = self._step(name, choice=True)
        if step is None:
            return
        exits = self.pages[name].exits[step["id"]]
        if self._write_note(name, step, exit=str(self.random.randint(1, len(exits)))):
            self.ticked.add(words_of(step))

    def _skip(self, name: str) -> None:
        step, word = self._step(name, choice=False), self._word()
        if step and self._send(name, "marks", step, state="skipped", why=word):
            self.written[word] = words_of(step)
            self.ticked.add(words_of(step))

    def _judge(self, name: str) -> None:
        step, word = self._step(name, choice=False), self._word()
        if step is None:
            return
        before = self.pages[name].work.get(step["id"], {}).get("word", "")
        verdict = self.random.choice(("accepted", "rejected"))
        if self._send(name, "judgements", step, verdict=verdict, word=word, was=before):
            self._forget_own(name, before)
            self.written[word], self.authors[word] = words_of(step), name
            self.pages[name].work.setdefault(step["id"], {})["word"] = word

    def _accept(self, name: str) -> None:
        word = self._word()
        if name in self.pages and self._send(name, "acceptance", None, accepted="true", word=word):
            self.written[word] = None

    def _edit(self, name: str) -> None:
        step, word = self._step(name, choice=False), self._word()
        if step is None or step["kind"] == "terminal":
            return
        fields = {"edit": "change", "text": f"{step['text']} {word}"}
        fields |= {"commands": "\n".join(step.get("commands", ()))}
        if self._send(name, "edits", step, **fields):
            self.written[word] = None
            self._look(name)

    def _answer(self, name: str) -> None:
        client = self._client(name)
        ticket = client.get(f"/v1/tickets/{self.ticket}").json()
        for turn in ticket["clarifications"]:
            if turn["state"] == "open":
                choice = self.random.randint(1, len(turn["choices"]) or 1)
                address = f"/v1/tickets/{self.ticket}/clarifications/{turn['id']}/answers"
                client.post(address, json={"choice": choice})

    def _work(self, _name: str) -> None:
        self.platform.run_tasks(self.random.choice((1, 2, 100)))

    def _correct(self, name: str) -> None:
        """Correct a step of the page that the shown workflow follows, and approve it."""
        page = self.pages.get(name)
        cited = [each for step in page.steps for each in step.get("citations", ())] if page else []
        if not cited:
            return
        readings = self.platform.peers.readings(_Named(name))  # type: ignore[arg-type]
        document = cited[0]["document_id"]
        query = ReadingQuery(document=document)
        matches = [each for each in readings.find(query) if each.procedures]
        if not matches:
            return
        text_hash = matches[0].text_hash
        reading = as_json(readings.get(text_hash).reading)
        actions = [each for each in _nodes(reading) if isinstance(each.get("do"), str)]
        if not actions:
            return
        self.random.choice(actions)["do"] += f" ({self.number}.{len(self.corrected)})"
        readings.replace(text_hash, Reading.model_validate(reading))
        readings.approve(text_hash, ApprovalRequest(procedure=0))
        self.corrected += [text_hash, text_hash]

    def _take_new(self, name: str) -> None:
        self._client(name).post(f"/v1/tickets/{self.ticket}/renewal")

    def lost(self) -> Counter[str]:
        """What was written, what is gone, and what stands under a step of other text."""
        client = self._client()
        ticket = client.get(f"/v1/tickets/{self.ticket}").json()
        behind = client.get(f"/v1/tickets/{self.ticket}/left-behind")
        listed = behind.json() if behind.status_code == 200 else []
        steps: dict[str, StepWords] = {}
        work: dict[str, Any] = {"steps": []}
        workflow: dict[str, Any] = {}
        if ticket["workflow_id"]:
            workflow = client.get(f"/v1/workflows/{ticket['workflow_id']}").json()["workflow"]
            work = client.get(f"/v1/workflows/{ticket['workflow_id']}/work").json()
            steps = {each["id"]: words_of(each) for each in workflow["steps"]}
            listed += work.get("left_behind", [])
        for each in listed:
            if each.get("kind") == "version":
                listed = [*listed, client.get(f"/v1/workflows/{each['workflow_id']}").json()]
        places: dict[str, set[StepWords | None]] = {}
        marked = set()
        for each in work["steps"]:
            at = steps.get(each["step"])
            for word in WORDS.findall(json.dumps(each)):
                places.setdefault(word, set()).add(at)
            if each["state"] != "open" and at is not None:
                marked.add(at)
        head = {name: work.get(name) for name in ("word", "verdict")}
        elsewhere = json.dumps([listed, workflow, head])
        counts = Counter(dict.fromkeys(("words gone", "words under other text"), 0))
        for word, under in self.written.items():
            counts["words"] += 1
            if word in places:
                counts["words under other text"] += under not in places[word]
            elif word not in WORDS.findall(elsewhere):
                counts["words gone"] += 1
        counts["ticks"] += len(self.ticked)
        listed_ticks = {(each.get("text"), tuple(each.get("commands", ()))) for each in listed}
        counts["ticks gone"] += len(self.ticked - marked - listed_ticks)
        counts["ticks under other text"] += len(marked - self.ticked)
        return counts


@dataclass(frozen=True)
class _Named:
    """Whoever corrects a reading."""

    name: str


def _nodes(noun: Any) -> Iterator[dict[str, Any]]:
    if isinstance(noun, dict):
        yield noun
        for each in noun.values():
            yield from _nodes(each)
    elif isinstance(noun, list):
        for each in noun:
            yield from _nodes(each)


def measure(folder: Path, *, times: int, seed: int, actions: int) -> dict[str, int]:
    """Figures of so many interleavings."""
    platform = opened(folder)
    total: Counter[str] = Counter()
    try:
        for number in range(times):
            one = Interleaving(platform, number, random.Random(seed * 1000 + number))
            one.run(actions)
            total += one.counts
            lost = one.lost()
            for name in lost:
                total[name] += lost[name]
            total["interleavings that lost"] += any(
                lost[name] for name in lost if "gone" in name or "other text" in name
            )
    finally:
        platform.stores.close()
    return dict(sorted(total.items()))


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--actions", type=int, default=24)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(
            Path(folder), times=arguments.times, seed=arguments.seed, actions=arguments.actions
        )
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
