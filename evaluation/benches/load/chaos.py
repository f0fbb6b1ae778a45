"""`bench chaos`: processes are killed under load, and nothing may be lost or done twice.

A gateway takes tickets in, two more processes of the same kind work beside it and stand in for it,
on a real PostgreSQL and a real Valkey that appends to a file. Again and again one of them, or a
connection to the database, is ended by `kill -9` and started anew, while tickets go on coming, each
sent until it is taken, as ticket systems do. Retrieval, planner and scorer answer over HTTP from
this process, which nobody kills. In the end the database is asked what became of the tickets.
"""

import math
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psycopg
from pydantic import BaseModel, ConfigDict

from evaluation.benches.load.knowledge_server import serve_knowledge
from evaluation.benches.load.servers import (
    Gateway,
    Postgres,
    Say,
    Server,
    Valkey,
    begin,
    made,
)
from evaluation.benches.load.speed import new_ticket
from services.kit.settings import EmbedderChoice, PlatformSettings

KINDS = ("gateway", "worker", "valkey", "connection")
SENDERS = 4
WORKERS = 2
SETTLE_S = 120.0
"""Beside the lease: longest time in which what is left to do may fail to become less."""

_AGAIN_S = 0.1
_CATCH_UP_S = 5.0
"""Within the time that is waited in the end."""
_KEY = "a-key-for-the-chaos-run-alone"
_TAKEN = {200, 202}
_LATER = {429, 503}

_FATES = """
SELECT t.id, t.status, t.walks,
  (SELECT count(*) FROM gateway_event e WHERE e.ticket_id = t.id
     AND e.kind IN ('planned', 'refused', 'failed')) AS ends,
  (SELECT count(*) FROM gateway_workflow w WHERE w.ticket_id = t.id AND w.rank = 1) AS workflows
FROM gateway_ticket t
"""


@dataclass(frozen=True)
class ChaosPlan:
    """How much is killed, and how fast."""

    kills: int
    documents: Path
    """What the tickets are about."""
    rate: float = 3.0
    """Tickets per second."""
    pause_s: float = 1.0
    """Mean pause between two kills."""
    lease_s: float = 10.0
    within_s: float = float("inf")
    """Nothing is killed any more after so many seconds."""
    seed: int = 0


class Figures(BaseModel):
    """What became of the tickets."""

    model_config = ConfigDict(frozen=True)

    accepted: int
    lost: int
    """Accepted, and not in the database."""
    unknown: int
    """In the database, and accepted by nobody's account."""
    unfinished: int
    failed: int
    concluded_twice: int
    """More ends than walks."""
    double_workflows: int
    """More best workflows than walks."""
    waiting: int
    """Tasks that are left in the outbox, but for looks: no executor takes part that would look."""
    parked: int
    planned: int
    refused: int


class ChaosReport(BaseModel):
    """The run and its figures."""

    model_config = ConfigDict(frozen=True)

    ok: bool
    kills: dict[str, int]
    tickets: Figures
    answers: dict[str, int]
    """Answers to deliveries by status; `none` where the gateway was away."""
    ended_by_themselves: dict[str, int]
    """Processes that gave up while what they need was away, and were started again."""
    under_load_s: float
    settled_s: float
    """From the last kill to the last finished ticket."""
    seed: int


@dataclass(frozen=True)
class Platform:
    """What is killed."""

    postgres: Postgres
    valkey: Valkey
    gateways: tuple[Gateway, ...]
    """Tickets go to the first; to the others while it is away, as a load balancer sends them."""

    @property
    def all(self) -> tuple[Server, ...]:
        """Every process, those first that others need."""
        return (self.postgres, self.valkey, *self.gateways)


