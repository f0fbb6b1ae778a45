"""The calibrated chance that an expert would accept a workflow: its five scores, and who read.

Fitted on drawings, on what readers made of the pages, on drawings with mistakes and on drawings of
other pages (`flowxpert bench fit-judge`); `acceptable` is the bar of `evaluation.measures.logic`.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from services.contracts.scorer import DIMENSIONS, Score
from services.kit.fits.fitted import FittedFile, Spread, refuse_unknown
from services.procedure.model import Reader
from services.workflow.model import Provenance, WorkflowKind

Signs = Mapping[str, float]
BY_RULES, CHECKED = "read by rules", "checked"
_NO_CHECK = "The page was read by rules and nobody has checked the reading."

_EDGE = 0.02
"""How near to its ends a value may come on the scale."""
_LIKELY = 0.9
"""From this chance on nothing that lowers it is named."""
_NAMED = 0.4
"""Log-odds that a dimension must cost, beside a usual right workflow, before it is named."""


class Chance(FittedFile):
    """What each dimension says of the chance."""

    NAME: ClassVar = "acceptance"
    SHIPPED: ClassVar = Path(__file__).with_name("chance.json")

    weights: dict[str, float]
    bias: float
    as_it_is: float = Field(default=0.96, gt=0, lt=1)
    """Share of right pages, shown as they are, that an engineer would follow: 27 of 28 by blind
    readers (95 % interval .82–.99)."""
    usual: dict[str, float]
    """Log-odds of each dimension where the workflow is acceptable."""
    spread: Spread = Field(default=Spread())
    """Of the bias, then of the weights."""
    provenance: str = ""
    """What it was fitted on, and by which command."""
    figures: dict[str, float] = Field(default_factory=dict)
    """Calibration error and AUC on ids, and on corpora, that nothing was fitted on."""

    @model_validator(mode="after")
    def _reads_its_signs(self) -> Self:
        refuse_unknown((*self.weights, *self.usual), (*DIMENSIONS, BY_RULES, CHECKED))
        return self

    def of(self, signs: Mapping[str, float]) -> float:
        """0–1."""
        total = sum(weight * signs.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, self.bias + total))))

    def costs(self, signs: Mapping[str, float]) -> dict[str, float]:
        """Log-odds that signs cost beside what is usual, the heaviest first."""
        lost = {
            name: weight * (self.usual.get(name, 0.0) - signs.get(name, 0.0))
            for name, weight in self.weights.items()
        }
        heavy = {name: cost for name, cost in lost.items() if cost >= _NAMED}
        return dict(sorted(heavy.items(), key=lambda item: -item[1]))


def signs_of(values: Mapping[str, float], *, is_by_rules: bool, is_checked: bool) -> Signs:
    """The log-odds of the five values, and how far who read the page is to be trusted."""
    told = {name: _log_odds(value) for name, value in values.items()}
    return told | {BY_RULES: float(is_by_rules), CHECKED: float(is_checked)}


def _log_odds(value: float) -> float:
    """Of a value of 1–5, as a share of the scale."""
    share = min(1 - _EDGE, max(_EDGE, (value - 1) / 4))
    return math.log(share / (1 - share))


def chance_of_page(confidence: float, share: float) -> float:
    """The chance that a page treats the ticket.

    `confidence` is that of the page which retrieval found to be the best; the others have what is
    left, less where they are less relevant (`share` of the best one's relevance, 0–1).
    """
    return confidence if share >= 1 else (1 - confidence) * share


def with_chance(
    score: Score, origin: Provenance | None, fitted: Chance, of_page: float = 1.0
) -> Score:
    """The score with its chance; as it was where nothing was fitted.

    `of_page` is the chance that the page treats the ticket; the fit says how likely the workflow is
    right where it does.
    """
    if not fitted.weights:
        return score
    if origin is not None and origin.kind is WorkflowKind.CHECKLIST:
        return score.model_copy(update={"chance": of_page * fitted.as_it_is})
    values = {name: score.dimensions[name].value for name in DIMENSIONS}
    signs = signs_of(values, is_by_rules=is_by_rules(origin), is_checked=is_checked(origin))
    chance = of_page * fitted.of(signs)
    costs = fitted.costs(signs) if chance < _LIKELY else {}
    reasons = [_NO_CHECK] if BY_RULES in costs else []
    reasons += [score.dimensions[name].reason for name in costs if name in score.dimensions]
    return score.model_copy(update={"chance": chance, "lowered_by": tuple(reasons)})


def is_by_rules(origin: Provenance | None) -> bool:
    """Whether the page was read by rules alone, and nobody has checked it."""
    return bool(
        origin
        and origin.planner == "extractive"
        and origin.reader in {"", Reader.RULES.value}
        and not is_checked(origin)
    )


def is_checked(origin: Provenance | None) -> bool:
    """Whether a person stands for the reading."""
    return origin is not None and origin.is_approved
