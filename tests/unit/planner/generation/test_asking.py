import pytest

from services.llm.scripted import ScriptedChatModel
from services.procedure.model import Reader
from tests.unit.planner.generation.programs import REQUEST, planner, program
from tests.unit.planner.pages import NUMBERED, read


def requests_for(when: str, *, approved: bool = False, reader: Reader = Reader.RULES) -> int:
    """How often the model is asked for a ticket whose best page is like that."""
    page = read(NUMBERED, "a.md", approved=approved)
    reading = page.served.reading.model_copy(update={"reader": reader})
    page = page.model_copy(update={"served": page.served.model_copy(update={"reading": reading})})
    model = ScriptedChatModel([program()])
    request = REQUEST.model_copy(update={"pages": (page, *REQUEST.pages[1:])})
    assert planner(model, ask_model=when).plan(request).candidates
    return len(model.requests)


@pytest.mark.parametrize(
    ("when", "by_rules", "by_a_model", "approved"),
    [("never", 0, 0, 0), ("unread", 1, 0, 0), ("unchecked", 1, 1, 0), ("always", 1, 1, 1)],
)
def test_the_setting_says_for_which_pages_the_model_is_asked(when, by_rules, by_a_model, approved):
    assert requests_for(when) == by_rules
    assert requests_for(when, reader=Reader.MODEL) == by_a_model
    assert requests_for(when, approved=True) == approved


def test_without_a_page_the_model_is_asked():
    model = ScriptedChatModel([program()])
    planner(model).plan(REQUEST.model_copy(update={"pages": ()}))
    assert len(model.requests) == 1
