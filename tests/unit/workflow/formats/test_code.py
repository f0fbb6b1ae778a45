import ast

import pytest

from services.workflow.formats.code import CodeError, from_code, to_code
from services.workflow.model import Step, StepKind, Transition, Workflow

FANS = Workflow(
    title="Fan failure",
    steps=(
        Step(
            id="check_fans",
            kind=StepKind.PROCESS,
            text='Check "all" fans.',
            commands=("show environment fan",),
            expected="Fan 1 ok",
        ),
        Step(id="any-failed?", kind=StepKind.DECISION, text="Has any fan failed?"),
        Step(id="class", kind=StepKind.TERMINAL, text="The alarm is gone."),
    ),
    transitions=(
        Transition(source="check_fans", target="any-failed?"),
        Transition(source="any-failed?", target="check_fans", condition="yes"),
        Transition(source="any-failed?", target="class", condition="no"),
    ),
)

WRITTEN = """"Fan failure"


def check_fans():
    "Check \\"all\\" fans."
    run("show environment fan")
    expect("Fan 1 ok")
    return step_any_failed()


def step_any_failed():
    "Has any fan failed?"
    if answer == "yes":
        return check_fans()
    elif answer == "no":
        return step_class()


def step_class():
    "The alarm is gone."
    return END
"""


def test_there_is_one_function_per_action() -> None:
    assert to_code(FANS) == WRITTEN


def test_what_is_written_is_python() -> None:
    assert len(ast.parse(to_code(FANS)).body) == 4


def test_what_was_written_is_read_back_under_function_names() -> None:
    read = from_code(f"Sure:\n```python\n{WRITTEN}```\nDone.")

    assert to_code(read) == WRITTEN
    assert [step.kind for step in read.steps] == [step.kind for step in FANS.steps]


def test_an_else_is_the_exit_without_a_condition() -> None:
    read = from_code("""
def a():
    if load > 3:
        return b()
    else:
        return c()
def b():
    run("top")
    return END
def c():
    return END
""")

    assert [(t.target, t.condition) for t in read.transitions] == [("b", "load > 3"), ("c", "")]
    assert [step.text for step in read.steps] == ["a", "b", "c"]
    assert read.steps[1].commands == ("top",)


def test_names_that_would_clash_are_told_apart() -> None:
    steps = tuple(
        Step(id=i, kind=StepKind.TERMINAL, text=i) for i in ("a b", "a-b", "run", "step_a_b", "光")
    )

    read = from_code(to_code(Workflow(title="", steps=steps)))

    assert [step.text for step in read.steps] == ["a b", "a-b", "run", "step_a_b", "光"]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("", "no|none"),
        ("def a(:\n", "line 1"),
        ("x = 1", "none"),
        ("def a():\n    return b()", "not there"),
        ("def a():\n    return END\ndef a():\n    return END", "twice"),
        ("(" * 5000, "Python"),
        ("def a():\n    '\x00'", "Python"),
    ],
)
def test_what_is_no_workflow_is_refused(code: str, problem: str) -> None:
    with pytest.raises(CodeError, match=problem):
        from_code(code)


def test_nothing_of_the_code_is_run(tmp_path) -> None:
    mark = tmp_path / "ran"

    with pytest.raises(CodeError):
        from_code(f"open({str(mark)!r}, 'w')")

    assert not mark.exists()
