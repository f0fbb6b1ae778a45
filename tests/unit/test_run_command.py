"""`flowxpert run` takes the examples' readings in, and leaves alone what people make of them."""

import json
from types import SimpleNamespace

import pytest

from services.cli.commands import _import_readings
from services.contracts.readings import ApprovalRequest, ReadingQuery
from services.knowledge.screening.document import hash_of
from services.runbook.model import as_json
from services.runbook.ports import ReadingState
from tests.readings import reading_of_list
from tests.unit.ingestion.harness import IngestionHarness

FAN = "# Fan stands still\n\n1. Look at the tray.\n2. Seat the fan.\n"
PUMP = "# Pump leaks\n\n1. Close the valve.\n2. Change the seal.\n"


@pytest.fixture
def harness(tmp_path):
    made = IngestionHarness(tmp_path)
    made.write("fan.md", FAN)
    made.write("pump.md", PUMP)
    made.ingest()
    yield made
    made.database.close()


@pytest.fixture
def run(harness, tmp_path):
    """What `run` does with readings of these pages that somebody exported."""
    file = tmp_path / "readings.jsonl"
    rows = (
        {"text_hash": hash_of(text), "reading": as_json(reading_of_list(text))}
        for text in (FAN, PUMP)
    )
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    def run():
        _import_readings(SimpleNamespace(ingestion=harness.service), file)
        return {
            each.documents[0]: each for each in harness.service.readings("ann").find(ReadingQuery())
        }

    return run


def test_the_readings_are_approved_once(run):
    first = run()
    assert {each.state for each in first.values()} == {ReadingState.APPROVED}
    assert run() == first


def test_an_approval_that_somebody_took_back_stays_back(harness, run):
    fan = run()["fan.md"].text_hash
    harness.service.readings("ann").undo(fan)
    again = run()
    assert again["fan.md"].state is ReadingState.READ
    assert again["pump.md"].state is ReadingState.APPROVED
    harness.service.readings("ann").approve(fan, ApprovalRequest(procedure=0))
    assert run()["fan.md"].state is ReadingState.APPROVED


def test_a_page_that_is_ingested_later_gets_its_reading_then(harness, run):
    (harness.root / "pump.md").unlink()
    harness.ingest()
    assert set(run()) == {"fan.md"}
    harness.write("pump.md", PUMP)
    harness.ingest()
    assert run()["pump.md"].state is ReadingState.APPROVED
