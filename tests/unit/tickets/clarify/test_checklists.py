"""A page whose decisions nobody has read: no branch of it is asked about or settled."""

import pytest

from services.contracts.planner import Candidate
from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import DIMENSIONS, Dimension, Score, ScoredCandidate
from services.tickets.clarify.dialogue import Dialogue, mark_settled
from services.tickets.clarify.question_selection import rank_questions
from services.tickets.ticket.question import DecisionAnswer
from services.workflow.model import WorkflowKind
from tests.unit.tickets.clarify.charts import DISK

DRAWN = DISK.model_copy(
    update={"provenance": DISK.provenance.model_copy(update={"kind": WorkflowKind.CHECKLIST})}
)
"""A page that draws its decisions itself."""
FULL = Dialogue(
    facts=(DecisionAnswer(decision="Is the log partition full?", answer="Yes", said="Yes, it is"),)
)


@pytest.mark.parametrize(("workflow", "asks"), [(DISK, True), (DRAWN, False)])
def test_branches_are_asked_about_while_a_reading_is_shown(workflow, asks):
    open_questions = rank_questions(
        workflow, RetrievedContext(confidence=0.9), Dialogue(), least_gain=0.5
    )
    assert bool(open_questions) is asks


@pytest.mark.parametrize(("workflow", "settled"), [(DISK, {"Yes"}), (DRAWN, set())])
def test_an_answer_settles_no_decision_of_a_page_as_it_is(workflow, settled):
    score = Score(**{name: Dimension(value=4, reason="x") for name in DIMENSIONS})
    ranked = [ScoredCandidate(candidate=Candidate(id="c", workflow=workflow), score=score)]
    (best,) = mark_settled(ranked, FULL)
    assert {s.settled for s in best.candidate.workflow.steps if s.settled} == settled
