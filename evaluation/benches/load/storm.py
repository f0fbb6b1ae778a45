"""`bench storm`: many alerts a minute on a real PostgreSQL and a real Valkey.

A gateway takes alerts in and walks tickets, further processes of the same kind walk beside it;
retrieval, planner and scorer answer over HTTP from this process, and the load comes from one of its
own. The load is open: a delivery leaves by the clock whether or not earlier ones were answered, and
its latency counts from the moment it was due.

Of the alerts of a second some are of faults that nobody saw before, the rest repeat known ones:
half are sent once more as they were, half say that it broke again.
"""

import itertools
import json
import multiprocessing
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

import httpx
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

SETTLE_S = 600.0
"""Longest time after the last alert in which all tickets must be finished."""

_KEY = "a-key-for-the-storm-alone"
_LOOK_S = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")
_BEGINNING = datetime(2025, 1, 1, tzinfo=UTC)
_WARM_UP = 20
_REQUEST_TIMEOUT_S = 60.0
_CONNECTIONS = 64


@dataclass(frozen=True)
class StormPlan:
    """What comes, and for how long."""

    documents: Path
    """What the alerts are about."""
    per_minute: float = 5000.0
    new_per_minute: float = 600.0
    """Of these, alerts of faults that nobody saw before."""
    seconds: float = 180.0
    workers: int = 1
    """Processes that walk tickets beside the gateway."""
    seed: int = 0

    @property
    def total(self) -> int:
        """Alerts in all."""
        return int(self.per_minute / 60 * self.seconds)


@dataclass(frozen=True)
class Alert:
    """One delivery: which fault, and which time that it broke."""

    fault: int
    time: int


class StormReport(BaseModel):
    """The run in figures."""

    model_config = ConfigDict(frozen=True)

    ok: bool
    sent: int
    answers: dict[str, int]
    ack_ms: dict[str, float]
    faults: int
    tickets: int
    lost: int
    """Faults without a ticket, and times that are counted on none."""
    double: int
    """Tickets more than faults, times counted twice, and best workflows more than tickets."""
    unfinished: int
    finished_while_arriving: float
    """Share of the tickets that were finished when the last alert came."""
    most_waiting: int
    settled_s: float
    """From the last alert to the last finished ticket."""
    most_mb: dict[str, float]
    """Memory of each process at its largest."""
    cpu_ms_per_ticket: dict[str, float]


def run_storm(plan: StormPlan, say: Say) -> StormReport:
    """Start everything, send, wait until all is finished, and look.

    Raises:
        NoPostgresError: PostgreSQL is not installed.
        NotStartedError: A server does not come.
    """
    with TemporaryDirectory(prefix="flowxpert-storm-") as scratch, ExitStack() as closing:
        folder = Path(scratch)
        folder.chmod(0o755)  # PostgreSQL runs as another user where this is root
        postgres, valkey = (
            Postgres(made(folder / "pg"), is_durable=True),
            Valkey(made(folder / "valkey")),
        )
        begin((postgres, valkey), closing)
        settings, titles = serve_knowledge(folder, plan.documents, _KEY, closing)
        settings |= {
            "FLOWXPERT_DATABASE_URL": postgres.url,
            "FLOWXPERT_REDIS_URL": valkey.url,
            "FLOWXPERT_API_KEY": _KEY,
            "FLOWXPERT_ACCESS_REQUESTS_PER_S": "0",
        }
        names = ["gateway", *(f"worker-{n}" for n in range(1, plan.workers + 1))]
        gateways = [Gateway(name, made(folder / name), settings) for name in names]
        begin(gateways, closing)
        say("all is up")
        return _run(plan, _Platform(postgres, (valkey, *gateways), gateways[0].url), titles, say)


@dataclass(frozen=True)
class _Platform:
    postgres: Postgres
    servers: tuple[Server, ...]
    """Each a single process."""
    url: str

    @property
    def processes(self) -> dict[str, int]:
        """Process ids by name, this one's too."""
        return {server.name: server.pid for server in self.servers} | {"knowledge": os.getpid()}


def _run(plan: StormPlan, platform: _Platform, titles: Sequence[str], say: Say) -> StormReport:
    postgres, processes = platform.postgres, platform.processes
    _warm_up(platform.url, titles, postgres)
    alerts = list(_alerts(plan))
    cpu = {name: _cpu_s(pid) for name, pid in processes.items()}
    spawn = multiprocessing.get_context("spawn")
    with _Watch(processes, postgres) as watch, ProcessPoolExecutor(1, mp_context=spawn) as sender:
        sent = sender.submit(
            send, platform.url, alerts, list(titles), plan.per_minute / 60
        ).result()
        arriving = _counts(postgres)
        say(f"all is sent; {arriving['waiting']} tasks wait")
        began = time.monotonic()
        _settle(postgres)
        settled_s = time.monotonic() - began
    counts = _counts(postgres)
    faults = len({alert.fault for alert in alerts})
    spent = {name: _cpu_s(pid) - cpu[name] for name, pid in processes.items()}
    statuses = Counter(str(status) for _, status in sent)
    lost = max(0, faults - counts["tickets"]) + max(0, len(set(alerts)) - counts["alerts"])
    double = max(0, counts["tickets"] - faults) + max(0, counts["alerts"] - len(set(alerts)))
    double += max(0, counts["workflows"] - counts["planned"])
    unfinished = counts["tickets"] - counts["finished"]
    return StormReport(
        ok=set(statuses) == {"202"} and not (lost or double or unfinished),
        sent=len(sent),
        answers=dict(statuses),
        ack_ms=_percentiles([seconds for seconds, _ in sent]),
        faults=faults,
        tickets=counts["tickets"],
        lost=lost,
        double=double,
        unfinished=unfinished,
        finished_while_arriving=round(arriving["finished"] / max(1, faults), 3),
        most_waiting=watch.most_waiting,
        settled_s=round(settled_s, 1),
        most_mb={name: round(most, 1) for name, most in watch.most_mb.items()},
        cpu_ms_per_ticket={
            name: round(1000 * seconds / max(1, faults), 1) for name, seconds in spent.items()
        },
    )


