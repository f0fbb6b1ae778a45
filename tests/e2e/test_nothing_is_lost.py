"""`kill -9` in the middle of the work, again and again: nothing lost, nothing done twice."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.benches.kills.bench import run_kills
from services.deployment.embedded import Embedded
from services.kit.settings import PlatformSettings

pytestmark = pytest.mark.slow

DOCUMENTS = 60
TIMEOUT_S = 300

PARTS = ("fan", "power supply", "optic", "line card", "management port", "clock", "disk", "fabric")
FAULTS = ("fails", "reports errors", "is missing", "overheats", "flaps")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for number in range(DOCUMENTS):
        part, fault = PARTS[number % len(PARTS)], FAULTS[number % len(FAULTS)]
        (folder / f"runbook-{number:03}.md").write_text(runbook(f"{part} {number}", fault))
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One cache of vectors for all runs, and small windows, so that a kill falls between two."""
    cache = tmp_path_factory.mktemp("cache") / "vectors.db"
    return os.environ | {
        "FLOWXPERT_EMBEDDING_CACHE": str(cache),
        "FLOWXPERT_INGESTION_WINDOW_CHUNKS": "8",
        "FLOWXPERT_EMBEDDING_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def runbook(part: str, fault: str) -> str:
    return f"""# The {part} {fault}

## Symptom

An alarm says that the {part} {fault}. The other parts of the switch work.

## Check

1. Run `show {part.split(maxsplit=1)[0]} status` and look for the state of the {part}.
2. Check the log for entries about the {part} in the last hour.

## Fix

1. If the {part} is shown as absent, reseat it and wait for one minute.
2. If reseating does not help, replace the {part}.

## Escalation

Open a case with the vendor when the new {part} {fault} too.
"""


def start(environment: dict[str, str], *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "services.cli", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(10)


def wait_until(condition: Callable[[], object], process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + TIMEOUT_S
    while not condition():
        assert process.poll() is None, "it ended before"
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def scalar(data_dir: Path, statement: str) -> Any:
    """From the database as it stands on the disk; None before its tables are there."""
    file = data_dir / "flowxpert.db"
    if not file.exists():
        return None
    with contextlib.closing(sqlite3.connect(file, timeout=30)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if not {"gateway_ticket", "ingestion_document", "outbox"} <= tables:
            return None
        return connection.execute(statement).fetchone()[0]


def ingested(data_dir: Path) -> int:
    count = "SELECT count(*) FROM ingestion_document WHERE content_hash != ''"
    return scalar(data_dir, count) or 0


def kept(data_dir: Path, environment: dict[str, str]) -> dict[str, object]:
    """Everything the stores hold, in a form that can be compared."""
    cache = Path(environment["FLOWXPERT_EMBEDDING_CACHE"])
    settings = PlatformSettings(data_dir=data_dir, embedding_cache=cache)
    with Embedded(settings) as platform:
        hashes = platform.documents.hashes()
        nodes = platform.graph.of_documents(sorted(hashes))
        hits = platform.vectors.search(
            "chunks", vector=[1.0] + [0.0] * 383, text="replace", limit=10_000
        )
        return {
            "hashes": hashes,
            "nodes": {node.id: node for node in nodes},
            "node count": platform.graph.count(),
            "node points": platform.vectors.count("nodes"),
            "chunk points": platform.vectors.count("chunks"),
            "chunks": {hit.id: hit.payload for hit in hits},
        }


def test_an_ingest_that_is_killed_three_times_ends_as_one_that_is_not(
    tmp_path: Path, folder: Path, environment: dict[str, str]
) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert start(environment, "ingest", str(folder), "--data-dir", str(whole)).wait(TIMEOUT_S) == 0
    for share in (0.1, 0.3, 0.5):
        process = start(environment, "ingest", str(folder), "--data-dir", str(broken))
        wait_until(lambda share=share: ingested(broken) >= DOCUMENTS * share, process)
        kill(process)
        assert ingested(broken) < DOCUMENTS
    assert start(environment, "ingest", str(folder), "--data-dir", str(broken)).wait(TIMEOUT_S) == 0
    expected = kept(whole, environment)
    assert len(expected["hashes"]) == DOCUMENTS
    assert kept(broken, environment) == expected


@pytest.mark.parametrize("kind", ["worker", "executor"])
def test_whatever_is_killed_nothing_is_lost_done_twice_or_asked_again(kind: str) -> None:
    report = run_kills("embedded", kind, 3, away_s=1, seed=0, say=print)
    assert report.ok, report.model_dump_json(indent=2)
    assert report.runs > 0
