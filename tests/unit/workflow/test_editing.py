"""Edits of a workflow, what is refused of them, and what differs afterwards."""

from itertools import count

import pytest

from services.workflow.editing.apply_edits import UnusableEditError, apply_edits
from services.workflow.editing.changes import ChangeKind, step_changes
from services.workflow.editing.edits import AddStep, ChangeBranch, ChangeStep, RemoveStep
from services.workflow.lint import is_clean, lint
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

LINES = (Citation(document_id="fans.md", start_line=3, end_line=4),)
FANS = Workflow(
    title="Fans",
    steps=(
        Step(id="look", kind=StepKind.PROCESS, text="Show the fans", citations=LINES, doubt="?"),
        Step(id="ask", kind=StepKind.DECISION, text="Is one failed?", citations=LINES),
        Step(id="swap", kind=StepKind.PROCESS, text="Swap the tray", citations=LINES),
        Step(id="end", kind=StepKind.TERMINAL, text="Resolved"),
    ),
    transitions=(
        Transition(source="look", target="ask"),
        Transition(source="ask", target="swap", condition="yes"),
        Transition(source="ask", target="end", condition="no"),
        Transition(source="swap", target="end"),
    ),
)


def edit(*edits, says=lambda _step: False):
    numbers = count(1)
    return apply_edits(FANS, edits, new_id=lambda: f"own-{next(numbers)}", is_supported=says)


def words(now):
    return {change.step: (change.kind.value, change.words) for change in step_changes(FANS, now)}


def test_a_step_that_is_said_otherwise_is_the_engineers_own():
    now = edit(ChangeStep(step="look", text="List the fans", commands=("show fan", " ")))
    step = now.by_id["look"]
    assert (step.text, step.commands, step.citations, step.doubt) == (
        "List the fans",
        ("show fan",),
        (),
        "",
    )
    assert FANS.by_id["look"].text == "Show the fans"
    assert words(now)["look"][1] == (
        "text was “Show the fans”",
        "command added: show fan",
        "no longer said by the lines it came from",
    )


def test_a_step_whose_lines_say_it_still_keeps_them():
    now = edit(ChangeStep(step="look", text="Show all the fans"), says=lambda step: True)
    assert now.by_id["look"].citations == LINES


def test_a_note_leaves_the_citations_and_the_doubt():
    now = edit(ChangeStep(step="look", notes=("Both trays",)))
    assert (now.by_id["look"].citations, now.by_id["look"].doubt) == (LINES, "?")


def test_a_new_step_stands_between_its_neighbours():
    now = edit(AddStep(after="look", text="Note the serial number"))
    assert [step.id for step in now.steps] == ["look", "own-1", "ask", "swap", "end"]
    assert [e.target for e in now.exits("look")] == ["own-1"]
    assert [e.target for e in now.exits("own-1")] == ["ask"]
    assert is_clean(lint(now))


def test_a_new_step_behind_a_decision_is_put_on_the_branch_that_is_named():
    now = edit(AddStep(after="ask", condition="no", text="Watch it for an hour"))
    assert {e.condition: e.target for e in now.exits("ask")} == {"yes": "swap", "no": "own-1"}
    assert now.exits("own-1")[0].target == "end"
    with pytest.raises(UnusableEditError, match="its branches: 'yes', 'no'"):
        edit(AddStep(after="ask", text="Watch it"))


def test_a_removed_step_is_led_past():
    now = edit(RemoveStep(step="look"), RemoveStep(step="swap"))
    assert [step.id for step in now.steps] == ["ask", "end"]
    assert {e.condition: e.target for e in now.exits("ask")} == {"yes": "end", "no": "end"}
    assert words(now)["swap"][0] == ChangeKind.REMOVED


def test_a_branch_gets_another_condition_and_target():
    now = edit(
        ChangeBranch(step="ask", condition="no", new_condition="none", new_target="look"),
    )
    assert {e.condition: e.target for e in now.exits("ask")} == {"yes": "swap", "none": "look"}
    assert words(now)["ask"][1] == (
        "branch “no” is now “none”",
        "branch “none” leads to “Show the fans”, before to “Resolved”",
    )


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (RemoveStep(step="end"), "no path leads to a terminal"),
        (RemoveStep(step="ask"), "2 branches"),
        (RemoveStep(step="gone"), "no step 'gone'"),
        (ChangeBranch(step="ask", condition="yes", new_condition="no"), "2 exits for 'no'"),
        (ChangeBranch(step="ask", condition="yes", new_target="end"), "no path from the first"),
        (ChangeBranch(step="swap", new_target="swap"), "no decision leads out"),
        (ChangeBranch(step="ask", condition="maybe", new_target="end"), "no branch 'maybe'"),
        (AddStep(after="end", text="More"), "its branches: none"),
    ],
)
def test_what_could_not_be_followed_is_refused_in_words(wrong, reason):
    with pytest.raises(UnusableEditError, match=reason):
        edit(wrong)
