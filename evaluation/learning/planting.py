"""Tickets that it takes to change what others are shown, by who works on them; over the API."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from httpx import Client

from evaluation.measures.figures import Figures, Report
from services.contracts.teaching import TeachingWithdrawal
from services.deployment.embedded import Embedded
from services.kit.access.caller import LOCAL, acting_as
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.kit.http.server import ServerThread
from services.kit.queue.outbox import Outbox
from services.kit.settings import PlatformSettings
from services.tickets.teaching import TeachingService

MOST_TICKETS = 6
GROUPS: Mapping[str, Sequence[str]] = {
    "one key": ("eve",),
    "three keys of one person": ("eve", "eve", "eve"),
    "three keys that nobody holds": ("", "", ""),
    "three people": ("ann", "bea", "cyd"),
}
"""Owners of the keys that each group works with, in turn."""
_THINGS = ("fan tray", "coolant pump", "disk shelf", "power feed")
_WAIT_S = 60


@dataclass(frozen=True)
class _Ticket:
    """A ticket with the page that answers it, as one caller works on it."""

    client: Client
    headers: Mapping[str, str]
    workflow_id: str
    steps: Mapping[str, str]
    """Ids of the steps by their first word."""

    def mark(self, step_id: str, **mark: str) -> None:
        address = f"/v1/workflows/{self.workflow_id}/steps/{step_id}/mark"
        self.client.put(address, json=mark, headers=self.headers).raise_for_status()

    def add_check(self, text: str) -> None:
        """Add a step of one's own, and tick it."""
        edit = {"edit": "add", "after": self.steps["Show"], "text": text}
        address = f"/v1/workflows/{self.workflow_id}/versions"
        body = {"edits": [edit]}
        answer = self.client.post(address, json=body, headers=self.headers).raise_for_status()
        version = answer.json()
        own = next(each["id"] for each in version["workflow"]["steps"] if each["text"] == text)
        address = f"/v1/workflows/{version['id']}/steps/{own}/mark"
        self.client.put(address, json={"state": "done"}, headers=self.headers).raise_for_status()


def measure(advance: Callable[[], None]) -> Report:
    """Have each group work on tickets until others are shown something else, and take it back."""
    figures: dict[str, Figures] = {}
    begun = time.monotonic()
    with _platform() as (platform, client):
        for thing, (group, owners) in zip(_THINGS, GROUPS.items(), strict=True):
            keys = Keys(platform.database)
            made = [
                keys.create(f"{thing.replace(' ', '-')}-{n}", frozenset({Scope.OPERATE}), owner=own)
                for n, own in enumerate(owners)
            ]
            figures[group] = _figures_of(platform, client, thing, made)
            advance()
    return Report(
        benchmark="planting",
        overall={},
        sets=figures,
        config={"most tickets": MOST_TICKETS},
        seconds=time.monotonic() - begun,
    )


def _figures_of(platform: Embedded, client: Client, thing: str, keys: Sequence[str]) -> Figures:
    first: dict[str, float] = {}
    headers = [{"x-api-key": key} for key in keys]
    of_others = _deliver(client, thing, MOST_TICKETS, headers[0])
    for number in range(MOST_TICKETS):
        _work(client, thing, number, headers[number % len(headers)])
        for kind in _changes(client, thing, of_others, headers[0]):
            first.setdefault(kind, number + 1)
    service = TeachingService(platform.database, Outbox(platform.database))
    names = [f"key {thing.replace(' ', '-')}-{n}" for n in range(len(keys))]
    for number, name in enumerate(names, 1):
        with acting_as(LOCAL):
            service.withdraw(TeachingWithdrawal(caller=name))
        if not list(_changes(client, thing, of_others, headers[0])):
            first.setdefault("gone after", number)
    return first


def _deliver(client: Client, thing: str, number: int, headers: Mapping[str, str]) -> str:
    body = {
        "id": f"{thing}-{number}",
        "title": _alert_of(thing),
        "description": f"A {thing} of the rack failed.",
        "labels": {"alertname": _alert_of(thing), "instance": _host(number)},
    }
    answer = client.post("/workflow", json=body, params={"wait": _WAIT_S}, headers=headers)
    ticket_id: str = answer.raise_for_status().json()["id"]
    return ticket_id


def _work(client: Client, thing: str, number: int, headers: Mapping[str, str]) -> None:
    """Work on a new ticket: in another order, with a step left aside and one's own check."""
    ticket_id = _deliver(client, thing, number, headers)
    workflow_id = _get(client, f"/v1/tickets/{ticket_id}", headers)["workflow_id"]
    steps = _get(client, f"/v1/workflows/{workflow_id}", headers)["workflow"]["steps"]
    by_word = {each["text"].split()[0]: each["id"] for each in steps}
    ticket = _Ticket(client, headers, workflow_id, by_word)
    ticket.mark(by_word["Ask"], state="done")
    ticket.mark(by_word["Show"], state="done")
    ticket.mark(by_word["Note"], state="skipped", why="approve all: not needed")
    ticket.add_check(f"Check the power supply of {_host(number)}")


def _changes(
    client: Client, thing: str, ticket_id: str, headers: Mapping[str, str]
) -> Iterator[str]:
    """Yield what the work changes for others, and whether it names a host."""
    checks = _get(client, f"/v1/tickets/{ticket_id}/completeness", headers)["tickets"]["checks"]
    edits = _get(client, f"/v1/suggested-edits/{_page_of(thing)}", headers)
    by_kind = {"left_aside": "box", "order": "page order", "added": "added step"}
    yield from (by_kind[each["kind"]] for each in edits)
    if any("power supply" in each["text"] for each in checks):
        yield "check"
    texts = [each["text"] for each in (*checks, *edits)]
    if any("rack-0" in text for text in texts):
        yield "host named"


def _get(client: Client, address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401
    return client.get(address, headers=headers).raise_for_status().json()


@contextmanager
def _platform() -> Iterator[tuple[Embedded, Client]]:
    folder = Path(tempfile.mkdtemp(prefix="planting-"))
    pages = folder / "pages"
    pages.mkdir()
    for thing in _THINGS:
        (pages / _page_of(thing)).write_text(
            f"# {_alert_of(thing)}\n\nA {thing} of the rack failed.\n\n"
            f"- Show the state of the {thing}.\n- Note the serial number of the {thing}.\n"
            f"- Ask the field team for a spare {thing}.\n- Replace the {thing}.\n"
        )
    settings = PlatformSettings(_env_file=None, data_dir=folder / "data", learn_every_hours=0)
    try:
        with Embedded(settings) as platform:
            platform.ingestion.ingest_here(pages)
            platform.start()
            server = ServerThread(platform.app, host="127.0.0.1", port=0)
            server.start()
            with Client(base_url=server.url, timeout=_WAIT_S) as client:
                yield platform, client
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _host(number: int) -> str:
    return f"rack-{number:02}.example.net"


def _alert_of(thing: str) -> str:
    return f"{thing.title().replace(' ', '')}Failed"


def _page_of(thing: str) -> str:
    return f"{thing.replace(' ', '-')}.md"
