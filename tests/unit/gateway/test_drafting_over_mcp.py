"""What the tool `draft_procedure` makes of a sentence."""

import threading

import pytest

from services.contracts.mcp import DraftProcedure
from services.gateway.mcp.composing import DRAFT, NoPlannerError
from services.gateway.mcp.tool import Platform
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


async def test_a_draft_tells_what_it_lacks_and_takes_answers():
    asked = DraftProcedure(instruction="Clear the BGP session.")
    found = await DRAFT.run(platform(composer()), asked)
    assert set(found.questions) == {"s1.neighbor"}
    answered = DraftProcedure(
        instruction="Clear the BGP session.", answers={"s1.neighbor": "10.0.0.7", "s9.x": "y"}
    )
    found = await DRAFT.run(platform(composer()), answered)
    assert not found.questions
    assert "10.0.0.7" in found.text
    assert found.changes == ("changes: Clear the BGP session",)
    assert "10.0.0.7" in DRAFT.write(found)
    assert DRAFT.is_read_only


async def test_without_a_planner_it_says_so():
    with pytest.raises(NoPlannerError):
        await DRAFT.run(platform(None), DraftProcedure(instruction="x"))
