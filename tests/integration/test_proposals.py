"""`flowxpert proposals` as people and programs call it, on a folder that no platform runs on."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from services.deployment.embedded import Embedded
from services.ingestion.offline import open_proposals_here
from services.kit.settings import PlatformSettings
from tests import command
from tests.unit.ingestion.proposing import TEXT, page, run


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """With one page that waits."""
    settings = PlatformSettings(_env_file=None, data_dir=tmp_path / "data")
    with open_proposals_here(settings) as proposals:
        proposals.propose(page(runs=(run(),)))
    return settings.data_dir


def flowxpert(data_dir: Path, *arguments: str) -> command.Done:
    return command.flowxpert("proposals", *arguments, "--data-dir", str(data_dir), COLUMNS="200")


def run_json(data_dir: Path, *arguments: str) -> Any:
    done = flowxpert(data_dir, *arguments, "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def test_a_page_is_listed_shown_accepted_and_withdrawn(data_dir: Path, tmp_path: Path) -> None:
    (row,) = run_json(data_dir, "list", "--state", "proposed")
    listed = flowxpert(data_dir, "list").stdout
    assert "one run: one path seen" in listed
    assert row["id"].rpartition("-")[0] in listed
    shown = flowxpert(data_dir, "show", row["document_id"]).stdout
    assert "   5 1. Check the pressure at the manifold." in shown
    assert "Is the filter clogged?" in shown
    assert "t1 PumpPressureDown: recovered" in shown
    edited = tmp_path / "edited.md"
    edited.write_text(TEXT.replace("replace the filter", "clean the filter"))
    refused = flowxpert(data_dir, "accept", row["id"], "--text", str(edited))
    assert refused.returncode == 2
    assert "Replace the filter" in refused.stderr
    edited.write_text(TEXT + "\nSeen in June.\n")
    taken = run_json(data_dir, "accept", row["id"], "--text", str(edited))
    assert (taken["state"], taken["decided_by"], taken["original"]) == ("accepted", "local", TEXT)
    again = flowxpert(data_dir, "reject", row["id"], "--json")
    assert json.loads(again.stdout)["error"] == "DecidedProposalError"
    gone = run_json(data_dir, "withdraw", row["document_id"], "--why", "it was the valve")
    assert (gone["state"], gone["why"]) == ("withdrawn", "it was the valve")
    missing = flowxpert(data_dir, "accept", row["id"], "--text", str(tmp_path / "none"))
    assert (missing.returncode, len(missing.stderr.splitlines())) == (2, 1)


def test_what_was_accepted_without_a_platform_is_a_document_once_one_runs(data_dir: Path) -> None:
    (row,) = run_json(data_dir, "list")
    run_json(data_dir, "accept", row["id"])
    settings = PlatformSettings(_env_file=None, data_dir=data_dir)
    with Embedded(settings) as platform:
        platform.start()
        deadline = time.monotonic() + 60
        while platform.outbox.counts()["waiting"] and time.monotonic() < deadline:
            time.sleep(0.1)
        document = platform.documents.get(row["document_id"])
    assert document is not None
    assert document.for_person().front_matter == {"learned_from": "1"}
    done = command.flowxpert("roots", "--data-dir", str(data_dir))
    assert "accepted pages" in done.stdout
    again = command.flowxpert("ingest", "accepted pages", "--data-dir", str(data_dir))
    assert "1 unchanged" in again.stdout + again.stderr
    refused = command.flowxpert("forget", "accepted pages", "--yes", "--data-dir", str(data_dir))
    assert "withdrawn" in refused.stderr
