import pytest

from services.runbook.evidence.conditions import ConditionForests, conditions_of
from services.runbook.evidence.fact import Forests, score_facts
from services.runbook.evidence.facts import facts_of
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages
from services.scorer import cases
from services.scorer.cases import DecidedFacts, PageFacts
from tests.unit.runbook.evidence.fan import PAGE, RIGHT, SWAPPED, TEXT, UNCONDITIONAL

FORESTS, DOUBTING = Forests.shipped(), ConditionForests.shipped()


def decide_anew(drawn: GroundedWorkflow) -> DecidedFacts:
    """Said anew."""
    facts = facts_of(drawn)
    return DecidedFacts(tuple(score_facts(facts, FORESTS)), conditions_of(drawn, facts, DOUBTING))


@pytest.fixture
def decided_drawings(monkeypatch: pytest.MonkeyPatch) -> list[GroundedWorkflow]:
    """The drawings that were decided anew."""
    drawings: list[GroundedWorkflow] = []

    def noted(drawn: GroundedWorkflow) -> object:
        drawings.append(drawn)
        return facts_of(drawn)

    monkeypatch.setattr(cases, "facts_of", noted)
    return drawings


def again(
    drawn: GroundedWorkflow, text: str = TEXT, commands: tuple[str, ...] = ()
) -> GroundedWorkflow:
    """The same drawing for another ticket, of a page of that text."""
    steps = tuple(s.model_copy(update={"commands": commands}) for s in drawn.workflow.steps)
    pages = CitedPages({"other.md": "# Other page", PAGE: text})
    return GroundedWorkflow(drawn.workflow.model_copy(update={"steps": steps}), pages)


@pytest.mark.parametrize("drawn", [RIGHT, SWAPPED, UNCONDITIONAL])
def test_what_is_kept_is_what_would_be_decided(drawn: GroundedWorkflow) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    for _ in range(2):
        assert facts.of(drawn) == decide_anew(drawn)


def test_another_ticket_of_the_same_page_is_a_look_up(
    decided_drawings: list[GroundedWorkflow],
) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    first = facts.of(RIGHT)
    assert facts.of(again(RIGHT, commands=("show pump 7",))) == first
    assert decided_drawings == [RIGHT]


def test_a_changed_page_or_another_drawing_is_decided_anew(
    decided_drawings: list[GroundedWorkflow],
) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    facts.of(RIGHT)
    changed = again(RIGHT, TEXT.replace("shut", "open"))
    for drawn in (changed, SWAPPED):
        assert facts.of(drawn) == decide_anew(drawn)
    assert decided_drawings == [RIGHT, changed, SWAPPED]
