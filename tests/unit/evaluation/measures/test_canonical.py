import random

import pytest

from evaluation.measures.canonical import canonical_text
from services.workflow.model import Step, StepKind, Transition, Workflow
from tests.unit.scorer.cases import EDGES, GOOD, STEPS


def renamed(workflow: Workflow, rng: random.Random) -> Workflow:
    """The same graph with other ids, its steps and transitions in another order."""
    names = [f"n{number}" for number in range(len(workflow.steps))]
    rng.shuffle(names)
    ids = dict(zip((step.id for step in workflow.steps), names, strict=True))
    steps = [step.model_copy(update={"id": ids[step.id]}) for step in workflow.steps]
    edges = [
        Transition(source=ids[edge.source], target=ids[edge.target], condition=edge.condition)
        for edge in workflow.transitions
    ]
    rng.shuffle(steps)
    rng.shuffle(edges)
    return Workflow(title="other", steps=tuple(steps), transitions=tuple(edges))


def question(edges: tuple[Transition, ...]) -> Workflow:
    texts = {"q": "Is it hot?", "a": "Cool it", "b": "Cool it", "c": "Done", "d": "Call"}
    kinds = {"q": StepKind.DECISION, "c": StepKind.TERMINAL, "d": StepKind.TERMINAL}
    steps = (Step(id=i, kind=kinds.get(i, StepKind.PROCESS), text=t) for i, t in texts.items())
    return Workflow(title="", steps=tuple(steps), transitions=edges)


TWINS = question(
    tuple(
        Transition(source=source, target=target, condition=condition)
        for source, target, condition in (
            ("q", "a", "Maybe"),
            ("q", "b", "Maybe"),
            ("a", "c", ""),
            ("b", "d", ""),
        )
    )
)


@pytest.mark.parametrize("workflow", [GOOD, TWINS])
def test_ids_and_the_order_of_lines_do_not_show(workflow):
    rng = random.Random(1)
    texts = {canonical_text(renamed(workflow, rng)) for _ in range(20)}
    assert texts == {canonical_text(workflow)}


def test_steps_are_numbered_along_the_paths():
    assert canonical_text(GOOD).splitlines()[:7] == [
        "1. process: The switch raises FanTrayFailed",
        "   -> 2",
        "2. process: Read the fan speeds of the failed tray",
        "   -> 3",
        "3. decision: Is the tray present in its bay?",
        "   if no -> 4",
        "   if yes -> 5",
    ]


def test_other_targets_make_another_text():
    swapped = {"No": "e", "Yes": "d"}
    edges = tuple(
        edge.model_copy(update={"target": swapped.get(edge.condition, edge.target)})
        for edge in EDGES
    )
    worse = Workflow(title=GOOD.title, steps=STEPS, transitions=edges)
    assert canonical_text(worse) != canonical_text(GOOD)


def test_steps_without_a_way_to_them_and_loops_are_not_lost():
    edges = (*EDGES[:2], Transition(source="c", target="a", condition="No"), EDGES[4])
    text = canonical_text(Workflow(title="", steps=STEPS, transitions=edges))
    assert all(step.text in text for step in STEPS)
    assert "if no -> 1" in text


def test_commands_stand_below_their_step_where_asked_for():
    assert "$ show environment fan" in canonical_text(GOOD, with_commands=True)
    assert "$" not in canonical_text(GOOD)


def test_a_workflow_without_steps_is_an_empty_text():
    assert canonical_text(Workflow(title="", steps=())) == ""
