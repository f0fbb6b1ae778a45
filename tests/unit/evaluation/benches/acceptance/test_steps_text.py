from evaluation.benches.acceptance.steps_text import to_steps_text
from services.workflow.model import Step, StepKind, Workflow
from tests.unit.evaluation.drawings import chart, cited

FLOW = chart(
    "A[Look at the tray] --> B{Is it seated?}",
    "B -- no --> C[Push it in]",
    "B -- yes --> D[Clean the rotor]",
    "C --> X([Resolved])",
    "D --> X",
)


def test_each_step_says_what_it_is_and_where_answers_lead():
    assert to_steps_text(FLOW.model_copy(update={"title": "Fan"})).splitlines() == [
        "Workflow: Fan",
        "",
        "1. DO: Look at the tray",
        "2. DECIDE: Is it seated?",
        "   no -> go to 3",
        "   yes -> go to 4",
        "3. DO: Push it in",
        "   -> go to 5",
        "4. DO: Clean the rotor",
        "5. END: Resolved",
    ]


def test_a_step_carries_its_notes_commands_output_and_doubt():
    step = Step(
        id="a",
        kind=StepKind.TERMINAL,
        text="Restart it",
        notes=("It stops for a moment.",),
        commands=("systemctl restart fan \\\n  --now",),
        expected="done",
        doubt="whether it ends here",
    )
    lines = to_steps_text(Workflow(title="Fan", steps=(step,))).splitlines()[3:]
    assert lines[0] == "   ! It stops for a moment."
    assert lines[1].startswith("   ! Changes something")
    assert lines[2:] == [
        "   $ systemctl restart fan \\",
        "       --now",
        "   | done",
        "   (not sure: whether it ends here)",
    ]


def test_sources_stand_behind_a_step_where_they_are_wanted():
    assert "1. DO: Look at the tray  [lines 65]" in to_steps_text(cited(FLOW), has_lines=True)
    assert "[lines" not in to_steps_text(cited(FLOW))
