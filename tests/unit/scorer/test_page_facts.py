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


def told(drawn: Drawn, reading: Drawn | None) -> Told:
    """Said anew."""
    facts = facts_of(drawn, reading)
    return Told(tuple(decide(facts, FORESTS)), conditions_of(drawn, facts, DOUBTING))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    """The drawings that were decided anew."""
    found: list[Drawn] = []

    def noted(drawn: Drawn, reading: Drawn | None) -> object:
        found.append(drawn)
        return facts_of(drawn, reading)

    monkeypatch.setattr(page_facts, "facts_of", noted)
    return found


def again(drawn: Drawn, text: str = TEXT, commands: tuple[str, ...] = ()) -> Drawn:
    """The same drawing for another ticket, of a page of that text."""
    steps = tuple(s.model_copy(update={"commands": commands}) for s in drawn.workflow.steps)
    pages = CitedPages({"other.md": "# Other page", PAGE: text})
    return Drawn(drawn.workflow.model_copy(update={"steps": steps}), pages)


@pytest.mark.parametrize("reading", [None, RIGHT, TOLD_TO_ALL])
@pytest.mark.parametrize("drawn", [RIGHT, SWAPPED, TOLD_TO_ALL])
def test_what_is_kept_is_what_would_be_decided(drawn: Drawn, reading: Drawn | None) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    for _ in range(2):
        assert facts.of(drawn, reading) == told(drawn, reading)


def test_another_ticket_of_the_same_page_is_a_look_up(asked: list[Drawn]) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    first = facts.of(RIGHT, None)
    assert facts.of(again(RIGHT, commands=("show pump 7",)), None) == first
    assert asked == [RIGHT]


def test_a_changed_page_another_drawing_or_another_reading_is_decided_anew(
    asked: list[Drawn],
) -> None:
    facts = PageFacts(FORESTS, DOUBTING)
    facts.of(RIGHT, None)
    changed = again(RIGHT, TEXT.replace("shut", "open"))
    for drawn, reading in ((changed, None), (SWAPPED, None), (RIGHT, SWAPPED), (RIGHT, changed)):
        assert facts.of(drawn, reading) == told(drawn, reading)
    assert asked == [RIGHT, changed, SWAPPED, RIGHT, RIGHT]
