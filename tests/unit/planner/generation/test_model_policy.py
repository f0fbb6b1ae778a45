import pytest

from services.contracts.retrieval import PageReading
from services.llm.scripted import ScriptedChatModel
from services.runbook.ports import ApprovalKind
from tests.unit.planner.generation.programs import REQUEST, planner, program
from tests.unit.planner.pages import NUMBERED, page, read


def requests_for(when: str, best: PageReading) -> int:
    """How often the model is asked for a ticket whose best page is like that."""
    model = ScriptedChatModel([program()])
    request = REQUEST.model_copy(update={"pages": (best, *REQUEST.pages[1:])})
    assert planner(model, ask_model=when).plan(request).candidates
    return len(model.requests)


@pytest.mark.parametrize(
    ("when", "unread", "by_a_model", "boxes_approved", "approved"),
    [
        ("never", 0, 0, 0, 0),
        ("unread", 1, 0, 0, 0),
        ("unchecked", 1, 1, 1, 0),
        ("always", 1, 1, 1, 1),
    ],
)
def test_the_setting_says_for_which_pages_the_model_is_called(
    when, unread, by_a_model, boxes_approved, approved
):
    assert requests_for(when, page(NUMBERED, "a.md")) == unread
    assert requests_for(when, read(NUMBERED, "a.md")) == by_a_model
    assert requests_for(when, read(NUMBERED, "a.md", approved=True)) == approved
    as_checklist = read(NUMBERED, "a.md", approved=True, kind=ApprovalKind.CHECKLIST)
    assert requests_for(when, as_checklist) == boxes_approved


def test_without_a_page_the_model_is_called():
    model = ScriptedChatModel([program()])
    planner(model).plan(REQUEST.model_copy(update={"pages": ()}))
    assert len(model.requests) == 1
