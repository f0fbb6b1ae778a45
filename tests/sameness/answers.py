"""Compare what two states of the code answer to the same tickets, byte for byte.

`answers.py --out new.json [--compare old.json] [--repository CHECKOUT] [--model]` starts the
platform of a checkout on a fresh data folder through its command line, ingests the examples and
some pages of FLOWXPERT_DATA, posts 200 tickets one after another and keeps what the API, the MCP
tools and each text format say of them. With `--model` a server that answers by JSON schema is the
model, and each prompt as it was sent is kept too. Only what every release has is used: commands and
addresses. Ids, times and durations are taken out.

The embedded vector store adds the parts of a score in an order that changes from start to start,
which moves scores by up to 2e-8 of their size. Numbers are therefore compared to 1e-6, everything
else byte for byte; fingerprints are of numbers rounded to three places.
"""

import argparse
import hashlib
import json
import math
import os
import re
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
TICKETS = 200
UNKNOWN_EVERY = 4
"""Of every so many drawn pages with a ticket one stays out: nothing surely fits its ticket."""
OTHERS_EVERY = 16
"""Of all further pages of the corpus one of so many is ingested, as a haystack."""
WAIT_S = 120
TOLERANCE = 1e-6
PASSING = {"seconds", "url", "status_url", "workflow_url"}
"""Fields of the run and not of the answer, beside ids and times."""
PASSING_TEXT = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32}\b|\d{4}-\d\d-\d\d[T ][\d:.]+|\?v=\w+"
    r"|/tmp/\w+|data-after=\"\d+\""
    r"|\b[\d.]+ (?:ms|s|min|seconds?|minutes?)\b|\b\d\d:\d\d(?::\d\d)?\b"
)
"""Ids, times, numbers of events and folders of a run within a text."""
FORMATS = ("mermaid", "text", "markdown")
SCHEMA_SERVER = Path(__file__).parents[1] / "servers" / "schema_openai.py"

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

    def __init__(self, repository: Path, folder: Path, model: dict[str, str] | None = None) -> None:
        self.repository = repository.resolve()
        self.folder = folder
        own = {name: value for name, value in os.environ.items() if "FLOWXPERT" not in name}
        self.environment = own | {"PYTHONPATH": str(self.repository), "OMP_NUM_THREADS": "1"}
        self.environment |= model or {}

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


def _wait_until_idle(client: httpx.Client) -> None:
    """Wait until the outbox is seen empty five times: what a task puts next is seen late."""
    until, empty = time.monotonic() + 10 * WAIT_S, 0
    while empty < 5:
        if time.monotonic() > until:
            raise SystemExit(f"tasks are left after {10 * WAIT_S} s")
        metrics = client.get("/metrics").raise_for_status().text
        waiting = re.search(
            r'^flowxpert_queue_outbox_tasks\{state="waiting"\} (\S+)', metrics, re.MULTILINE
        )
        empty = empty + 1 if waiting and float(waiting[1]) == 0 else 0
        time.sleep(1)


def post(client: httpx.Client, path: str, body: Json) -> list[str]:
    """The ids of the tickets of an alert, once their walk is over."""
    posted = client.post(path, params={"wait": WAIT_S}, json=body)
    if posted.status_code != 200:
        raise SystemExit(f"{path}: {posted.status_code} {posted.text}")
    return [ticket["id"] for ticket in posted.json()["tickets"]]


def records_of(client: httpx.Client, ticket_ids: list[str]) -> Json:
    """All that is told of these tickets."""
    records = []
    for ticket_id in ticket_ids:
        detail = client.get(f"/v1/tickets/{ticket_id}").raise_for_status().json()
        workflows = [
            client.get(f"/v1/workflows/{each['id']}").raise_for_status().json()
            for each in detail["candidates"]
        ]
        texts = {
            form: client.get(f"/v1/workflows/{each['id']}", params={"format": form})
            .raise_for_status()
            .text
            for each in detail["candidates"][:1]
            for form in FORMATS
        }
        records.append({"ticket": detail, "workflows": workflows, "texts": texts})
    return records


def tool_answers(client: httpx.Client, name: str, arguments: Json) -> Json:
    """Call an MCP tool as a client without a session does."""
    headers = {"Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    called = client.post(
        "/mcp", headers=headers, json=body | {"params": {"name": name, "arguments": arguments}}
    )
    text = called.text
    return json.loads(text[text.index("{") :]) if "{" in text else text


