"""Half a dozen kills of a running platform: see `bench chaos`, which kills more."""

from pathlib import Path

import pytest

from evaluation.benches.load.chaos import ChaosPlan, run_chaos
from evaluation.benches.load.servers import NoPostgresError, postgres_folder

pytestmark = pytest.mark.slow

WIKI = Path(__file__).parents[2] / "examples" / "documents" / "wiki"
KILLS = 6


def test_whatever_is_killed_each_ticket_is_walked_and_once():
    try:
        postgres_folder()
    except NoPostgresError as error:
        pytest.skip(str(error))
    plan = ChaosPlan(kills=KILLS, documents=WIKI, pause_s=0.3)
    report = run_chaos(plan, say=print)
    assert sum(report.kills.values()) == KILLS
    assert report.ok, report.model_dump_json(indent=2)
    assert report.tickets.planned > 0
