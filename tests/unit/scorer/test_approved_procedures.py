from datetime import UTC, datetime

import pytest

from services.contracts.planner import Candidate
from services.contracts.retrieval import PageReading
from services.contracts.scorer import ScoreRequest
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import KnowledgeContext
from services.runbook.evidence.fact import Fact, FactKind
from services.runbook.lowering import lower
from services.runbook.model import Procedure, Reader, Reading
from services.runbook.ports import Approval, ApprovalKind, ServedReading
from services.scorer.approved_procedures import BY_APPROVED, CONTRADICTED, STATED
from services.scorer.service import ScorerService
from services.workflow.model import StepKind, Workflow
from tests.unit.runbook.programs import do, procedure
from tests.unit.scorer.cases import TICKET
from tests.unit.scorer.fan_page import (
    BLOW,
    LOOSE,
    PAGE,
    PROCEDURE,
    PUSH,
    READ,
    RIGHT,
    TEXT,
    UNDECIDED,
    VERIFY,
    cited,
    drawn,
    step,
)


def page(*procedures: Procedure, approved: tuple[bool, ...] = (True,)) -> PageReading:
    vouched = Approval(by="ann", at=datetime(2026, 1, 1, tzinfo=UTC))
    served = ServedReading(
        reading=Reading(reader=Reader.PERSON, procedures=procedures),
        approvals=tuple(vouched if each else None for each in approved),
    )
    return PageReading(document_id=PAGE, title="Fan stands still", served=served, text=TEXT)


def decided(workflow: Workflow, page_reading: PageReading) -> dict[Fact, tuple[float, str]]:
    request = ScoreRequest(
        ticket=TICKET,
        context=KnowledgeContext(),
        pages=(page_reading,),
        candidates=(Candidate(id="x", workflow=workflow),),
    )
    (case,) = ScorerService(HashingEmbedder(), fitted=UNDECIDED).cases(request)
    return {each.fact: (each.chance, each.by) for each in case.decided}


def verdict(workflow: Workflow, fact: Fact) -> float | None:
    """What the approved procedure says; None where the lines decide."""
    chance, by = decided(workflow, page(PROCEDURE))[fact]
    return chance if by == BY_APPROVED else None


def test_the_approved_drawing_itself_is_right_in_all_its_facts():
    decisions = decided(lower(PROCEDURE, PAGE), page(PROCEDURE))
    assert decisions
    assert set(decisions.values()) == {(STATED, BY_APPROVED)}


def test_what_is_approved_as_a_checklist_alone_decides_nothing():
    checked = page(PROCEDURE)
    (approval,) = checked.served.approvals
    boxes = approval.model_copy(update={"kind": ApprovalKind.CHECKLIST})
    served = checked.served.model_copy(update={"approvals": (boxes,)})
    alone = checked.model_copy(update={"served": served})
    decisions = decided(lower(PROCEDURE, PAGE), alone)
    assert BY_APPROVED not in {by for _, by in decisions.values()}


def test_the_same_in_other_words_and_under_other_ids_is_as_right():
    decisions = decided(RIGHT, page(PROCEDURE))
    assert set(decisions.values()) == {(STATED, BY_APPROVED)}


@pytest.mark.parametrize(
    ("answers", "chance"), [(("Yes", "No"), STATED), (("No", "Yes"), CONTRADICTED)]
)
def test_a_guard_is_right_on_the_approved_answer_and_wrong_on_the_other(answers, chance):
    yes, no = answers
    workflow = drawn(RIGHT.steps, ("a", "q"), ("q", "b", yes), ("q", "c", no), ("b", "c"))
    assert verdict(workflow, Fact(FactKind.GUARD, "b", "q", yes.casefold())) == chance
    assert verdict(workflow, Fact(FactKind.ARROW, "q", "c", no.casefold())) == chance


def test_a_question_that_is_asked_the_other_way_round_is_the_same_question():
    negated = LOOSE.model_copy(update={"text": "Is the tray not loose?"})
    workflow = drawn(
        (READ, negated, PUSH, BLOW), ("a", "q"), ("q", "b", "No"), ("q", "c", "Yes"), ("b", "c")
    )
    assert verdict(workflow, Fact(FactKind.GUARD, "b", "q", "no")) == STATED


def test_a_step_that_is_freed_of_its_condition_is_wrong():
    workflow = drawn((READ, PUSH, BLOW), ("a", "b"), ("b", "c"))
    assert verdict(workflow, Fact(FactKind.FREE, "b")) == CONTRADICTED
    assert verdict(workflow, Fact(FactKind.FREE, "c")) == STATED


def test_a_condition_that_nobody_has_approved_is_wrong():
    workflow = drawn(
        RIGHT.steps, ("a", "q"), ("q", "b", "Yes"), ("q", "d", "No"), ("b", "c"), ("c", "d")
    )
    assert verdict(workflow, Fact(FactKind.GUARD, "c", "q", "yes")) == CONTRADICTED


def test_an_invented_question_about_a_plain_step_is_wrong():
    invented = step("x", "Are there any birds in the server room?", 5, StepKind.DECISION)
    workflow = drawn(
        (READ, invented, BLOW, VERIFY), ("a", "x"), ("x", "c", "Yes"), ("x", "d", "No"), ("c", "d")
    )
    assert verdict(workflow, Fact(FactKind.QUESTION, "x")) == CONTRADICTED
    assert verdict(workflow, Fact(FactKind.GUARD, "c", "x", "yes")) == CONTRADICTED


def test_an_arrow_over_a_step_that_is_left_out_is_left_to_the_lines():
    workflow = drawn((READ, BLOW, VERIFY), ("a", "c"), ("c", "d"))
    assert verdict(workflow, Fact(FactKind.ARROW, "a", "c")) is None
    assert verdict(workflow, Fact(FactKind.ARROW, "c", "d")) == STATED


def test_an_arrow_past_a_step_that_is_there_is_wrong():
    workflow = drawn((READ, BLOW, VERIFY), ("a", "d"), ("d", "c"))
    assert verdict(workflow, Fact(FactKind.ARROW, "d", "c")) == CONTRADICTED
    assert verdict(workflow, Fact(FactKind.ARROW, "a", "d")) == CONTRADICTED


def test_an_end_before_the_page_ends_is_wrong():
    short = drawn((READ, BLOW), ("a", "c"))
    assert verdict(short, Fact(FactKind.END, "c")) == CONTRADICTED
    assert verdict(RIGHT, Fact(FactKind.END, "d")) == STATED


def test_what_nobody_has_approved_decides_nothing():
    decisions = decided(RIGHT, page(PROCEDURE, approved=(False,)))
    assert decisions
    assert BY_APPROVED not in {by for _, by in decisions.values()}


def test_of_several_procedures_the_approved_one_that_the_drawing_follows_decides():
    other = procedure(do("Paint the rack", 5), title="FanTrayFailed")
    decisions = decided(RIGHT, page(other, PROCEDURE, approved=(True, True)))
    assert set(decisions.values()) == {(STATED, BY_APPROVED)}


def test_steps_of_another_page_are_not_matched_by_their_line_numbers():
    strange = PUSH.model_copy(update={"citations": cited(4, "other.md")})
    workflow = drawn((READ, strange, BLOW), ("a", "b"), ("b", "c"))
    assert verdict(workflow, Fact(FactKind.FREE, "b")) is None
