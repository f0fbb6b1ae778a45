"""What a ticket costs in several versions of the platform, taken in turns in one run.

    python tests/speed/visits.py --tickets 60 now=CHECKOUT:DATA [before=CHECKOUT:DATA ...]
    python tests/speed/visits.py --floor DATA

Each version runs embedded from its own checkout and environment on a copy of its own data folder,
into which the corpus was ingested. Tickets are those of the drawn pages (`FLOWXPERT_DATA`), in the
words of people. *First* is the first ticket of a page; *return* is the same fault again in other
words. Of each ticket: milliseconds from when it was stored to its stored workflow, and of CPU of
the whole process. The floor is what has to be done per ticket: its embedding, four searches, four
commits.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from services.deployment.embedded import Embedded
from services.kit.settings import PlatformSettings
from services.kit.sql.database import Database
from services.kit.tables import OutboxRow

DATA = Path(os.environ.get("FLOWXPERT_DATA", "../shared/data"))
START_S = 90.0
WALK_S = 60.0
SETTLE = 3
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
FLOOR_COMMITS = 4
FLOOR_SEARCHES = 2
"""In each of the two collections."""


@dataclass
class Version:
    """One version of the platform while it runs."""

    name: str
    url: str
    pid: int
    start_s: float
    visits: dict[str, list[tuple[float, float, dict[str, float]]]] = field(default_factory=dict)
    """Milliseconds of time and of CPU, and seconds of each stage, of first and return visits."""
    refused: int = 0

    def scores(self) -> str:
        """Where the scores by pages came from, of all workflows that were asked for."""
        lines = httpx.get(f"{self.url}/metrics").text.splitlines()
        name = "flowxpert_scorer_prepared_total{"
        samples = [line.removeprefix(name) for line in lines if line.startswith(name)]
        return " ".join(samples)

    def post(self, kind: str, ticket: dict[str, Any]) -> None:
        """Deliver a ticket and wait for its workflow."""
        cpu = cpu_s(self.pid)
        answer = httpx.post(f"{self.url}/workflow", json=ticket, params={"wait": 60}, timeout=90)
        receipt = answer.raise_for_status().json()
        state = httpx.get(f"{self.url}{receipt['status_url']}").json()
        came, stored = (datetime.fromisoformat(state[at]) for at in ("created_at", "updated_at"))
        wall = (stored - came).total_seconds()
        self.refused += receipt["status"] == "refused"
        stages = (receipt.get("workflow") or {}).get("seconds", {})
        cost = (wall * 1000, (cpu_s(self.pid) - cpu) * 1000, stages)
        self.visits.setdefault(kind, []).append(cost)


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process has used, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def memory_mb(pid: int) -> float:
    """What the process holds in memory."""
    line = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line
    )
    return int(line.split()[1]) / 1024


@contextlib.contextmanager
def running(name: str, checkout: Path, data: Path) -> Iterator[Version]:
    """The version on a copy of its data."""
    with (
        tempfile.TemporaryDirectory(prefix=f"speed-{name}-") as scratch,
        socket.create_server(("127.0.0.1", 0)) as probe,
    ):
        port = probe.getsockname()[1]
        probe.close()
        folder = shutil.copytree(data, Path(scratch) / "data")
        began = time.monotonic()
        command = [".venv/bin/python", "-m", "services.cli", "up"]
        process = subprocess.Popen(
            [*command, "--data-dir", str(folder), "--port", str(port)],
            cwd=checkout,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            while time.monotonic() - began < START_S:
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                        break
                time.sleep(0.05)
            yield Version(name, url, process.pid, time.monotonic() - began)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def tickets(most: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """First visits of all pages, then return visits in other words."""
    rows = [json.loads(line) for line in (DATA / "logic" / "pages.jsonl").open()]
    chosen = rows[:: max(1, len(rows) // most)][:most]
    for row in chosen:
        yield "first", dict(row["ticket"])
    for row in chosen:
        title, description = row["ticket"]["title"], row["ticket"]["description"]
        first, _, rest = description.partition(". ")
        yield "return", {"title": first[:200], "description": f"{rest} {title}, again."}


def floor(data: Path, most: int) -> dict[str, float]:
    """Milliseconds, median and 95th percentile, of what no preparation saves."""
    durations: list[float] = []
    with tempfile.TemporaryDirectory(prefix="speed-floor-") as scratch:
        folder = shutil.copytree(data, Path(scratch) / "data")
        settings = PlatformSettings(_env_file=None, data_dir=folder)
        database = Database(settings.resolved_database_url)
        with Embedded(settings) as platform:
            for number, (_, ticket) in enumerate(tickets(most)):
                began = time.perf_counter()
                text = f"{ticket['title']}\n{ticket['description']}"
                vector = platform.embedder.embed([text])[0].tolist()
                for collection in ("chunks", "nodes"):
                    for words in (text, ticket["title"])[:FLOOR_SEARCHES]:
                        platform.vectors.search(collection, vector=vector, text=words, limit=50)
                for commit in range(FLOOR_COMMITS):
                    with database.session() as session:
                        session.add(_row(f"floor:{number}:{commit}", text))
                durations.append((time.perf_counter() - began) * 1000)
        database.close()
    return _spread(durations[SETTLE:])


def _row(key: str, text: str) -> OutboxRow:
    now = time.time()
    return OutboxRow(
        key=key, task="floor", kwargs={"text": text}, due_at=now + 1e9, created_at=now, attempts=0
    )


def _spread(durations: Sequence[float]) -> dict[str, float]:
    return {"p50": round(median(durations), 1), "p95": round(quantiles(durations, n=20)[-1], 1)}


def compare(versions: Sequence[Version], most: int) -> None:
    """Post each ticket to each version in turn, the order changed with each ticket."""
    listed = list(versions)
    for number, (kind, ticket) in enumerate(tickets(most)):
        turn = number % len(listed)
        for version in (*listed[turn:], *listed[:turn]):
            version.post(kind, ticket)


def show(versions: Sequence[Version]) -> None:
    """One row a version and kind of visit; ratios are of the medians to the first version's."""
    table = Table("version", "visits", "n", "ms p50", "p95", "cpu p50", "times", "stages p50, ms")
    for version in versions:
        for kind, costs in version.visits.items():
            counted = costs[SETTLE:] if kind == "first" else costs
            wall, cpu = _spread([c[0] for c in counted]), _spread([c[1] for c in counted])
            first = median(
                c[0] for c in versions[0].visits[kind][SETTLE if kind == "first" else 0 :]
            )
            names = dict.fromkeys(name for cost in counted for name in cost[2])
            stages = {
                name: round(median(c[2][name] for c in counted if name in c[2]) * 1000, 1)
                for name in names
            }
            note = " ".join(f"{name} {value}" for name, value in stages.items())
            times = f"{wall['p50'] / first:.2f}"
            figures = (str(len(counted)), str(wall["p50"]), str(wall["p95"]), str(cpu["p50"]))
            table.add_row(version.name, kind, *figures, times, note)
        memory = f"start {version.start_s:.1f} s, {memory_mb(version.pid):.0f} MB"
        note = f"{version.refused} refused; {memory}; scores {version.scores()}"
        table.add_row(version.name, note)
    Console(width=150).print(table)


def main() -> None:
    """Read the command line and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tickets", type=int, default=60)
    parser.add_argument("--floor", type=Path)
    parser.add_argument("versions", nargs="*", metavar="NAME=CHECKOUT:DATA")
    arguments, say = parser.parse_args(), Console()
    if arguments.floor:
        say.print("floor, ms:", floor(arguments.floor, arguments.tickets))
    with contextlib.ExitStack() as stack:
        named = (each.partition("=") for each in arguments.versions)
        places = ((name, *place.partition(":")[::2]) for name, _, place in named)
        versions = [
            stack.enter_context(running(name, Path(checkout), Path(data)))
            for name, checkout, data in places
        ]
        if versions:
            compare(versions, arguments.tickets)
            show(versions)
    say.print("load of the machine:", os.getloadavg())


if __name__ == "__main__":
    main()