def _alerts(plan: StormPlan) -> Iterator[Alert]:
    """What is sent, in order: the same for the same seed."""
    draw = random.Random(plan.seed)  # noqa: S311 - a bench must be repeatable
    share = plan.new_per_minute / plan.per_minute
    times: list[int] = []
    for number in range(plan.total):
        if not times or int((number + 1) * share) > int(number * share):
            times.append(0)
            yield Alert(len(times) - 1, 0)
            continue
        fault = draw.randrange(len(times))
        times[fault] += draw.random() < 0.5
        yield Alert(fault, times[fault])


def send(
    url: str, alerts: Sequence[Alert], titles: Sequence[str], per_s: float
) -> list[tuple[float, int]]:
    """Post the alerts by the clock; seconds until each was answered, and the status, 0 for none."""
    begin_at = time.perf_counter() + 1.0
    numbers = itertools.count()

    def work() -> list[tuple[float, int]]:
        connection = HTTPConnection(url.removeprefix("http://"), timeout=_REQUEST_TIMEOUT_S)
        answers = []
        while (number := next(numbers)) < len(alerts):
            due = begin_at + number / per_s
            body = alert_body(alerts[number], titles[alerts[number].fault % len(titles)])
            time.sleep(max(0.0, due - time.perf_counter()))
            status = _post(connection, json.dumps(body).encode())
            answers.append((time.perf_counter() - due, status))
        return answers

    with ThreadPoolExecutor(_CONNECTIONS) as senders:
        shares = [senders.submit(work) for _ in range(_CONNECTIONS)]
        return [answer for share in shares for answer in share.result()]


def _post(connection: HTTPConnection, body: bytes) -> int:
    headers = {"x-api-key": _KEY, "content-type": "application/json"}
    try:
        connection.request("POST", "/workflow", body, headers)
        answer = connection.getresponse()
        answer.read()
    except (OSError, HTTPException):
        connection.close()
        return 0
    return answer.status


def alert_body(alert: Alert, title: str) -> dict[str, object]:
    """As Alertmanager sends one firing alert."""
    device = f"switch-{alert.fault:06d}"
    return {
        "version": "4",
        "groupKey": "{}",
        "status": "firing",
        "receiver": "flowxpert",
        "alerts": [
            {
                "status": "firing",
                "labels": {"alertname": title[:200], "device": device, "severity": "warning"},
                "annotations": {"summary": f"{title[:200]} on {device}"},
                "startsAt": (_BEGINNING + timedelta(minutes=alert.time)).isoformat(),
                "endsAt": "0001-01-01T00:00:00Z",
                "fingerprint": f"{alert.fault:016x}",
            }
        ],
    }


def _warm_up(url: str, titles: Sequence[str], postgres: Postgres) -> None:
    """Tickets that do not count: they fill caches. They are forgotten before the storm."""
    headers = {"x-api-key": _KEY}
    for title in titles[:_WARM_UP]:
        httpx.post(f"{url}/workflow", json={"title": title}, headers=headers).raise_for_status()
    _settle(postgres)
    postgres.do("DELETE FROM gateway_ticket")


def _settle(postgres: Postgres) -> None:
    until = time.monotonic() + SETTLE_S
    while time.monotonic() < until:
        counts = _counts(postgres)
        if counts["finished"] == counts["tickets"] and not counts["waiting"]:
            return
        time.sleep(0.5)


def _counts(postgres: Postgres) -> dict[str, int]:
    names = ("tickets", "finished", "planned", "alerts", "workflows", "waiting")
    ((*values,),) = postgres.rows(
        "SELECT count(*), count(*) FILTER (WHERE status NOT IN ('received', 'planning')), "
        "count(*) FILTER (WHERE status = 'planned'), coalesce(sum(alerts), 0), "
        "(SELECT count(*) FROM gateway_workflow WHERE rank = 1), "
        "(SELECT count(*) FROM outbox WHERE parked_at IS NULL AND task <> 'gateway.look_at_once')"
        " FROM gateway_ticket"
    )
    return {name: int(str(value)) for name, value in zip(names, values, strict=True)}


class _Watch:
    """Looks at memory and at what waits, every so often, until the block ends."""

    def __init__(self, processes: Mapping[str, int], postgres: Postgres) -> None:
        self.most_mb: Counter[str] = Counter()
        self.most_waiting = 0
        self._processes, self._postgres = processes, postgres
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(_LOOK_S):
            for name, pid in self._processes.items():
                self.most_mb[name] = max(self.most_mb[name], _memory_mb(pid))
            waiting = _counts(self._postgres)["waiting"]
            self.most_waiting = max(self.most_waiting, waiting)


def _memory_mb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    cuts = quantiles(seconds, n=100, method="inclusive")
    shown = {f"p{at}": round(cuts[at - 1] * 1000, 1) for at in (50, 95, 99)}
    return shown | {"max": round(max(seconds) * 1000, 1)}
