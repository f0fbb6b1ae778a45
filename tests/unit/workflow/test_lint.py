import pytest

from services.workflow.formats.mermaid import from_mermaid
from services.workflow.lint import CHECKS, Severity, is_clean, lint
from services.workflow.model import Citation, Step, StepKind, Transition, Workflow
from tests.checklists import checklist_of

SOUND = """flowchart TD
    A[Read the light level] --> B{Below -14 dBm?}
    B -->|yes| C[Reseat the optic]
    B -->|no| D([Close])
    C --> A
"""


def workflow(chart: str, **commands: str) -> Workflow:
    """The chart with a source on every step and these commands on the steps named."""
    drawn = from_mermaid(chart)
    source = (Citation(document_id="optics.md", start_line=1, end_line=2),)
    steps = (
        step.model_copy(
            update={
                "citations": source,
                "commands": (commands[step.id],) if step.id in commands else (),
            }
        )
        for step in drawn.steps
    )
    return Workflow(title="", steps=tuple(steps), transitions=drawn.transitions)


def lint_issues(checked: Workflow, **bindings: str) -> list[tuple[str, str]]:
    return [(finding.check, finding.step_id) for finding in lint(checked, bindings=bindings)]


def test_a_sound_workflow_has_no_findings() -> None:
    assert lint_issues(workflow(SOUND)) == []


def test_an_unreachable_step_is_reported() -> None:
    assert lint_issues(workflow(SOUND + "X[Alone] --> D")) == [("unreachable_step", "X")]


def test_a_dead_end_that_is_no_terminal_is_reported() -> None:
    assert lint_issues(workflow("flowchart TD\nA[a] --> B:::kind-process\nA --> C")) == [
        ("dead_end", "B")
    ]


def test_a_terminal_that_goes_on_is_reported() -> None:
    assert lint_issues(workflow("flowchart TD\nA([a]):::kind-terminal --> B")) == [
        ("terminal_exit", "A")
    ]


@pytest.mark.parametrize("exits", ["A --> B", "A -->|yes| B", "A -->|yes| B\nA --> C"])
def test_a_decision_with_fewer_than_two_labelled_exits_is_reported(exits: str) -> None:
    assert lint_issues(workflow(f"flowchart TD\nA{{a?}}\n{exits}")) == [("too_few_exits", "A")]


def test_a_decision_with_two_equal_exits_is_reported() -> None:
    chart = "flowchart TD\nA{a?} -->|Yes| B\nA -->|yes| C\nA -->|no| D"

    assert lint_issues(workflow(chart)) == [("equal_exits", "A")]


def test_a_loop_that_no_decision_leaves_is_reported() -> None:
    chart = "flowchart TD\nA --> B --> C --> B\nA --> D"

    assert lint_issues(workflow(chart)) == [("unbounded_loop", "B")]


def test_a_loop_of_a_decision_without_a_way_out_is_reported() -> None:
    chart = "flowchart TD\nA --> D\nA --> B{b?}\nB -->|yes| C\nB -->|no| A2\nA2 --> B\nC --> B"

    assert lint_issues(workflow(chart)) == [("unbounded_loop", "B")]


def test_an_unbounded_loop_inside_a_bounded_one_is_reported() -> None:
    chart = """flowchart TD
        A{a?} -->|out| End
        A -->|in| B
        B --> C
        C --> B
        C --> A
    """

    assert lint_issues(workflow(chart)) == [("unbounded_loop", "B")]


def test_a_workflow_without_a_reachable_terminal_is_reported() -> None:
    chart = "flowchart TD\nA{a?} -->|x| B\nA -->|y| A\nB --> A\nX --> Y"

    assert ("missing_terminal", "") in lint_issues(workflow(chart))


def test_no_steps_at_all_is_a_missing_terminal() -> None:
    assert lint_issues(Workflow(title="", steps=())) == [("missing_terminal", "")]


def test_a_dangerous_command_without_a_check_before_it_is_reported() -> None:
    chart = "flowchart TD\nA[Drain the node] --> B[Clean up] --> C"

    assert lint_issues(workflow(chart, B="rm -rf /var/lib/x")) == [("danger_without_check", "B")]


