"""Whether two states of the code answer the same tickets with the same bytes.

`answers.py --out new.json [--compare old.json] [--repository CHECKOUT]` starts the platform of a
checkout on a fresh data folder through its command line, ingests the examples and some pages of
FLOWXPERT_DATA, posts 60 tickets one after another and keeps all that the API tells of them. Only
what every release has is used: commands and addresses. Ids, times and durations are taken out.

The embedded vector store adds the parts of a score in an order that changes from start to start,
which moves scores by up to 2e-8 of their size. Numbers are therefore compared to 1e-6, everything
else byte for byte; fingerprints are of numbers rounded to three places.
"""

import argparse
import hashlib
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("FLOWXPERT_DATA", ROOT.parent / "shared" / "data"))
TICKETS = 60
UNKNOWN_EVERY = 4
"""Of every so many drawn pages with a ticket one stays out: nothing surely fits its ticket."""
OTHERS_EVERY = 16
"""Of all further pages of the corpus one of so many is ingested, as a haystack."""
WAIT_S = 120
TOLERANCE = 1e-6
PASSING = {"seconds", "url", "status_url", "workflow_url"}
"""What is of the run and not of the answer, beside ids and times."""

Json = Any


def drawn_rows(count: int) -> list[Json]:
    """Tickets with the page that treats each, evenly over the file."""
    lines = (DATA / "logic" / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(lines[place * len(lines) // count]) for place in range(count)]


def collect_pages(rows: list[Json], folder: Path) -> None:
    """Copy the pages that are ingested."""
    drawn = {row["doc"] for row in rows}
    unknown = {row["doc"] for row in rows[::UNKNOWN_EVERY]}
    corpus = DATA / "corpus"
    pages = sorted(path.relative_to(corpus).as_posix() for path in corpus.rglob("*.md"))
    haystack = [page for page in pages if page not in drawn][::OTHERS_EVERY]
    for page in [*sorted(drawn - unknown), *haystack]:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(corpus / page, folder / page)


def tickets(examples: Path, rows: list[Json]) -> Iterator[tuple[str, str, Json]]:
    """Name, webhook and body of each."""
    for path in sorted(examples.glob("alerts/*/*.json")):
        body = json.loads(path.read_text(encoding="utf-8"))
        yield f"{path.parent.name}/{path.name}", f"/workflow/{path.parent.name}", body
    for number, row in enumerate(rows):
        yield row["doc"], "/workflow/generic", row["ticket"] | {"external_id": f"drawn-{number}"}


class Checkout:
    """The platform of a checkout, used from outside."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.repository = repository.resolve()
        self.folder = folder
        own = {name: value for name, value in os.environ.items() if "FLOWXPERT" not in name}
        self.environment = own | {"PYTHONPATH": str(self.repository), "OMP_NUM_THREADS": "1"}

    def command(self, *arguments: str) -> list[str]:
        """A command on the data folder."""
        return [sys.executable, "-m", "services.cli", *arguments, "--data-dir", str(self.folder)]

    def run(self, *arguments: str) -> None:
        """Run a command to its end."""
        subprocess.run(
            self.command(*arguments),
            cwd=self.repository,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )

    @contextmanager
    def up(self) -> Iterator[httpx.Client]:
        """Serve and work; a client of it."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        serving = subprocess.Popen(
            self.command("up", "--host", "127.0.0.1", "--port", str(port)),
            cwd=self.repository,
            env=self.environment,
            stdout=subprocess.DEVNULL,
        )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=WAIT_S + 30) as client:
                _wait_for(client, serving)
                yield client
        finally:
            serving.send_signal(signal.SIGINT)
            serving.wait(60)


def _wait_for(client: httpx.Client, serving: "subprocess.Popen[bytes]") -> None:
    while serving.poll() is None:
        try:
            client.get("/v1/tickets", params={"limit": 1}).raise_for_status()
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"the platform ended with {serving.returncode}")


