"""Ranking: alerts and what people write weigh signals in their own way."""

import pytest

from services.contracts.retrieval import RetrieveRequest
from services.retrieval.calibration import Calibration
from services.retrieval.candidates import Candidates, ScoredPoint
from services.retrieval.fusion import rank_documents
from services.retrieval.query import read_query


def chunk(document_id, heading, text, meaning):
    payload = {"span": {"document_id": document_id}, "heading_path": [heading], "text": text}
    return ScoredPoint(f"{document_id}:1", payload, meaning, 0.0)


CANDIDATES = Candidates(
    chunks={
        point.id: point
        for point in (
            chunk("titled.md", "Fan Tray Failed", "Read the label first.", 0.5),
            chunk("told.md", "Cooling", "fan tray failed after the inlet grew hot", 0.5),
        )
    },
    nodes={},
    named={},
)


def ranked(**fields):
    query = read_query(RetrieveRequest(**fields))
    order = Calibration.shipped().of(is_alert=query.is_alert).order
    return rank_documents(query, CANDIDATES, order).documents


def test_for_an_alert_a_title_like_its_name_counts():
    assert ranked(alert_name="FanTrayFailed")[0].document_id == "titled.md"


def test_for_what_people_write_the_text_of_a_page_counts():
    best = ranked(title="Inlet grew hot", description="The fan tray failed after that.")[0]
    assert best.document_id == "told.md"


def test_a_score_is_a_share():
    for each in ranked(title="fan tray failed after the inlet grew hot"):
        assert 0 <= each.score <= 1


@pytest.mark.parametrize("is_alert", [True, False])
def test_no_signal_speaks_against_a_document(is_alert):
    weights = Calibration.shipped().of(is_alert=is_alert).order.weights.values()
    assert min(weights) >= 0
    assert sum(weights) > 0
