"""`bench kills`: processes are killed while work goes on; what became of it is counted outside."""

import random
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from evaluation.benches.kills.platforms import LEASE_S, Platform, open_apart, open_embedded
from evaluation.benches.kills.work import Caller, Work, wait_until
from evaluation.benches.load.servers import Say, Server, made
from services.kit.clock import Clock
from services.kit.value import Value
from services.simulator.simulation import PAGES, READINGS, Simulation

PLATFORMS: Mapping[str, Callable[[Path, Mapping[str, str], ExitStack], Platform]] = {
    "embedded": open_embedded,
    "apart": open_apart,
}
_PROCESSES = {
    "gateway": (("ticket", 0.1),),
    "worker": (("ticket", 0.6),),
    "executor": (("received", 0.1), ("received", 0.5), ("approval", 1.0)),
    "ingestion": (("upload", 0.8),),
}
"""Moments after which each process is killed, each with the longest delay, in seconds."""
KINDS: Mapping[str, Sequence[str]] = {
    "embedded": (*_PROCESSES, "database away"),
    "apart": (*_PROCESSES, "postgres", "redis", "postgres away", "redis away"),
}
"""Kinds by platform: `… away` makes a store answer nothing for a while, the others kill."""
_MOMENT_WITHIN_S = 20.0
_SETTLE_S = 240.0
_FATES = """
SELECT t.id, t.external_id, t.status, t.walks,
  (SELECT count(*) FROM gateway_event e WHERE e.ticket_id = t.id
     AND e.kind IN ('planned', 'refused', 'failed')) AS ends,
  (SELECT count(*) FROM gateway_workflow w WHERE w.ticket_id = t.id AND w.rank = 1) AS best
FROM gateway_ticket t
"""
_LEFT = """
SELECT (SELECT count(*) FROM outbox WHERE parked_at IS NULL AND due_at < {now})
  + (SELECT count(*) FROM gateway_ticket WHERE status IN ('received', 'planning'))
"""


class KillReport(Value):
    """One row of the table: what became of the work while something was killed."""

    platform: str
    kind: str
    kills: int
    accepted: int
    """Tickets, pages and runs that were answered with success."""
    lost: int
    """Accepted, and not there afterwards."""
    double: int
    """There twice, or concluded more often than walked."""
    sent_twice: int
    """Changes that a device was sent again by the same run."""
    unapproved: int
    """Changes that a device was sent without an approval."""
    stuck: int
    """Tickets, jobs, runs and tasks that do not end."""
    repeated_requests: int
    """Approvals asked for a second time for a change that no device was sent."""
    unsure: int
    """Runs that asked a person whether a change was made."""
    needless_questions: int
    """Of these, runs whose device was sent nothing."""
    bad_answers: int
    """Answers that no kill excuses: neither success, nor away, nor to come again later."""
    runs: int
    seconds: float
    settled_s: float

    @property
    def ok(self) -> bool:
        """Whether nothing was lost, done twice or left."""
        wrong = (self.lost, self.double, self.sent_twice, self.unapproved, self.stuck)
        return self.accepted > 0 and not any((*wrong, self.repeated_requests, self.bad_answers))


def run_kills(
    platform_name: str, kind: str, kills: int, *, away_s: float, seed: int, say: Say
) -> KillReport:
    """Start a platform, kill so often, let it settle, and count.

    Raises:
        NoPostgresError, NoValkeyError: A server is not installed.
        NotStartedError: A process does not come back.
    """
    draw = random.Random(seed)  # noqa: S311 - a bench must be repeatable
    with tempfile.TemporaryDirectory(prefix="flowxpert-kills-") as scratch, ExitStack() as ending:
        folder = Path(scratch)
        folder.chmod(0o755)  # PostgreSQL runs as another user where this is root
        clock = Clock(begins_at=time.time(), speed=20)
        simulation = ending.enter_context(Simulation(folder / "network", clock=clock))
        settings = {
            "FLOWXPERT_ACCESS_MODE": "off",
            "FLOWXPERT_ACCESS_REQUESTS_PER_S": "0",
            "FLOWXPERT_ACCESS_ADDRESS_REQUESTS_PER_S": "0",
            "FLOWXPERT_EXECUTOR_CATALOGUE": str(simulation.folder),
            "FLOWXPERT_TASK_LEASE_S": str(LEASE_S),
            "FLOWXPERT_EMBEDDING_CACHE": str(folder / "vectors.db"),
            "FLOWXPERT_EMBEDDING_THREADS": "1",
        }
        platform = PLATFORMS[platform_name](made(folder / "platform"), settings, ending)
        titles = _prepare(platform)
        say(f"{platform_name}: all is up")
        work, begun = Work(platform.url, simulation, titles), time.monotonic()
        with work.going_on():
            for number in range(kills):
                _hit(platform, work, kind, away_s, draw)
                if number % 20 == 19:
                    say(f"{kind}: {number + 1} of {kills}, {len(work.runs)} runs")
            for server in platform.servers:
                server.wait_until_ready()
        killed = time.monotonic()
        say("all is up again")
        left = _settle(platform)
        report = _count(platform, work, left, say)
        return KillReport(
            platform=platform_name,
            kind=kind,
            kills=kills,
            seconds=round(killed - begun, 1),
            settled_s=round(time.monotonic() - killed, 1),
            **report,
        )


