"""`bench speed`: how fast the embedded run starts, answers, retrieves and walks.

The run is a process of its own on a copy of the data folder, so the benchmark leaves no tickets
behind. The load is open: requests leave by the clock whether or not earlier ones were answered, and
a latency counts from the moment its request was due.
"""

import asyncio
import contextlib
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any
from uuid import uuid4

import httpx
from rich.console import Console
from rich.table import Table

from evaluation.material.pairs import read_pairs
from evaluation.measures.figures import Figures, Report
from services.contracts.gateway import Accepted
from services.kit.data_dir import LOCK_FILE, own_data_dir
from services.kit.errors import FlowXpertError

START_TIMEOUT_S = 60.0
WALK_TIMEOUT_S = 60.0
WALKED_WITHIN_S = 300.0
SINGLE_TICKETS = 60
"""Tickets posted one after the other; enough for a median, not for a tail."""
SETTLE_TICKETS = 5
"""Tickets before these that are not counted: the first ones fill caches."""
TITLE_CHARACTERS = 200

TARGETS = {
    "start_s": 8.0,
    "stored_p50_ms": 300.0,
    "retrieve_p50_ms": 60.0,
    "ack_p99_ms": 50.0,
}
"""What the embedded run is built to keep on two cores with a corpus of some thousand pages."""


class StartError(FlowXpertError):
    """The embedded run did not answer in time."""


@dataclass(frozen=True)
class Load:
    """Tickets per second, and for how many seconds."""

    rate: float
    seconds: float
    deliveries_per_ticket: int = 1
    """Number of deliveries of each ticket, one after the other."""

    @property
    def total(self) -> int:
        """Requests in all."""
        return int(self.rate * self.seconds)


def measure_speed(data_dir: Path, load: Load, pairs: Path | None = None) -> Report:
    """Run the benchmark; takes the load's seconds and about one minute more.

    The tickets are the queries of `pairs`, or else the titles of the documents in the store.
    """
    started = time.monotonic()
    with copied(data_dir) as folder, _running(folder) as (url, start_s):
        titles = queries(pairs) if pairs else _titles(url)
        single = _single_tickets(url, titles)
        acks = asyncio.run(_burst(url, titles, load))
        walked_s = _until_walked(
            url, len(single) + SETTLE_TICKETS + load.total // load.deliveries_per_ticket
        )
        counts = _counts(url)
    figures = {
        "start_s": round(start_s, 2),
        **_percentiles("stored", [one["walk"] for one in single if "plan" in one]),
        **_percentiles("refused", [one["walk"] for one in single if "plan" not in one]),
        **_percentiles("retrieve", [one["retrieve"] for one in single if "retrieve" in one]),
        **_percentiles("plan", [one["plan"] for one in single if "plan" in one]),
        **_percentiles("score", [one["score"] for one in single if "score" in one]),
        **_percentiles("ack", [seconds for seconds, status in acks if status == 202]),
        "planned_share": round(sum("plan" in one for one in single) / len(single), 3),
        "all_walked_after_s": round(walked_s, 1),
        "refused_requests": float(sum(status != 202 for _, status in acks)),
    }
    return Report(
        benchmark="speed",
        overall=figures,
        sets={},
        config={
            "rate": load.rate,
            "seconds": load.seconds,
            "told": load.deliveries_per_ticket,
            "cores": os.cpu_count(),
            "tickets_about": pairs.name if pairs else "titles of the stored documents",
            "different_tickets": len(titles),
            "targets": TARGETS,
            "met": {name: figures.get(name, 0.0) <= most for name, most in TARGETS.items()},
            "tasks_done": counts,
        },
        seconds=round(time.monotonic() - started, 1),
    )


@contextlib.contextmanager
def copied(data_dir: Path) -> Iterator[Path]:
    """A copy of a data folder, for as long as the context lasts."""
    with (
        own_data_dir(data_dir),
        tempfile.TemporaryDirectory(
            prefix="flowxpert-speed-", dir=data_dir.resolve().parent, ignore_cleanup_errors=True
        ) as scratch,
    ):
        folder = Path(scratch) / "data"
        shutil.copytree(data_dir, folder, ignore=shutil.ignore_patterns(LOCK_FILE, "uploads"))
        yield folder


