"""Chance of each condition of a reading that its page really says it.

Errors of readers differ from single mistakes in a drawing: these forests were fitted on readings
(`flowxpert bench fit-conditions`), those of `decide` on drawings. They only mark doubts, and take
part in no score.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from services.kit.fits.fitted import FittedFile
from services.kit.fits.trees import Forest
from services.kit.text import ellipsize
from services.kit.value import Value
from services.runbook.evidence.fact import Fact, FactKind, Features
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.place_features import Surroundings
from services.runbook.model import Reader
from services.workflow.model import Step, StepKind, Transition, Workflow
from services.workflow.plain import plain

MOST_STEPS = 200
"""The most steps of a procedure that its owner is asked about: facts grow with their square."""
MOST_DOUBTS = 5
"""Marks of a workflow; where most steps are marked nobody reads the marks."""
_LONGEST_TEXT = 90

Facts = Sequence[tuple[Fact, Features]]


class ConditionForests(FittedFile):
    """The fitted forests, by the kind of fact."""

    SHIPPED: ClassVar = Path(__file__).with_name("conditions.json")
    INDENT: ClassVar = None

    forests: dict[FactKind, Forest]
    bars: dict[FactKind, Annotated[float, Field(ge=0, le=1)]]
    """The chance below which a fact of this kind is marked."""
    provenance: str = ""
    """The material and the command of the fit."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Results on held-out ids, by reader and kind."""


@cache
def shipped_forests() -> ConditionForests:
    """Return the forests that come with the package, read once."""
    return ConditionForests.shipped()


class Condition(Value):
    """One claim of a workflow about its page, with the chance that it is right."""

    kind: FactKind
    step: str
    other: str = ""
    answer: str = ""
    chance: float

    @classmethod
    def of(cls, fact: Fact, chance: float) -> "Condition":
        """Create a condition from a fact and its chance."""
        return cls(**fact._asdict(), chance=round(chance, 3))

    @property
    def fact(self) -> Fact:
        """The claim itself."""
        return Fact(self.kind, self.step, self.other, self.answer)


def condition_features(
    grounded: GroundedWorkflow, facts: Facts
) -> list[tuple[Fact, dict[str, float]]]:
    """Return the facts that are conditions, with all their features.

    Of arrows only those from a question, and those to a step with several entries.
    """
    surroundings, workflow = Surroundings(grounded), grounded.workflow
    entries = Counter(edge.target for edge in workflow.transitions)

    def is_condition(fact: Fact) -> bool:
        is_answer = workflow.by_id[fact.step].kind is StepKind.DECISION
        return fact.kind is not FactKind.ARROW or is_answer or entries[fact.other] > 1

    return [
        (fact, {**signs, **surroundings.features_of(fact)})
        for fact, signs in facts
        if is_condition(fact)
    ]


def conditions_of(
    grounded: GroundedWorkflow, facts: Facts, forests: ConditionForests
) -> tuple[Condition, ...]:
    """Return the conditions of a workflow with their chances; none if a person wrote it."""
    origin = grounded.workflow.provenance
    if origin and (origin.reader == Reader.PERSON.value or origin.planner == "human"):
        return ()
    return tuple(
        Condition.of(fact, forests.forests[fact.kind].chance(features))
        for fact, features in condition_features(grounded, facts)
        if fact.kind in forests.forests
    )


def with_doubts(
    workflow: Workflow, conditions: Iterable[Condition], bars: Mapping[FactKind, float]
) -> Workflow:
    """Return the workflow with the chance of each step and arrow, and with doubtful ones marked.

    Of several conditions of a step the least likely one counts. At most `MOST_DOUBTS` are marked,
    the likeliest wrong ones: of steps under one answer the first, no way back, and nothing that
    hangs on a question which the page does not ask.

    Args:
        workflow: The workflow.
        conditions: Its conditions.
        bars: Chances below which a condition is doubtful, by kind; none is of a kind that is not
            there.
    """
    places = {step.id: place for place, step in enumerate(workflow.steps)}
    of_steps: dict[str, Condition] = {}
    of_arrows: dict[tuple[str, str, str], Condition] = {}
    doubts: dict[str, Condition] = {}
    for each in sorted(conditions, key=lambda c: c.chance):
        if each.kind is FactKind.ARROW:
            of_arrows[each.step, each.other, each.answer] = each
        else:
            of_steps.setdefault(each.step, each)
        if each.chance >= bars.get(each.kind, 0.0) or len(doubts) == MOST_DOUBTS:
            continue
        is_same = any(
            each.kind is FactKind.GUARD is other.kind
            and (each.other, each.answer) == (other.other, other.answer)
            for other in doubts.values()
        )
        is_back = each.kind is FactKind.ARROW and places[each.other] < places[each.step]
        question = workflow.by_id.get(each.step if each.kind is FactKind.ARROW else each.other)
        is_implied = question is not None and question.implied
        if not is_implied and not is_same and not is_back:
            doubts.setdefault(each.step, each)
    texts = {step.id: ellipsize(plain(step.text), _LONGEST_TEXT) for step in workflow.steps}
    questions = {step: _doubt_in_words(doubt, texts) for step, doubt in doubts.items()}
    steps: list[Step] = []
    for step in workflow.steps:
        changed: dict[str, object] = {}
        if step.id in of_steps:
            changed["chance"] = of_steps[step.id].chance
        if step.id in questions and not step.doubt:
            changed["doubt"] = questions[step.id]
        steps.append(step.model_copy(update=changed) if changed else step)
    transitions: list[Transition] = []
    for edge in workflow.transitions:
        of_edge = of_arrows.get((edge.source, edge.target, edge.condition.strip().casefold()))
        update = {"chance": of_edge.chance} if of_edge else {}
        transitions.append(edge.model_copy(update=update) if update else edge)
    return workflow.model_copy(update={"steps": tuple(steps), "transitions": tuple(transitions)})


def without_doubts(workflow: Workflow) -> Workflow:
    """Return the workflow with nothing marked as doubtful: a person has approved its decisions."""
    steps = tuple(s.model_copy(update={"doubt": ""}) if s.doubt else s for s in workflow.steps)
    return workflow.model_copy(update={"steps": steps})


def _doubt_in_words(doubt: Condition, texts: Mapping[str, str]) -> str:
    """Return what to check on the page, to be shown behind “Not sure:”."""
    other = f"“{texts.get(doubt.other, '')}”"
    answer = doubt.answer.capitalize()
    match doubt.kind:
        case FactKind.GUARD:
            return f"whether this hangs on {answer} to {other}"
        case FactKind.FREE:
            return "whether this is done in any case"
        case FactKind.QUESTION:
            return "whether the page asks this"
        case FactKind.END:
            return "whether the work is over here"
        case FactKind.ARROW:
            return f"whether {answer} leads to {other}" if answer else f"whether {other} is next"
