from collections.abc import Sequence

import pytest

from evaluation.benches.acceptance.first_screen import Screen, TicketWalk
from services.contracts.retrieval import RetrievedContext, RetrieveRequest
from services.contracts.ticket import Fit, TicketDraft
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Chunk, RetrievedChunk, Span
from services.planner.service import PlannerService
from services.scorer.service import ScorerService
from services.tickets.walk.fit import Thresholds
from tests.unit.evaluation.walks import TEXTS, page, workflow

TICKET = TicketDraft(source="test", external_id="1", title="Fan tray failed", description="")
THRESHOLDS = Thresholds(sure_from=0.8, unsure_from=0.4)


class Shelf:
    """Retrieval that finds both pages, this surely. Implements `contracts.retrieval.Retrieval`."""

    def __init__(self, confidence: float) -> None:
        self.confidence = confidence

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        texts = TEXTS if request.title else {}
        chunks = [passage(name, 0.9 - 0.2 * n) for n, name in enumerate(texts)]
        pages = [
            page(hit.chunk.span.document_id, hit.score).model_copy(
                update={"text": TEXTS[hit.chunk.span.document_id]}
            )
            for hit in chunks
        ]
        return RetrievedContext(
            chunks=tuple(chunks), pages=tuple(pages), confidence=self.confidence
        )


def passage(name: str, score: float) -> RetrievedChunk:
    lines = TEXTS[name].splitlines()
    chunk = Chunk(
        id=name,
        span=Span(document_id=name, start_line=3, end_line=len(lines)),
        heading_path=(lines[0].removeprefix("# "),),
        text="\n".join(lines[2:]),
    )
    return RetrievedChunk(chunk=chunk, score=score)


def screen(confidence: float) -> Screen:
    scorer = ScorerService(HashingEmbedder())
    return TicketWalk(Shelf(confidence), PlannerService(), scorer, THRESHOLDS).screen(TICKET)


def near(*names: str) -> Sequence[RetrievedChunk]:
    return [passage(name, 0.5) for name in names]


def test_where_nothing_comes_near_the_closest_pages_are_named_and_none_is_shown():
    text = screen(0.1).text()
    assert text.startswith("Nothing that is known treats this fault")
    assert "* fan.md › Fan tray failed (from line 3)" in text
    assert "===" not in text


def test_where_it_is_not_sure_the_nearest_pages_stand_above_the_best_one():
    text = screen(0.5).text()
    assert text.startswith("Closest known pages")
    assert text.index("* fan.md") < text.index("* bgp.md") < text.index("=== fan.md ===")
    assert "    - Read the fan speeds." in text


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_each_line_of_a_page_says_where_it_stands(confidence):
    lines = screen(confidence).text().splitlines()
    (pushing,) = (line for line in lines if line.endswith("- Push the tray in.") and " | " in line)
    assert pushing.startswith("   5 | ")


def test_a_page_that_surely_fits_stands_alone():
    text = Screen(Fit.SURE, near("fan.md", "bgp.md"), workflow("fan.md")).text()
    assert "bgp.md" not in text
    assert "1. DO: Read the fan speeds.  [lines 3]" in text


def test_the_page_that_is_shown_is_the_first_of_the_three():
    text = Screen(Fit.UNSURE, near("bgp.md", "fan.md"), workflow("fan.md")).text()
    assert text.index("* fan.md") < text.index("* bgp.md")
