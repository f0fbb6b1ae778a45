import pytest

from services.procedure.evidence.conditions import ConditionForests, conditions_of
from services.procedure.evidence.decide import Forests, decide
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.facts import facts_of
from services.procedure.evidence.page_lines import CitedPages
from services.scorer import page_facts
from services.scorer.page_facts import PageFacts, Told
from tests.unit.procedure.evidence.fan import PAGE, RIGHT, SWAPPED, TEXT, TOLD_TO_ALL

FORESTS, DOUBTING = Forests.shipped(), ConditionForests.shipped()


def told(drawn: Drawn) -> Told:
    """Said anew."""
    facts = facts_of(drawn)
    return Told(tuple(decide(facts, FORESTS)), conditions_of(drawn, facts, DOUBTING))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    """The drawings that were decided anew."""
    found: list[Drawn] = []

    def noted(drawn: Drawn) -> object:
        found.append(drawn)
        return facts_of(drawn)

    monkeypatch.setattr(page_facts, "facts_of", noted)
    return found


def again(drawn: Drawn, text: str = TEXT, commands: tuple[str, ...] = ()) -> Drawn:
    """The same drawing for another ticket, of a page of that text."""
    steps = tuple(s.model_copy(update={"commands": commands}) for s in drawn.workflow.steps)
    pages = CitedPages({"other.md": "# Other page", PAGE: text})
    return Drawn(drawn.workflow.model_copy(update={"steps": steps}), pages)


@pytest.mark.parametrize("drawn", [RIGHT, SWAPPED, TOLD_TO_ALL])
def test_what_is_kept_is_what_would_be_decided(drawn: Drawn) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    for _ in range(2):
        assert facts.of(drawn) == told(drawn)


def test_another_ticket_of_the_same_page_is_a_look_up(asked: list[Drawn]) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    first = facts.of(RIGHT)
    assert facts.of(again(RIGHT, commands=("show pump 7",))) == first
    assert asked == [RIGHT]


def test_a_changed_page_or_another_drawing_is_decided_anew(asked: list[Drawn]) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    facts.of(RIGHT)
    changed = again(RIGHT, TEXT.replace("shut", "open"))
    for drawn in (changed, SWAPPED):
        assert facts.of(drawn) == told(drawn)
    assert asked == [RIGHT, changed, SWAPPED]
