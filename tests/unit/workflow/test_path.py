"""What is next and what is left aside, as work on a workflow goes on."""

import pytest

from services.workflow.model import Step, StepKind, Transition, Workflow
from services.workflow.path import MarkedSteps, core_steps, left_aside, progress_of
from tests.checklists import checklist_of

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
BOXES = flow(
    [
        ("look", "swap"),
        ("swap", "check"),
        ("check", "end"),
        ("end", "over", "yes"),
        ("end", "hand-over", "no"),
    ],
    {"end": D, "over": E, "hand-over": E},
).model_copy(update={"provenance": checklist_of("").provenance})
BOXES = BOXES.model_copy(
    update={
        "steps": tuple(
            step.model_copy(update={"implied": step.kind is not StepKind.PROCESS})
            for step in BOXES.steps
        )
    }
)


@pytest.mark.parametrize(
    ("so_far", "next_", "left"),
    [
        (MarkedSteps(), "look", set()),
        (MarkedSteps(done=["look"]), "ask", set()),
        (MarkedSteps(done=["look"], followed={"ask": "yes"}), "swap", {"wait"}),
        (MarkedSteps(done=["look"], followed={"ask": "no"}), "wait", {"swap"}),
        (MarkedSteps(done=["look"], skipped=["wait"], followed={"ask": "no"}), "check", {"swap"}),
        (
            MarkedSteps(done=["look", "swap", "check", "end"], followed={"ask": "yes"}),
            None,
            {"wait"},
        ),
        (MarkedSteps(done=["swap"]), "look", set()),
        (MarkedSteps(done=["look", "gone"], followed={"ask": "perhaps"}), "ask", set()),
        (MarkedSteps(done=["look"], skipped=["ask"]), "swap", set()),
    ],
)
def test_the_way_goes_on_at_the_first_open_step_of_the_branch_that_was_followed(
    so_far, next_, left
):
    path = progress_of(FORK, so_far)
    assert (path.next, path.left_aside, path.again) == (next_, left, False)


def test_what_both_branches_lead_to_is_not_left_aside():
    assert "check" not in left_aside(FORK, MarkedSteps(followed={"ask": "yes"}))


def test_a_branch_back_is_done_again_and_leaves_nothing_aside():
    path = progress_of(LOOP, MarkedSteps(done=["reseat"], followed={"ask": "no"}))
    assert (path.next, path.again, path.left_aside) == ("reseat", True, frozenset())
    out = progress_of(LOOP, MarkedSteps(done=["reseat"], followed={"ask": "yes"}))
    assert (out.next, out.again) == ("note", False)


def test_what_was_answered_before_is_taken_unless_another_branch_was_followed():
    settled = flow(
        [("ask", "swap", "yes"), ("ask", "wait", "no")], {"ask": D}, settled={"ask": "yes"}
    )
    assert progress_of(settled, MarkedSteps()).next == "swap"
    assert progress_of(settled, MarkedSteps(followed={"ask": "no"})).next == "wait"


def test_progress_counts_each_step_once():
    so_far = MarkedSteps(done=["look", "swap"], skipped=["check"], followed={"ask": "yes"})
    path = progress_of(FORK, so_far)
    assert (path.done, path.skipped, len(path.left_aside), path.total) == (3, 1, 1, 6)
    assert not path.is_over


def test_an_empty_workflow_has_nothing_to_do():
    path = progress_of(Workflow(title="t", steps=()), MarkedSteps())
    assert (path.next, path.total) == (None, 0)


def test_core_steps_are_the_actions_on_the_path():
    assert core_steps(FORK, MarkedSteps()) == {"look", "swap", "wait", "check"}
    assert core_steps(FORK, MarkedSteps(followed={"ask": "yes"})) == {"look", "swap", "check"}


@pytest.mark.parametrize(
    ("so_far", "next_", "done", "total"),
    [
        (MarkedSteps(), "look", 0, 3),
        (MarkedSteps(done=["swap"]), "look", 1, 3),
        (MarkedSteps(done=["swap"], not_applicable=["look"]), "check", 2, 3),
        (MarkedSteps(closed=["look"]), "swap", 0, 2),
        (MarkedSteps(done=["look"], closed=["look"]), "swap", 1, 3),
        (MarkedSteps(done=["look", "swap"], closed=["check"]), "end", 2, 2),
        (MarkedSteps(done=["look", "swap", "check"]), "end", 3, 3),
        (MarkedSteps(done=["look", "end"], followed={"end": "yes"}), None, 1, 3),
    ],
)
def test_boxes_are_handled_in_any_order_and_how_it_ended_is_asked_behind_them(
    so_far, next_, done, total
):
    path = progress_of(BOXES, so_far)
    assert (path.next, path.done, path.total) == (next_, done, total)
    assert (path.left_aside, path.again, path.settled) == (frozenset(), False, 0)


def test_a_decision_that_the_page_draws_leaves_boxes_aside():
    fork = BOXES.model_copy(
        update={
            "steps": tuple(
                s.model_copy(update={"kind": D}) if s.id == "look" else s for s in BOXES.steps
            ),
            "transitions": (
                Transition(source="look", target="swap", condition="full"),
                Transition(source="look", target="check", condition="empty"),
                *BOXES.transitions[1:],
            ),
        }
    )
    path = progress_of(fork, MarkedSteps(done=["look"], followed={"look": "empty"}))
    assert (path.next, path.left_aside) == ("check", {"swap"})


def test_of_a_checklist_those_are_core_that_were_called_for():
    assert core_steps(BOXES, MarkedSteps()) == frozenset()
    assert core_steps(BOXES, MarkedSteps(done=["look"], skipped=["swap"])) == {"look", "swap"}
    assert core_steps(BOXES, MarkedSteps(not_applicable=["look"])) == frozenset()


def test_a_step_that_does_not_apply_is_done_with_and_was_not_called_for():
    so_far = MarkedSteps(done=["look"], not_applicable=["swap"], followed={"ask": "yes"})
    path = progress_of(FORK, so_far)
    assert (path.next, path.done, path.left_aside) == ("check", 3, {"wait"})
    assert core_steps(FORK, so_far) == {"look", "check"}