@dataclass
class Load:
    """Tickets sent until they are taken."""

    urls: tuple[str, ...]
    """Tried in this order, one after the other."""
    titles: list[str]
    rate: float
    taken: dict[str, str] = field(default_factory=dict)
    """Ids of the tickets by what their sender calls them."""
    answers: Counter[str] = field(default_factory=Counter)
    _sent: int = 0
    _stopping: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send in the background; when the block ends, what was sent has been taken."""
        senders = [threading.Thread(target=self._send, daemon=True) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        try:
            yield
        finally:
            self._stopping.set()
            for sender in senders:
                sender.join()

    def _send(self) -> None:
        while not self._stopping.wait(SENDERS / self.rate):
            with self._lock:
                number, self._sent = self._sent, self._sent + 1
            self._deliver(number)

    def _deliver(self, number: int) -> None:
        body = new_ticket(self.titles[number % len(self.titles)]) | {"id": f"chaos-{number}"}
        for url in cycle(self.urls):
            status, ticket_id = self._post(url, body)
            with self._lock:
                self.answers[status] += 1
                if ticket_id:
                    self.taken[body["id"]] = ticket_id
                    return
            time.sleep(_AGAIN_S)

    def _post(self, url: str, body: dict[str, object]) -> tuple[str, str]:
        headers = {"x-api-key": _KEY}
        try:
            answer = httpx.post(f"{url}/workflow", json=body, headers=headers, timeout=10)
        except httpx.HTTPError:
            return "none", ""
        taken = answer.status_code in _TAKEN
        return str(answer.status_code), answer.json()["id"] if taken else ""


def run_chaos(plan: ChaosPlan, say: Say) -> ChaosReport:
    """Start everything, kill, settle, and look.

    Raises:
        NoPostgresError: PostgreSQL is not installed.
        NotStartedError: A server does not come back.
    """
    with TemporaryDirectory(prefix="flowxpert-chaos-") as scratch, ExitStack() as closing:
        folder = Path(scratch)
        folder.chmod(0o755)  # PostgreSQL runs as another user where this is root
        postgres, valkey = Postgres(made(folder / "pg")), Valkey(made(folder / "valkey"))
        begin((postgres, valkey), closing)
        addresses, titles = serve_knowledge(folder, plan.documents, _KEY, closing)
        settings = addresses | {
            "FLOWXPERT_DATABASE_URL": postgres.url,
            "FLOWXPERT_REDIS_URL": valkey.url,
            "FLOWXPERT_API_KEY": _KEY,
            "FLOWXPERT_TASK_LEASE_S": str(plan.lease_s),
            "FLOWXPERT_GATEWAY_CATCH_UP_AFTER_S": str(_CATCH_UP_S),
            "FLOWXPERT_EMBEDDER_FILE": str(_embedder_file()),
        }
        names = ["gateway", *(f"worker-{n}" for n in range(1, WORKERS + 1))]
        gateways = [Gateway(name, made(folder / name), settings) for name in names]
        begin(gateways, closing)
        say("all is up")
        return _run(plan, Platform(postgres, valkey, tuple(gateways)), titles, say)


def _run(plan: ChaosPlan, platform: Platform, titles: list[str], say: Say) -> ChaosReport:
    urls = tuple(gateway.url for gateway in platform.gateways)
    load, began = Load(urls, titles, plan.rate), time.monotonic()
    with load.running():
        kills = _kill(plan, platform, say)
        killed = time.monotonic()
        for server in platform.all:
            server.wait_until_ready()
    say(f"all is up again after {time.monotonic() - killed:.0f} s")
    _settle(platform.postgres, plan.lease_s + SETTLE_S)
    settled = time.monotonic()
    tickets = _look(platform.postgres, set(load.taken.values()))
    bad = {status for status in load.answers if status != "none"}
    bad -= {str(status) for status in _TAKEN | _LATER}
    return ChaosReport(
        ok=not bad and _is_right(tickets),
        kills=dict(kills),
        tickets=tickets,
        answers=dict(load.answers),
        ended_by_themselves={each.name: each.ended_by_itself for each in platform.gateways},
        under_load_s=round(killed - began, 1),
        settled_s=round(settled - killed, 1),
        seed=plan.seed,
    )


def _kill(plan: ChaosPlan, platform: Platform, say: Say) -> Counter[str]:
    """Kill one after the other, each only while it is up; how many of each kind."""
    draw, done = random.Random(plan.seed), Counter[str]()  # noqa: S311 - a bench must be repeatable
    until = time.monotonic() + plan.within_s
    while done.total() < plan.kills and time.monotonic() < until:
        time.sleep(draw.uniform(0, 2 * plan.pause_s))
        kind = draw.choice(KINDS)
        if kind == "connection":
            done[kind] += _cut(platform.postgres, draw)
            continue
        victim = _victim(kind, platform, draw)
        victim.wait_until_ready()
        victim.kill()
        done[kind] += 1
        say(f"{done.total()} of {plan.kills}: {victim.name}")
    return done


def _victim(kind: str, platform: Platform, draw: random.Random) -> Server:
    if kind == "valkey":
        return platform.valkey
    first, *workers = platform.gateways
    return first if kind == "gateway" else draw.choice(workers)


def _cut(postgres: Postgres, draw: random.Random) -> bool:
    """End a connection, or by `kill -9` the process behind it, and with it all of them."""
    postgres.wait_until_ready()
    with suppress(psycopg.Error, ProcessLookupError):
        backends = postgres.backends()
        if backends and draw.random() < 0.5:
            postgres.terminate(draw.choice(backends))
        elif backends:
            os.kill(draw.choice(backends), signal.SIGKILL)
        return bool(backends)
    return False


def _settle(postgres: Postgres, patience_s: float) -> None:
    """Wait until nothing is left to do, for as long as it becomes less."""
    least, until = math.inf, time.monotonic() + patience_s
    query = (
        "SELECT (SELECT count(*) FROM outbox WHERE parked_at IS NULL"
        " AND task <> 'gateway.look_at_once')"
        " + (SELECT count(*) FROM gateway_ticket WHERE status IN ('received', 'planning'))"
    )
    while time.monotonic() < until:
        ((left,),) = postgres.rows(query)
        if left == 0:
            return
        if (now := int(str(left))) < least:
            least, until = now, time.monotonic() + patience_s
        time.sleep(0.2)


def _look(postgres: Postgres, taken: set[str]) -> Figures:
    fates = postgres.rows(_FATES)
    there = {str(row[0]) for row in fates}
    statuses = Counter(str(row[1]) for row in fates)
    tasks = (
        "SELECT count(*) - count(parked_at), count(parked_at) FROM outbox"
        " WHERE task <> 'gateway.look_at_once'"
    )
    ((waiting, parked),) = postgres.rows(tasks)
    return Figures(
        accepted=len(taken),
        lost=len(taken - there),
        unknown=len(there - taken),
        unfinished=statuses["received"] + statuses["planning"],
        failed=statuses["failed"],
        concluded_twice=sum(int(str(row[3])) > int(str(row[2])) for row in fates),
        double_workflows=sum(int(str(row[4])) > int(str(row[2])) for row in fates),
        waiting=int(str(waiting)),
        parked=int(str(parked)),
        planned=statuses["planned"],
        refused=statuses["refused"],
    )


def _is_right(figures: Figures) -> bool:
    """All that came in was concluded, and once."""
    wrong = figures.model_dump(exclude={"accepted", "planned", "refused"})
    return figures.accepted > 0 and not any(wrong.values())


def _embedder_file() -> Path:
    return PlatformSettings().embedder_path(EmbedderChoice.ONNX).resolve()
