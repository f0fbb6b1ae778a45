from collections import Counter

import pytest

from evaluation.benches.following.forms import Form, Place
from evaluation.benches.following.prompts import as_text, histories, page_of, tools_of
from evaluation.benches.following.scenes import cards_of, tools_of_steps, workflow_for, written
from evaluation.benches.following.sessions import sessions
from services.workflow.model import StepKind
from tests.unit.evaluation.benches.following.acting import by_id


def test_sessions_are_the_same_each_time():
    assert [session.turns for session in sessions()] == [s.turns for s in by_id().values()]


def test_there_are_enough_of_each_kind():
    kinds = Counter("network" if s.scene.fault else "example" for s in by_id().values())

    assert kinds["network"] >= 12
    assert kinds["example"] >= 8
    assert sum(s.scene.aside is not None for s in by_id().values()) >= 4


def test_a_fault_that_can_be_mended_is_mended_by_the_right_way():
    resolved = [
        each
        for each in by_id().values()
        if each.scene.fault and each.turns[-1].act.call.arguments == {"outcome": "resolved"}
    ]
    assert resolved
    for session in resolved:
        site = session.open()
        for step in session.path:
            site.call(session.calls[step])
        assert site.broken.is_mended(site.fault), session.id


def test_every_call_of_the_right_way_can_be_made():
    for session in by_id().values():
        assert not any("error:" in heard for turn in session.turns for heard in turn.heard)
        assert all(all(turn.act.call.arguments.values()) for turn in session.turns if turn.act.call)


@pytest.mark.parametrize("kit", [name for name in written()[0] if name != "network"])
def test_every_tool_of_a_page_carries_out_some_step_of_it(kit):
    used = {command.split(" ")[0] for command in tools_of_steps(kit, workflow_for(kit)).values()}

    assert used == cards_of(kit).keys()


def test_the_walker_follows_the_right_way():
    for session in by_id().values():
        place = Place(session.workflow)
        for step in session.path:
            assert place.calls(session.calls[step], session.calls, step), (session.id, step)
        assert place.next is None


def test_the_walker_takes_no_step_that_is_not_next():
    session = by_id()["s01"]
    place = Place(session.workflow)

    assert not place.calls(session.calls["s3"], session.calls, "s3")
    assert place.next.id == "s1"


def test_the_guide_tells_what_comes_next_and_nothing_beyond():
    session = by_id()["s01"]
    place = Place(session.workflow)

    assert place.describe_next().startswith("do [s1] Look at the session")
    assert "\n" not in place.describe_next()

    place.does("s1")

    assert "Yes: do [s3]" in place.describe_next()
    assert "[s13]" not in place.describe_next()


def test_without_a_workflow_no_step_of_it_is_shown():
    for session in by_id().values():
        first = as_text(histories(session, Form.NOTHING, 0)[0])
        last = as_text(histories(session, Form.NOTHING, 0)[-1])

        assert '"node"' not in last
        for step in session.workflow.steps:
            text = f"{step.text}\n"
            assert step.kind is not StepKind.DECISION or text not in first


def test_tools_stand_in_an_order_of_the_seed():
    session = by_id()["s01"]

    assert tools_of(session, 0) == tools_of(session, 0)
    assert tools_of(session, 0) != tools_of(session, 1)
    assert sorted(tools_of(session, 0).split("\n")) == sorted(tools_of(session, 1).split("\n"))


def test_all_forms_hold_what_each_of_them_holds():
    session = by_id()["s17"]

    for form in (Form.TEXT, Form.CODE, Form.FLOWCHART):
        assert form.shown(session.workflow) in page_of(session, Form.ALL, 0)
    assert not Form.GUIDE.shown(session.workflow)


def test_the_history_of_a_turn_ends_with_what_is_heard():
    session = by_id()["s06"]
    dialogues = histories(session, Form.FLOWCHART, 0)

    assert [messages[-1].role for messages in dialogues] == ["user"] * len(session.turns)
    assert "hold timer" in dialogues[1][-1].content
    assert '"off_procedure":true' in dialogues[2][-2].content