def _prepare(platform: Platform) -> list[str]:
    """Bring the pages in, vouch for their readings, and return their titles."""
    caller = Caller(platform.url)
    for path in sorted(PAGES.rglob("*.md")):
        files = {"files": (path.name, path.read_bytes())}
        job = caller.insist("POST", "/v1/documents", files=files).json()["id"]
        wait_until(partial(_is_done, caller, job), 120)
    imported = {"file": ("readings.jsonl", READINGS.read_bytes())}
    caller.insist("POST", "/v1/readings/import?approve=true", files=imported).raise_for_status()
    for each in caller.insist("GET", "/v1/readings").json():
        for place in range(each["procedures"]):
            where = f"/v1/readings/{each['text_hash']}/approvals"
            caller.insist("POST", where, json={"procedure": place}).raise_for_status()
    return [path.read_text().splitlines()[0].lstrip("# ") for path in sorted(PAGES.rglob("*.md"))]


def _hit(platform: Platform, work: Work, kind: str, away_s: float, draw: random.Random) -> None:
    """Kill a process, or make a store answer nothing for a while; wait for its moment first."""
    if kind.endswith(" away"):
        time.sleep(draw.uniform(0.2, 1.5))
        store = platform.stores.get(kind.removesuffix(" away"))
        if store is None:
            _lock_sqlite(platform, away_s)
            return
        store.wait_until_ready()
        with store.unreachable():
            time.sleep(away_s)
        return
    victim: Server = platform.stores[kind] if kind in platform.stores else platform.by_role[kind]
    if draw.random() < 0.8:  # the others are killed while they start
        victim.wait_until_ready()
    moment, longest = draw.choice(_PROCESSES.get(kind, (("approval", 1.5), ("received", 0.3))))
    work.moments.wait(moment, _MOMENT_WITHIN_S)
    time.sleep(draw.uniform(0, longest))
    if victim.has_ended:
        victim.start()
    victim.kill()


def _lock_sqlite(platform: Platform, seconds: float) -> None:
    """Hold the only database so that nobody else writes to it."""
    with closing(sqlite3.connect(str(make_url(platform.database).database))) as connection:
        connection.execute("PRAGMA busy_timeout = 30000")
        connection.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        connection.rollback()


def _rows(platform: Platform, query: str) -> list[Any]:
    url = make_url(platform.database)
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return list(connection.execute(text(query)))
    finally:
        engine.dispose()


def _settle(platform: Platform) -> int:
    """Wait until nothing is left to do, for as long as it becomes less; return what is left."""
    least, until = float("inf"), time.monotonic() + _SETTLE_S
    while time.monotonic() < until:
        [[left]] = _rows(platform, _LEFT.format(now=time.time()))
        if left == 0:
            return 0
        if left < least:
            least, until = left, time.monotonic() + _SETTLE_S
        time.sleep(0.3)
    return int(least)


def _job_status(caller: Caller, job: str) -> str:
    answer = caller.insist("GET", f"/v1/ingestions/{job}")
    return str(answer.json().get("status", "")) if answer.is_success else ""


def _is_done(caller: Caller, job: str) -> bool:
    return _job_status(caller, job) == "done"


def _documents(caller: Caller) -> Counter[str]:
    ids: Counter[str] = Counter()
    after = ""
    while True:
        params = {"limit": "200"} | ({"after": after} if after else {})
        answer = caller.insist("GET", "/v1/documents", params=params).json()
        page = answer["documents"] if isinstance(answer, dict) else answer
        if not page:
            return ids
        ids.update(each["id"] for each in page)
        after = page[-1]["id"]


def _count(platform: Platform, work: Work, left: int, say: Say) -> dict[str, int]:
    caller, fates = Caller(platform.url), _rows(platform, _FATES)
    there = {row.id for row in fates}
    external = Counter(row.external_id for row in fates if row.external_id in work.tickets)
    accepted = set().union(*work.tickets.values()) if work.tickets else set()
    documents = _documents(caller)
    jobs = {job: _job_status(caller, job) for jobs in work.uploads.values() for job in jobs}
    parked = _rows(platform, "SELECT key, reason FROM outbox WHERE parked_at IS NOT NULL")
    stuck = [
        *(f"parked {row.key}: {row.reason}" for row in parked),
        *(f"job {job}: {status}" for job, status in jobs.items() if status != "done"),
        *(f"failed ticket {row.id}" for row in fates if row.status == "failed"),
        *(f"run {each['id']}" for each in work.runs if not each["run"] or not each["run"].outcome),
    ]
    for description in stuck:
        say(f"stuck: {description}")
    double = sum(len(ids) > 1 for ids in work.tickets.values())
    double += sum(count > 1 for count in external.values())
    double += sum(row.ends > row.walks or row.best > row.walks for row in fates)
    double += sum(count > 1 for count in documents.values())
    repeated_requests = sent_twice = unapproved = unsure = needless = 0
    for each in work.runs:
        events = each["run"].events if each["run"] else ()
        sent = Counter(each["sent"])
        approved = sum(event.kind == "approved" for event in events)
        requested = sum(event.kind == "approval_asked" for event in events)
        is_unsure = any(
            event.kind == "asked" and event.facts.get("what") == "unknown" for event in events
        )
        sent_twice += sum(count - 1 for count in sent.values())
        unapproved += max(0, sent.total() - approved)
        repeated_requests += max(0, requested - max(1, sent.total()))
        unsure += is_unsure
        needless += is_unsure and not sent
    return {
        "accepted": len(work.tickets) + len(work.uploads) + len(work.runs),
        "lost": len(accepted - there) + sum(name not in documents for name in work.uploads),
        "double": double,
        "sent_twice": sent_twice,
        "unapproved": unapproved,
        "stuck": left + len(stuck),
        "repeated_requests": repeated_requests,
        "unsure": unsure,
        "needless_questions": needless,
        "bad_answers": work.bad.total(),
        "runs": len(work.runs),
    }