def answer(client: httpx.Client, path: str, body: Json) -> Json:
    """All that is told of a ticket once its walk is over."""
    posted = client.post(path, params={"wait": WAIT_S}, json=body)
    if posted.status_code != 200:
        raise SystemExit(f"{path}: {posted.status_code} {posted.text}")
    found = []
    for ticket in posted.json()["tickets"]:
        detail = client.get(f"/v1/tickets/{ticket['id']}").raise_for_status().json()
        workflows = [
            client.get(f"/v1/workflows/{each['id']}").raise_for_status().json()
            for each in detail["candidates"]
        ]
        found.append({"ticket": detail, "workflows": workflows})
    return found


def without_passing(told: Json, ids: dict[str, str]) -> Json:
    """The same without times and durations, and with the ids of this run numbered."""
    if isinstance(told, dict):
        return {
            name: without_passing(value, ids)
            for name, value in told.items()
            if name not in PASSING and not name.endswith("_at")
        }
    if isinstance(told, list):
        return [without_passing(value, ids) for value in told]
    return ids.get(told, told) if isinstance(told, str) else told


def ids_of(answers: dict[str, Json]) -> dict[str, str]:
    """Names for the ids of tickets and workflows that do not change from run to run."""
    ids = {}
    for name, found in answers.items():
        for place, each in enumerate(found, 1):
            ids[each["ticket"]["id"]] = f"{name} {place}"
            for question in each["ticket"]["clarifications"]:
                ids[question["id"]] = f"{name} {place}, question {question['turn']}"
            for workflow in each["workflows"]:
                ids[workflow["id"]] = f"{name} {place}, rank {workflow['rank']}"
    return ids


def collect_answers(repository: Path) -> dict[str, Json]:
    """The answers of a checkout by the ticket's name."""
    rows = drawn_rows(TICKETS - len(list((ROOT / "examples").glob("alerts/*/*.json"))))
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "pages")
        collect_pages(rows, pages)
        checkout = Checkout(repository, Path(folder, "data"))
        checkout.run("ingest", str(ROOT / "examples" / "documents"))
        checkout.run("ingest", str(pages))
        checkout.run("readings", "import", str(ROOT / "examples" / "readings.jsonl"), "--approve")
        with checkout.up() as client:
            answers = {
                name: answer(client, path, body)
                for name, path, body in tickets(ROOT / "examples", rows)
            }
    ids = ids_of(answers)
    return {name: without_passing(found, ids) for name, found in answers.items()}


def differences(before: Json, now: Json, where: str = "") -> Iterator[str]:
    """The fields that differ, each with both values."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted(before.keys() | now.keys()):
            yield from differences(before.get(name), now.get(name), f"{where}.{name}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for place, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{where}[{place}]")
    elif isinstance(before, float) and isinstance(now, float):
        if not math.isclose(before, now, rel_tol=TOLERANCE):
            yield f"{where}: {before} -> {now}"
    elif before != now:
        yield f"{where}: {_shortly(before)} -> {_shortly(now)}"


def _shortly(value: Json) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def fingerprint(value: Json) -> str:
    """Of the JSON with its keys in order and its numbers rounded."""
    value = json.loads(json.dumps(value), parse_float=lambda number: round(float(number), 3))
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def compare(before: dict[str, Json], now: dict[str, Json]) -> int:
    """Print what differs; the number of tickets that do."""
    different = 0
    for name in sorted(before.keys() | now.keys()):
        lines = list(differences(before.get(name), now.get(name)))
        different += bool(lines)
        for line in lines:
            _print(f"differs: {name} {line}")
    _print(f"{different} of {len(before)} tickets differ")
    return different


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", type=Path, default=ROOT, help="whose code answers")
    parser.add_argument("--out", type=Path, required=True, help="JSON file for the answers")
    parser.add_argument("--compare", type=Path, help="answers that these should equal")
    given = parser.parse_args()
    started = time.monotonic()
    answers = collect_answers(given.repository)
    given.out.write_text(json.dumps(answers, sort_keys=True, indent=1), encoding="utf-8")
    for name, found in answers.items():
        _print(f"{fingerprint(found)[:16]}  {name}")
    _print(f"{fingerprint(answers)}  all, in {time.monotonic() - started:.0f} s")
    if given.compare and compare(json.loads(given.compare.read_text(encoding="utf-8")), answers):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
