"""How likely each condition of a reading is what its page says.

What readers get wrong is not what a mistake in a drawing is: these forests were fitted on readings
(`flowxpert bench fit-conditions`), those of `decide` on drawings. They mark, and take no part in
any score.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from services.kit.fits.fitted import FittedFile
from services.kit.fits.trees import Forest
from services.kit.value import Value
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.procedure.evidence.facts import Signs
from services.procedure.evidence.signs.surroundings import Surroundings
from services.procedure.model import Reader
from services.workflow.model import Step, StepKind, Transition, Workflow
from services.workflow.plain import plain

_LONGEST = 90

Facts = Sequence[tuple[Fact, Signs]]


class ConditionForests(FittedFile):
    """What was fitted, by the kind of the fact."""

    SHIPPED: ClassVar = Path(__file__).with_name("conditions.json")
    INDENT: ClassVar = None

    forests: dict[FactKind, Forest]
    bars: dict[FactKind, Annotated[float, Field(ge=0, le=1)]]
    """The chance under which a fact of this kind is marked."""
    provenance: str = ""
    """What they were fitted on, and by which command."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """By reader and kind, how they do on ids that nothing was fitted on."""


class Condition(Value):
    """One thing that a workflow says of its page, and how likely it is right."""

    kind: FactKind
    step: str
    other: str = ""
    answer: str = ""
    chance: float

    @classmethod
    def of(cls, fact: Fact, chance: float) -> "Condition":
        """A fact with its chance."""
        return cls(**fact._asdict(), chance=round(chance, 3))

    @property
    def fact(self) -> Fact:
        """What is said."""
        return Fact(self.kind, self.step, self.other, self.answer)


def signs_of_conditions(drawn: Drawn, facts: Facts) -> list[tuple[Fact, dict[str, float]]]:
    """The facts that are conditions, with all their signs: of arrows only answers and joins."""
    around, workflow = Surroundings(drawn), drawn.workflow
    entries = Counter(edge.target for edge in workflow.transitions)

    def counts(fact: Fact) -> bool:
        is_answer = workflow.by_id[fact.step].kind is StepKind.DECISION
        return fact.kind is not FactKind.ARROW or is_answer or entries[fact.other] > 1

    return [(fact, {**signs, **around.of(fact)}) for fact, signs in facts if counts(fact)]


def conditions_of(drawn: Drawn, facts: Facts, fitted: ConditionForests) -> tuple[Condition, ...]:
    """The conditions of a workflow that was read by a model or composed; none of a person's own."""
    origin = drawn.workflow.provenance
    if origin and (origin.reader == Reader.PERSON.value or origin.planner == "human"):
        return ()
    return tuple(
        Condition.of(fact, fitted.forests[fact.kind].chance(signs))
        for fact, signs in signs_of_conditions(drawn, facts)
        if fact.kind in fitted.forests
    )


def with_doubts(
    workflow: Workflow, conditions: Iterable[Condition], bars: Mapping[FactKind, float]
) -> Workflow:
    """The workflow with the chance of each step and arrow, and what is doubtful marked.

    Of several things that are said of a step the least likely one counts.
    """
    of_steps: dict[str, Condition] = {}
    of_arrows: dict[tuple[str, str, str], Condition] = {}
    doubts: dict[str, Condition] = {}
    for each in sorted(conditions, key=lambda c: c.chance):
        if each.kind is FactKind.ARROW:
            of_arrows[each.step, each.other, each.answer] = each
        else:
            of_steps.setdefault(each.step, each)
        if each.chance < bars.get(each.kind, 0.0):
            doubts.setdefault(each.step, each)
    said = _in_words(workflow, doubts)
    return workflow.model_copy(
        update={
            "steps": tuple(
                _marked(step, of_steps.get(step.id), said.get(step.id, ""))
                for step in workflow.steps
            ),
            "transitions": tuple(_weighed(edge, of_arrows) for edge in workflow.transitions),
        }
    )


def _marked(step: Step, judged: Condition | None, doubt: str) -> Step:
    changed: dict[str, object] = {}
    if judged is not None:
        changed["chance"] = judged.chance
    if doubt and not step.doubt:
        changed["doubt"] = doubt
    return step.model_copy(update=changed) if changed else step


def _weighed(edge: Transition, judged: Mapping[tuple[str, str, str], Condition]) -> Transition:
    found = judged.get((edge.source, edge.target, edge.condition.strip().casefold()))
    return edge.model_copy(update={"chance": found.chance}) if found else edge


def _in_words(workflow: Workflow, doubts: Mapping[str, Condition]) -> dict[str, str]:
    """By step, what to look up on the page, behind “Not sure:”.

    A gate that many steps stand behind is told in full once.
    """
    texts = {step.id: _short(step.text) for step in workflow.steps}
    found: dict[str, str] = {}
    gates: set[tuple[str, str]] = set()
    for step in workflow.steps:
        if doubt := doubts.get(step.id):
            is_again = doubt.kind is FactKind.GUARD and (doubt.other, doubt.answer) in gates
            gates.add((doubt.other, doubt.answer))
            found[step.id] = _said(doubt, "the same question" if is_again else "", texts)
    return found


def _said(doubt: Condition, other: str, texts: Mapping[str, str]) -> str:
    other = other or f"“{texts.get(doubt.other, '')}”"
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


def _short(text: str) -> str:
    said = plain(text)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1].rstrip()}…"
