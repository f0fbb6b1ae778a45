"""What is doubtful of a reading is marked where it stands."""

import pytest

from services.runbook.evidence.conditions import (
    MOST_DOUBTS,
    Condition,
    ConditionForests,
    conditions_of,
    with_doubts,
)
from services.runbook.evidence.fact import FactKind
from services.runbook.evidence.facts import facts_of
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.workflow.model import Provenance, Step, StepKind, Transition, Workflow
from tests.unit.runbook.evidence.fan import RIGHT

FORESTS = ConditionForests.shipped()
FLOW = Workflow(
    title="Pump",
    steps=(
        Step(id="ask", kind=StepKind.DECISION, text="Does the pump stand still?"),
        Step(id="prime", kind=StepKind.PROCESS, text="Prime it"),
        Step(id="start", kind=StepKind.PROCESS, text="Start it"),
        Step(id="end", kind=StepKind.TERMINAL, text="Resolved"),
    ),
    transitions=(
        Transition(source="ask", target="prime", condition="Yes"),
        Transition(source="ask", target="end", condition="No"),
        Transition(source="prime", target="start"),
        Transition(source="start", target="end"),
    ),
)


def guard(step: str, chance: float) -> Condition:
    return Condition(kind=FactKind.GUARD, step=step, other="ask", answer="yes", chance=chance)


def by_reader(
    drawn: GroundedWorkflow, reader: str, planner: str = "extractive"
) -> GroundedWorkflow:
    origin = Provenance(planner=planner, reader=reader)
    return GroundedWorkflow(drawn.workflow.model_copy(update={"provenance": origin}), drawn.pages)


def test_what_is_less_likely_than_its_bar_is_marked_in_words():
    guards = [guard("prime", 0.2), guard("start", 0.9)]
    flow = with_doubts(FLOW, guards, {FactKind.GUARD: 0.5})
    prime, start = flow.by_id["prime"], flow.by_id["start"]
    assert (prime.chance, start.chance, start.doubt) == (0.2, 0.9, "")
    assert prime.doubt == "whether this hangs on Yes to “Does the pump stand still?”"
    assert [step.id for step in flow.judged] == ["prime", "start"]


def test_one_gate_of_many_steps_is_marked_once():
    guards = [guard("prime", 0.1), guard("start", 0.1)]
    flow = with_doubts(FLOW, guards, {FactKind.GUARD: 0.5})
    assert [step.id for step in flow.steps if step.doubt] == ["prime"]


def test_only_the_likeliest_wrong_conditions_are_marked():
    steps = [f"s{n}" for n in range(MOST_DOUBTS + 3)]
    long = Workflow(
        title="Pumps", steps=tuple(Step(id=s, kind=StepKind.PROCESS, text=s) for s in steps)
    )
    frees = [
        Condition(kind=FactKind.FREE, step=s, chance=0.4 - n / 100) for n, s in enumerate(steps)
    ]
    flow = with_doubts(long, frees, {FactKind.FREE: 0.5})
    assert [step.id for step in flow.steps if step.doubt] == steps[3:]


def test_the_least_likely_thing_said_of_a_step_counts():
    question = Condition(kind=FactKind.QUESTION, step="ask", chance=0.4)
    way = Condition(kind=FactKind.ARROW, step="ask", other="end", answer="no", chance=0.1)
    flow = with_doubts(FLOW, [question, way], {FactKind.QUESTION: 0.5, FactKind.ARROW: 0.5})
    assert flow.by_id["ask"].chance == 0.4
    assert flow.by_id["ask"].doubt == "whether No leads to “Resolved”"
    assert [edge.chance for edge in flow.transitions] == [None, 0.1, None, None]


def test_what_the_reading_itself_doubts_stays_shown():
    steps = (FLOW.steps[0], FLOW.steps[1].model_copy(update={"doubt": "Said twice"}))
    flow = FLOW.model_copy(update={"steps": (*steps, *FLOW.steps[2:])})
    assert (
        with_doubts(flow, [guard("prime", 0.1)], {FactKind.GUARD: 0.5}).by_id["prime"].doubt
        == "Said twice"
    )


@pytest.mark.parametrize("reader", ["composed", "model", "imported"])
def test_every_condition_of_a_machine_has_a_chance(reader):
    drawn = by_reader(RIGHT, reader)
    conditions = conditions_of(drawn, facts_of(drawn), FORESTS)
    steps = {each.step for each in conditions if each.kind is not FactKind.ARROW}
    assert steps >= {s.id for s in drawn.workflow.steps if s.citations}
    assert all(0 < each.chance < 1 for each in conditions)


@pytest.mark.parametrize(("reader", "planner"), [("person", "extractive"), ("", "human")])
def test_what_a_person_wrote_is_not_judged(reader, planner):
    drawn = by_reader(RIGHT, reader, planner)
    assert conditions_of(drawn, facts_of(drawn), FORESTS) == ()


def test_what_hangs_on_a_question_that_the_page_does_not_ask_is_not_marked():
    steps = (FLOW.steps[0].model_copy(update={"implied": True}), *FLOW.steps[1:])
    flow = FLOW.model_copy(update={"steps": steps})
    way = Condition(kind=FactKind.ARROW, step="ask", other="end", answer="no", chance=0.1)
    bars = {FactKind.GUARD: 0.5, FactKind.ARROW: 0.5}
    for each in (guard("prime", 0.1), way):
        assert any(step.doubt for step in with_doubts(FLOW, [each], bars).steps)
        assert not any(step.doubt for step in with_doubts(flow, [each], bars).steps)


def test_a_page_that_says_so_is_likelier_than_one_that_does_not():
    drawn = by_reader(RIGHT, "model")
    chances = {c.fact: c.chance for c in conditions_of(drawn, facts_of(drawn), FORESTS)}
    assert max(chances.values()) > FORESTS.bars[FactKind.GUARD]
