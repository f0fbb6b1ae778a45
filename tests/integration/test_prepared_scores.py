"""What is looked up is what would be judged beside all other candidates, for real pages."""

import os
from pathlib import Path

import pytest

from evaluation.material.gold_pages import page_of_corpus
from evaluation.material.logic_rows import read_rows
from evaluation.material.page_contexts import PageContexts
from evaluation.material.requests import plan_request, score_request
from services.kit.migrations import ROOMS
from services.kit.sql.database import Database
from services.knowledge.embedding.embedders import HashingEmbedder
from services.planner.service import PlannerService
from services.runbook.store.sql_scoring import SqlPreparedStore
from services.scorer.service import ScorerService

DATA = Path(os.environ.get("FLOWXPERT_DATA", Path(__file__).parents[3] / "shared" / "data"))
ROWS = DATA / "logic" / "pages.jsonl"
LEAST = 60

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ROWS.exists(), reason=f"no pages at {ROWS}: set FLOWXPERT_DATA"),
]


def test_prepared_and_direct_agree_to_the_third_decimal():
    database = Database.memory()
    database.migrate(*ROOMS)
    store = SqlPreparedStore(database)
    first, later, direct = (
        ScorerService(HashingEmbedder(), prepared=each) for each in (store, store, None)
    )
    pages = PageContexts(page_of_corpus(DATA / "corpus"), HashingEmbedder())
    rows = [row for row in read_rows(ROWS) if row.reference][::3]
    compared = 0
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        context = pages.context(row.draft, [row, other])
        candidates = PlannerService().plan(plan_request(row.draft, context)).candidates
        request = score_request(row.draft, context, candidates)
        made, kept, anew = (
            first._look_up(request),
            later._look_up(request),
            direct._score_by_pages(request),
        )
        assert made is not None
        assert kept == made
        for one, another in zip(made, anew, strict=True):
            assert one.said == another.said
            assert one.rests == another.rests
            for name, dimension in one.dimensions.items():
                assert dimension.value == pytest.approx(another.dimensions[name].value, abs=5e-4)
                assert dimension.reason == another.dimensions[name].reason
        compared += bool(candidates)
    assert compared >= LEAST