def test_a_dangerous_command_is_reported_whatever_the_step_calls_itself() -> None:
    chart = "flowchart TD\nA[Go] --> B[Check the disk]"
    assert lint_issues(workflow(chart, B="rm -rf /var/lib/x")) == [("danger_without_check", "B")]


def test_one_unchecked_path_is_enough_for_a_danger() -> None:
    chart = """flowchart TD
        A[Open the console] --> B
        A --> C[Check that the disk is unused]
        C --> B[Clean up] --> D
    """

    assert lint_issues(workflow(chart, B="mkfs.ext4 /dev/sdb")) == [("danger_without_check", "B")]


@pytest.mark.parametrize("check", ["A[Verify the backup]", "A{Is it unused?}", "A[Step one]"])
def test_a_check_on_every_path_guards_a_danger(check: str) -> None:
    chart = f"flowchart TD\n{check} -->|yes| B[Clean up] --> D\nA -->|no| D"
    looked = workflow(chart, A="show disk", B="mkfs.ext4 /dev/sdb")

    assert ("danger_without_check", "B") not in lint_issues(looked)


def test_a_step_that_states_its_condition_guards_itself() -> None:
    chart = "flowchart TD\nA[If the disk is unused, format it] --> B"

    assert lint_issues(workflow(chart, A="mkfs.ext4 /dev/sdb")) == []


def test_a_dangerous_command_inside_a_text_is_reported() -> None:
    chart = "flowchart TD\nA[Run kubectl delete pod web-0] --> B"

    assert lint_issues(workflow(chart)) == [("danger_without_check", "A")]


def test_a_placeholder_nobody_fills_is_a_warning() -> None:
    findings = lint(workflow(SOUND, A="show interface <port>"))

    assert [(f.check, f.severity) for f in findings] == [("unbound_placeholder", Severity.WARNING)]
    assert is_clean(findings)


def test_the_ticket_or_an_earlier_command_fills_a_placeholder() -> None:
    bound = workflow(SOUND, A="PORT=Ethernet1", C="show interface $PORT")

    assert lint_issues(bound) == []
    assert lint_issues(workflow(SOUND, A="show interface <Port-Name>"), port_name="Ethernet1") == []


def test_a_step_without_a_source_is_a_warning() -> None:
    unsourced = from_mermaid(SOUND)

    assert {finding.check for finding in lint(unsourced)} == {"unsourced_step"}
    assert is_clean(lint(unsourced))


def test_errors_come_first_and_say_where() -> None:
    steps = (Step(id="A", kind=StepKind.PROCESS, text="Look"),)
    findings = lint(Workflow(title="", steps=steps))

    assert [f.check for f in findings] == ["dead_end", "missing_terminal", "unsourced_step"]
    assert str(findings[0]).startswith("error: dead_end: step 'A' (Look): ")


def test_every_check_is_named_after_its_function() -> None:
    broken = Workflow(
        title="",
        steps=(
            Step(id="A", kind=StepKind.DECISION, text="?", commands=("reboot <x>",)),
            Step(id="B", kind=StepKind.PROCESS, text="", commands=("reboot <x>",)),
            Step(id="E", kind=StepKind.TERMINAL, text=""),
            Step(id="S", kind=StepKind.PROCESS, text="", commands=("reboot",)),
            Step(id="D", kind=StepKind.PROCESS, text=""),
        ),
        transitions=(
            Transition(source="S", target="A"),
            Transition(source="A", target="B", condition="x"),
            Transition(source="A", target="S", condition="x"),
            Transition(source="B", target="A"),
            Transition(source="E", target="E"),
        ),
    )
    one_exit = from_mermaid("flowchart TD\nA{a} --> B")

    names = {f.check for w in (broken, one_exit) for f in lint(w)}
    first_is_danger = workflow("flowchart TD\nA[Go] --> B", A="reboot")
    names |= {f.check for f in lint(first_is_danger)}

    assert names == {check.__name__ for check in CHECKS}


def test_of_a_page_as_it_is_no_path_is_judged_and_a_gap_is_reported() -> None:
    page = "1. Clean up:\n\n   ```\n   rm -rf /var/lib/<pod>\n   ```\n"
    checks = [finding.check for finding in lint(checklist_of(page))]

    assert checks == ["unbound_placeholder"]
    assert lint(checklist_of(page), bindings={"pod": "web-0"}) == []
