"""What the tool `draft_procedure` makes of a sentence."""

import threading

import pytest

from services.contracts.mcp import DraftProcedure
from services.web.mcp.knowledge_tools import DRAFT, NoPlannerError
from services.web.mcp.tool import Platform
from tests.unit.planner.composing.catalogue import composer


def platform(composing):
    return Platform(
        gateway=None,
        triage=None,
        adoption=None,
        retrieval=None,
        execution=None,
        composing=composing,
        stopping=threading.Event(),
    )


def test_a_draft_tells_what_it_lacks_and_takes_answers():
    request = DraftProcedure(instruction="Clear the BGP session.")
    draft = DRAFT.run(platform(composer()), request)
    assert set(draft.questions) == {"s1.neighbor"}
    answered = DraftProcedure(
        instruction="Clear the BGP session.", answers={"s1.neighbor": "10.0.0.7", "s9.x": "y"}
    )
    draft = DRAFT.run(platform(composer()), answered)
    assert not draft.questions
    assert "10.0.0.7" in draft.text
    assert draft.changes == ("changes: Clear the BGP session",)
    assert "10.0.0.7" in DRAFT.write(draft)
    assert DRAFT.is_read_only


def test_without_a_planner_it_says_so():
    with pytest.raises(NoPlannerError):
        DRAFT.run(platform(None), DraftProcedure(instruction="x"))
