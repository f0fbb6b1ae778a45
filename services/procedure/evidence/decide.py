"""How likely each fact of a workflow is, by the evidence of its lines.

The forests were fitted on drawn pages: facts of the drawings against facts of the same drawings
with one mistake (`flowxpert bench fit-judge`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from services.kit.fits.fitted import FittedFile
from services.kit.fits.trees import Forest
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.procedure.evidence.facts import Signs
from services.workflow.plain import plain

_SUREST = 0.98
"""No evidence makes a fact surer than this before others have been heard."""
BY_EVIDENCE = "lines"
"""Who decides without a model: the evidence of the lines."""


class Forests(FittedFile):
    """What was fitted, by the kind of the fact."""

    SHIPPED: ClassVar = Path(__file__).with_name("forests.json")
    INDENT: ClassVar = None

    forests: dict[FactKind, Forest]
    provenance: str = ""
    """What they were fitted on, and by which command."""
    figures: dict[str, float] = Field(default_factory=dict)
    """How well each kind of fact is told on ids that nothing was fitted on (AUC)."""


@dataclass(frozen=True)
class Decided:
    """A fact and the chance that it is right."""

    fact: Fact
    chance: float
    by: str = BY_EVIDENCE

    def moved(self, log_odds: float) -> "Decided":
        """The same fact with so much more evidence for it."""
        bounded = min(_SUREST, max(1 - _SUREST, self.chance))
        odds = math.log(bounded / (1 - bounded)) + log_odds
        return replace(self, chance=1 / (1 + math.exp(-odds)))

    def with_chance(self, chance: float, by: str) -> "Decided":
        """The same fact, decided by somebody else."""
        return replace(self, chance=chance, by=by)


def decide(facts: Iterable[tuple[Fact, Signs]], forests: Forests) -> list[Decided]:
    """Every fact of a workflow, by its signs."""
    return [
        Decided(fact, forests.forests[fact.kind].chance(signs))
        for fact, signs in facts
        if fact.kind in forests.forests
    ]


def least_likely(decided: Iterable[Decided], kinds: Sequence[FactKind]) -> Decided | None:
    """The fact of these kinds that speaks most against the workflow."""
    return min((d for d in decided if d.fact.kind in kinds), key=lambda d: d.chance, default=None)


def in_words(fact: Fact, drawn: Drawn) -> str:
    """The claim as a person reads it."""
    texts: Mapping[str, str] = {s.id: plain(s.text) for s in drawn.workflow.steps}
    step, other = texts[fact.step], texts.get(fact.other, "")
    match fact.kind:
        case FactKind.GUARD:
            return f"“{step}” only if “{other}” is answered {fact.answer or 'so'}"
        case FactKind.FREE:
            return f"“{step}” whatever was answered"
        case FactKind.ARROW:
            on = f" on {fact.answer}" if fact.answer else ""
            return f"after “{step}”{on} comes “{other}”"
        case FactKind.QUESTION:
            return f"“{step}” is asked"
        case FactKind.END:
            return f"the work ends with “{step}”"
