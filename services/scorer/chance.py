"""Calibrated chance that an expert would accept a workflow: from its five scores and its reader.

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
from services.runbook.checking.approvals import ApprovalUse, is_approved_for
from services.runbook.model import Reader
from services.workflow.model import Provenance, WorkflowKind

Features = Mapping[str, float]
BY_RULES, CHECKED = "read by rules", "checked"
_NO_CHECK = "The page was read by rules and nobody has checked the reading."

_EDGE = 0.02
"""Least distance of a value from the ends of the scale, as a share of the scale."""
_LIKELY = 0.9
"""Chance from which nothing that lowers it is named."""
_NAMED = 0.4
"""Log-odds that a dimension must cost, compared with a usual right workflow, to be named."""


class Chance(FittedFile):
    """Logistic model of the chance over the dimensions."""

    NAME: ClassVar = "acceptance"
    SHIPPED: ClassVar = Path(__file__).with_name("chance.json")

    weights: dict[str, float]
    bias: float
    as_it_is: float = Field(default=0.96, gt=0, lt=1)
    """Share of right pages, shown as they are, that an engineer would follow: 27 of 28 by blind
    readers (95 % interval .82–.99)."""
    usual: dict[str, float]
    """Log-odds of each dimension for acceptable workflows."""
    spread: Spread = Field(default=Spread())
    """Spread of the bias, then of the weights."""
    provenance: str = ""
    """Data that it was fitted on, and the command that fitted it."""
    figures: dict[str, float] = Field(default_factory=dict)
    """Calibration error and AUC on held-out ids and corpora."""

    @model_validator(mode="after")
    def _reads_its_signs(self) -> Self:
        refuse_unknown((*self.weights, *self.usual), (*DIMENSIONS, BY_RULES, CHECKED))
        return self

    def of(self, features: Mapping[str, float]) -> float:
        """Return the chance, 0–1."""
        total = sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, self.bias + total))))

    def costs(self, features: Mapping[str, float]) -> dict[str, float]:
        """Return the log-odds that features cost compared with usual ones, the heaviest first."""
        lost = {
            name: weight * (self.usual.get(name, 0.0) - features.get(name, 0.0))
            for name, weight in self.weights.items()
        }
        heavy = {name: cost for name, cost in lost.items() if cost >= _NAMED}
        return dict(sorted(heavy.items(), key=lambda item: -item[1]))


def features_of(values: Mapping[str, float], *, is_by_rules: bool, is_checked: bool) -> Features:
    """Return the log-odds of the five values, and how far the page's reader can be trusted."""
    # Of a value of 1–5, as a share of the scale.
    shares = {n: min(1 - _EDGE, max(_EDGE, (value - 1) / 4)) for n, value in values.items()}
    log_odds = {name: math.log(share / (1 - share)) for name, share in shares.items()}
    return log_odds | {BY_RULES: float(is_by_rules), CHECKED: float(is_checked)}


def chance_of_page(confidence: float, share: float) -> float:
    """Return the chance that a page treats the ticket.

    `confidence` is that of the best page that retrieval returned; the others share what is left,
    reduced if they are less relevant (`share` of the best one's relevance, 0–1).
    """
    return confidence if share >= 1 else (1 - confidence) * share


def with_chance(
    score: Score, origin: Provenance | None, fitted: Chance, of_page: float = 1.0
) -> Score:
    """Return the score with its chance; unchanged if nothing was fitted.

    `of_page` is the chance that the page treats the ticket; the fit says how likely the workflow is
    right if it does.
    """
    if not fitted.weights:
        return score
    if origin is not None and origin.kind is WorkflowKind.CHECKLIST:
        return score.model_copy(update={"chance": of_page * fitted.as_it_is})
    values = {name: score.dimensions[name].value for name in DIMENSIONS}
    features = features_of(values, is_by_rules=is_by_rules(origin), is_checked=is_checked(origin))
    chance = of_page * fitted.of(features)
    costs = fitted.costs(features) if chance < _LIKELY else {}
    reasons = [_NO_CHECK] if BY_RULES in costs else []
    reasons += [score.dimensions[name].reason for name in costs if name in score.dimensions]
    return score.model_copy(update={"chance": chance, "lowered_by": tuple(reasons)})


def is_by_rules(origin: Provenance | None) -> bool:
    """Return True if rules alone read the page and nobody has checked the reading."""
    return bool(
        origin
        and origin.planner == "extractive"
        and origin.reader in {"", Reader.RULES.value}
        and not is_checked(origin)
    )


def is_checked(origin: Provenance | None) -> bool:
    """Return True if a person has approved the reading, its decisions too."""
    return is_approved_for(ApprovalUse.CHANCE, origin)
