from services.planner.assembly import assemble
from services.planner.draft import Ask, Do, Draft, End
from services.workflow.model import StepKind


def edges(*elements: Do | Ask | End) -> list[tuple[str, str, str]]:
    draft = Draft("test", "t", elements, 1.0)
    return [(e.source, e.target, e.condition) for e in assemble(draft).transitions]


def test_actions_follow_one_another() -> None:
    assert edges(Do("a"), Do("b"), End("c")) == [("s1", "s2", ""), ("s2", "s3", "")]


def test_an_empty_branch_goes_on_after_the_decision() -> None:
    assert edges(Ask("a?", yes=(Do("b"),)), End("c")) == [
        ("s2", "s3", ""),
        ("s1", "s2", "Yes"),
        ("s1", "s3", "No"),
    ]


def test_nested_questions_meet_after_the_outer_one() -> None:
    inner = Ask("b?", yes=(Do("c"),))
    assert ("s3", "s4", "") in edges(Ask("a?", no=(inner,)), End("d"))
    assert ("s1", "s4", "Yes") in edges(Ask("a?", no=(inner,)), End("d"))


def test_steps_are_numbered_in_reading_order() -> None:
    draft = Draft("test", "t", (Ask("a?", yes=(End("b"),), no=(Do("c"),)), End("d")), 1.0)
    workflow = assemble(draft)
    assert [(step.id, step.text) for step in workflow.steps] == [
        ("s1", "a?"),
        ("s2", "b"),
        ("s3", "c"),
        ("s4", "d"),
    ]
    assert workflow.by_id["s2"].kind is StepKind.TERMINAL