@contextmanager
def schema_model(folder: Path) -> Iterator[tuple[dict[str, str], Path]]:
    """A model that answers by schema: the settings that name it, and the log of its prompts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "prompts.jsonl"
    log.touch()
    server = subprocess.Popen([sys.executable, str(SCHEMA_SERVER), str(port), str(log)])
    try:
        url = f"http://127.0.0.1:{port}/v1"
        yield {"FLOWXPERT_MODEL_URL": url, "FLOWXPERT_MODEL_NAME": "by-schema"}, log
    finally:
        server.terminate()
        server.wait(10)


def without_passing(node: Json, ids: dict[str, str]) -> Json:
    """The same without times and durations, and with the ids of this run numbered."""
    if isinstance(node, dict):
        return {
            name: without_passing(value, ids)
            for name, value in node.items()
            if name not in PASSING and not name.endswith("_at")
        }
    if isinstance(node, list):
        return [without_passing(value, ids) for value in node]
    return ids.get(node, node) if isinstance(node, str) else node


def _visible(page: str) -> list[str]:
    """Lines of an HTML page that hold something."""
    return [line.strip() for line in page.splitlines() if line.strip()]


def ids_of(answers: dict[str, Json]) -> dict[str, str]:
    """Names for the ids of tickets and workflows that do not change from run to run."""
    ids = {}
    for name, records in answers.items():
        for place, each in enumerate(records, 1):
            ids[each["ticket"]["id"]] = f"{name} {place}"
            for question in each["ticket"]["clarifications"]:
                ids[question["id"]] = f"{name} {place}, question {question['turn']}"
            for workflow in each["workflows"]:
                ids[workflow["id"]] = f"{name} {place}, rank {workflow['rank']}"
    return ids


def collect_answers(repository: Path, *, has_model: bool) -> dict[str, Json]:
    """The answers of a checkout by the ticket's name."""
    rows = drawn_rows(TICKETS - len(list((ROOT / "examples").glob("alerts/*/*.json"))))
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "pages")
        collect_pages(rows, pages)
        if not has_model:
            return _answers_of(Checkout(repository, Path(folder, "data")), pages, rows)
        with schema_model(Path(folder)) as (model, log):
            answers = _answers_of(Checkout(repository, Path(folder, "data"), model), pages, rows)
            prompts = sorted(set(log.read_text().splitlines()))
        kept = {hashlib.sha256(each.encode()).hexdigest()[:16]: each[:300] for each in prompts}
        return answers | {"prompts": kept}


def _answers_of(checkout: Checkout, pages: Path, rows: list[Json]) -> dict[str, Json]:
    checkout.run("ingest", str(ROOT / "examples" / "documents"))
    checkout.run("ingest", str(pages))
    checkout.run("readings", "import", str(ROOT / "examples" / "readings.jsonl"), "--approve")
    tools = {}
    with checkout.up() as client:
        posted = {
            name: post(client, path, body) for name, path, body in tickets(ROOT / "examples", rows)
        }
        _wait_until_idle(client)  # a model that chooses another page has a ticket walked again
        answers = {name: records_of(client, ids) for name, ids in posted.items()}
        for name, each in list(answers.items())[::20]:
            ticket_id = each[0]["ticket"]["id"]
            tools[f"{name}, by MCP"] = tool_answers(
                client, "get_workflow", {"ticket_id": ticket_id}
            )
            tools[f"{name}, its page"] = _visible(client.get(f"/tickets/{ticket_id}").text)
        tools["search by MCP"] = tool_answers(client, "search_knowledge", {"query": "disk full"})
        for path in ("/v1/readings", "/v1/documents"):
            tools[path] = client.get(path).json()
    ids = ids_of(answers)
    return {name: without_passing(each, ids) for name, each in (answers | tools).items()}


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
    elif isinstance(before, str) and isinstance(now, str):
        before, now = PASSING_TEXT.sub("*", before), PASSING_TEXT.sub("*", now)
        if before != now:
            yield f"{where}: {_shortly(before)} -> {_shortly(now)}"
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
    parser.add_argument("--model", action="store_true", help="with a model that answers by schema")
    arguments = parser.parse_args()
    started = time.monotonic()
    answers = collect_answers(arguments.repository, has_model=arguments.model)
    arguments.out.write_text(json.dumps(answers, sort_keys=True, indent=1), encoding="utf-8")
    for name, records in answers.items():
        _print(f"{fingerprint(records)[:16]}  {name}")
    _print(f"{fingerprint(answers)}  all, in {time.monotonic() - started:.0f} s")
    if arguments.compare and compare(
        json.loads(arguments.compare.read_text(encoding="utf-8")), answers
    ):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
