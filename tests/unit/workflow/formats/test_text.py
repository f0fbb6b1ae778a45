import pytest

from services.workflow.formats.text import TextError, from_text, to_text
from services.workflow.model import Step, StepKind, Transition, Workflow

FANS = Workflow(
    title="Fan failure",
    steps=(
        Step(
            id="look",
            kind=StepKind.PROCESS,
            text="Check the fan tray.",
            commands=("show environment fan", "cat <<X\na\nX"),
            expected="Fan 1  ok\nFan 2  failed",
        ),
        Step(id="any", kind=StepKind.DECISION, text="Has any fan failed?"),
        Step(id="swap", kind=StepKind.PROCESS, text="Replace the fan tray."),
        Step(id="done", kind=StepKind.TERMINAL, text="The alarm is gone."),
    ),
    transitions=(
        Transition(source="look", target="any"),
        Transition(source="any", target="swap", condition="yes"),
        Transition(source="any", target="done", condition="no"),
        Transition(source="swap", target="look"),
    ),
)

WRITTEN = """Workflow: Fan failure

1. Check the fan tray.
   $ show environment fan
   $ cat <<X
   > a
   > X
   | Fan 1  ok
   | Fan 2  failed
2. Has any fan failed?
   If yes: go to step 3.
   If no: go to step 4.
3. Replace the fan tray.
   Go to step 1.
4. The alarm is gone.
   End.
"""


def test_steps_are_numbered_and_exits_named() -> None:
    assert to_text(FANS) == WRITTEN


def test_what_was_written_is_read_back() -> None:
    read = from_text(WRITTEN)

    assert to_text(read) == WRITTEN
    assert [step.kind for step in read.steps] == [step.kind for step in FANS.steps]
    assert read.steps[0].commands == FANS.steps[0].commands
    assert read.steps[0].expected == FANS.steps[0].expected


def test_a_list_of_people_is_understood() -> None:
    read = from_text("""
# Link down

Step 1: Read the optic's light level
  with the usual command
2) Is it low?
   - If yes, then go to step 3
   - Otherwise -> step 4
3. Reseat it, and go back to step 1.
4. Look at the peer. If it is down, continue with step 3.
5. Hand over
""")

    assert read.title == "Link down"
    assert read.steps[0].text == "Read the optic's light level with the usual command"
    assert [(t.source, t.target, t.condition) for t in read.transitions] == [
        ("1", "2", ""),
        ("2", "3", "yes"),
        ("2", "4", ""),
        ("3", "1", ""),
        ("4", "3", "it is down"),
        ("4", "5", ""),
    ]
    assert read.steps[4].kind is StepKind.TERMINAL


def test_a_text_cannot_pose_as_an_exit() -> None:
    sly = Workflow(
        title="",
        steps=(
            Step(id="a", kind=StepKind.PROCESS, text="If x, go to step 1."),
            Step(id="b", kind=StepKind.TERMINAL, text="End"),
        ),
        transitions=(Transition(source="a", target="b"),),
    )

    assert [(t.source, t.target) for t in from_text(to_text(sly)).transitions] == [("1", "2")]


@pytest.mark.parametrize("text", ["", "no numbers here", "1. Look\n   Go to step 7."])
def test_text_without_steps_or_with_a_wrong_number_is_refused(text: str) -> None:
    with pytest.raises(TextError):
        from_text(text)


def test_a_change_is_told_above_its_command_and_not_read_back() -> None:
    step = Step(id="1", kind=StepKind.TERMINAL, text="Scale it.", commands=("kubectl scale x",))
    written = to_text(Workflow(title="", steps=(step,), transitions=()))

    assert "   ! Changes something: scales a workload; undo: scale back" in written
    assert from_text(written).steps[0].text == "Scale it."
    assert from_text(written).steps[0].commands == step.commands