@contextlib.contextmanager
def _running(folder: Path) -> Iterator[tuple[str, float]]:
    """The embedded run's address, and how long it took until it answered."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    began = time.monotonic()
    command = [sys.executable, "-m", "services.cli", "up", "--data-dir", str(folder)]
    process = subprocess.Popen(  # noqa: S603 - every word of it is ours
        [*command, "--host", "127.0.0.1", "--port", str(port)], stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(url, process, began + START_TIMEOUT_S)
        yield url, time.monotonic() - began
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait_until_ready(url: str, process: "subprocess.Popen[bytes]", until: float) -> None:
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz").status_code == 200:
                return
        time.sleep(0.05)
    raise StartError(f"the embedded run did not answer within {START_TIMEOUT_S:.0f} s")


def queries(pairs: Path) -> list[str]:
    """The titles of the tickets that the pairs make."""
    return [pair.ticket(form).title for pair in read_pairs(pairs) for form in pair.forms]


def _titles(url: str) -> list[str]:
    """Titles of documents in the store: what the tickets are about."""
    documents = httpx.get(f"{url}/v1/documents", params={"limit": 1000}).raise_for_status().json()
    return [document["title"] for document in documents] or ["Interface down"]


def new_ticket(title: str) -> dict[str, Any]:
    """A ticket that no cache has seen: no two name the same device."""
    device = uuid4().hex[:8]
    return {
        "id": device,
        "title": title[:TITLE_CHARACTERS],
        "description": f"Seen on switch-{device} a few minutes ago: {title}",
        "labels": {"device": f"switch-{device}"},
    }


def _single_tickets(url: str, titles: Sequence[str]) -> list[Figures]:
    """Seconds from post to stored workflow, one ticket at a time, with those of each stage."""
    step = max(1, len(titles) // SINGLE_TICKETS)
    chosen = [titles[(i * step) % len(titles)] for i in range(SETTLE_TICKETS + SINGLE_TICKETS)]
    timings = []
    with httpx.Client(base_url=url, timeout=WALK_TIMEOUT_S + 10) as client:
        for title in chosen:
            began = time.perf_counter()
            answer = client.post(
                "/workflow/generic", json=new_ticket(title), params={"wait": WALK_TIMEOUT_S}
            )
            seconds = time.perf_counter() - began
            ticket = Accepted.model_validate(answer.raise_for_status().json()).tickets[0]
            stages = ticket.workflow.seconds if ticket.workflow else {}
            timings.append({"walk": seconds, **stages})
    return timings[SETTLE_TICKETS:]


async def _burst(url: str, titles: Sequence[str], load: Load) -> list[tuple[float, int]]:
    """Seconds from due to acknowledged, and the status, of every request of the load."""
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=30) as client:
        start = time.perf_counter() + 0.5
        bodies = [
            new_ticket(titles[number % len(titles)])
            for number in range(math.ceil(load.total / load.deliveries_per_ticket))
        ]

        async def post(number: int) -> tuple[float, int]:
            due = start + number / load.rate
            await asyncio.sleep(due - time.perf_counter())
            body = bodies[number // load.deliveries_per_ticket]
            try:
                answer = await client.post("/workflow/generic", json=body)
            except httpx.TransportError:
                return time.perf_counter() - due, 0
            return time.perf_counter() - due, answer.status_code

        return await asyncio.gather(*(post(number) for number in range(load.total)))


def _until_walked(url: str, tickets: int) -> float:
    """Seconds until so many walks are done, or the time is up."""
    began = time.monotonic()
    while time.monotonic() - began < WALKED_WITHIN_S:
        done = sum(n for name, n in _counts(url).items() if "walk" in name and "done" in name)
        if done >= tickets:
            break
        time.sleep(0.5)
    return time.monotonic() - began


def _counts(url: str) -> dict[str, float]:
    """Tasks that were done by the end of the load, by outcome."""
    ready = httpx.get(f"{url}/metrics").raise_for_status().text
    done = [line for line in ready.splitlines() if line.startswith("flowxpert_queue_tasks_total{")]
    return {line.partition(" ")[0]: float(line.rpartition(" ")[2]) for line in done}


def _percentiles(name: str, seconds: Sequence[float]) -> Figures:
    if len(seconds) < 2:
        return {}
    cuts = quantiles(seconds, n=100, method="inclusive")
    return {f"{name}_p{at}_ms": round(cuts[at - 1] * 1000, 1) for at in (50, 95, 99)}


def show(report: Report) -> None:
    """The figures beside what they should be."""
    table = Table("figure", "measured", "target", title=report.benchmark)
    for name, value in report.overall.items():
        most = TARGETS.get(name)
        met = "" if most is None else f"≤ {most:g} {'✓' if value <= most else '✗'}"
        table.add_row(name, f"{value:g}", met)
    Console().print(table)
