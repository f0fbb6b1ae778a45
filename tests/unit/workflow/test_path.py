"""What is next and what is left aside, as work on a workflow goes on."""

import pytest

from services.workflow.model import Step, StepKind, Transition, Workflow
from services.workflow.path import Done, core_steps, left_aside, path_of

D, E = StepKind.DECISION, StepKind.TERMINAL


def flow(edges, kinds=None, settled=None):
    ids = dict.fromkeys(end for edge in edges for end in edge[:2])
    kinds, settled = kinds or {}, settled or {}
    steps = (
        Step(id=i, kind=kinds.get(i, StepKind.PROCESS), text=i, settled=settled.get(i, ""))
        for i in ids
    )
    transitions = (Transition(source=e[0], target=e[1], condition="".join(e[2:])) for e in edges)
    return Workflow(title="t", steps=tuple(steps), transitions=tuple(transitions))


FORK = flow(
    [
        ("look", "ask"),
        ("ask", "swap", "yes"),
        ("ask", "wait", "no"),
        ("swap", "check"),
        ("wait", "check"),
        ("check", "end"),
    ],
    {"ask": D, "end": E},
)
LOOP = flow(
    [
        ("reseat", "ask"),
        ("ask", "reseat", "no"),
        ("ask", "note", "yes"),
        ("note", "end"),
    ],
    {"ask": D, "end": E},
)


@pytest.mark.parametrize(
    ("so_far", "next_", "left"),
    [
        (Done(), "look", set()),
        (Done(done=["look"]), "ask", set()),
        (Done(done=["look"], followed={"ask": "yes"}), "swap", {"wait"}),
        (Done(done=["look"], followed={"ask": "no"}), "wait", {"swap"}),
        (Done(done=["look"], skipped=["wait"], followed={"ask": "no"}), "check", {"swap"}),
        (Done(done=["look", "swap", "check", "end"], followed={"ask": "yes"}), None, {"wait"}),
        (Done(done=["swap"]), "look", set()),
        (Done(done=["look", "gone"], followed={"ask": "perhaps"}), "ask", set()),
        (Done(done=["look"], skipped=["ask"]), "swap", set()),
    ],
)
def test_the_way_goes_on_at_the_first_open_step_of_the_branch_that_was_followed(
    so_far, next_, left
):
    found = path_of(FORK, so_far)
    assert (found.next, found.left_aside, found.again) == (next_, left, False)


def test_what_both_branches_lead_to_is_not_left_aside():
    assert "check" not in left_aside(FORK, Done(followed={"ask": "yes"}))


def test_a_branch_back_is_done_again_and_leaves_nothing_aside():
    found = path_of(LOOP, Done(done=["reseat"], followed={"ask": "no"}))
    assert (found.next, found.again, found.left_aside) == ("reseat", True, frozenset())
    out = path_of(LOOP, Done(done=["reseat"], followed={"ask": "yes"}))
    assert (out.next, out.again) == ("note", False)


def test_what_was_answered_before_is_taken_unless_another_branch_was_followed():
    settled = flow(
        [("ask", "swap", "yes"), ("ask", "wait", "no")], {"ask": D}, settled={"ask": "yes"}
    )
    assert path_of(settled, Done()).next == "swap"
    assert path_of(settled, Done(followed={"ask": "no"})).next == "wait"


def test_progress_counts_each_step_once():
    so_far = Done(done=["look", "swap"], skipped=["check"], followed={"ask": "yes"})
    found = path_of(FORK, so_far)
    assert (found.done, found.skipped, len(found.left_aside), found.total) == (3, 1, 1, 6)
    assert not found.is_over


def test_an_empty_workflow_has_nothing_to_do():
    found = path_of(Workflow(title="t", steps=()), Done())
    assert (found.next, found.total) == (None, 0)


def test_core_steps_are_the_actions_on_the_path():
    assert core_steps(FORK, Done()) == {"look", "swap", "wait", "check"}
    assert core_steps(FORK, Done(followed={"ask": "yes"})) == {"look", "swap", "check"}
