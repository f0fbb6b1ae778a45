"""Calibration of a model's choice: the chance that the page which is then first is right."""

import math
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from services.kit.fits.fitted import FittedFile, FittedNumbers
from services.tickets.page_choice.model_choice import ModelChoice

_FURTHEST = 0.98
"""Bound of every stated chance: nobody is believed to be surer."""


class LogitCurve(FittedNumbers):
    """Logistic curve over log-odds."""

    intercept: float
    stated: float
    """Weight of the log-odds that the model states."""
    retrieval: float
    """Weight of the log-odds that retrieval has for its own first page."""

    def chance(self, stated: float, retrieval: float) -> float:
        """Return the chance, between 0 and 1."""
        of_model, of_retrieval = self.log_odds(stated, retrieval)
        logit = self.intercept + self.stated * of_model + self.retrieval * of_retrieval
        return 1 / (1 + math.exp(-logit))

    @staticmethod
    def log_odds(stated: float, retrieval: float) -> tuple[float, float]:
        """Return the log-odds of both, bounded."""
        return _logit(stated), _logit(retrieval)


class ChoiceChance(FittedFile):
    """Chances that follow from a model's choice of a page.

    Fitted by `flowxpert bench page-choice --write` on recorded answers of a strong model. A weaker
    model is heard by the same numbers: a data folder may hold its own.
    """

    SHIPPED: ClassVar = Path(__file__).with_name("choice.json")

    same: LogitCurve
    """Curve if the model chooses retrieval's first page: the chance that it is right."""
    other: LogitCurve
    """Curve if it chooses another page: the chance that this one is right."""
    none: LogitCurve
    """Curve if it chooses none: the chance that retrieval's first is right all the same."""
    sure_from: float = Field(ge=0, le=1)
    """Chance from which the page is said to be surely the one."""
    provenance: str = ""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Metrics on the ids they were fitted on, and on the others."""

    def chance_of(self, chosen: ModelChoice, first: str, retrieval: float) -> float:
        """Return the chance of the page that is first with this choice; `first` was so before."""
        if chosen.page is None:
            return self.none.chance(chosen.stated, retrieval)
        curve = self.same if chosen.page == first else self.other
        return curve.chance(chosen.stated, retrieval)


def _logit(chance: float) -> float:
    bounded = min(_FURTHEST, max(1 - _FURTHEST, chance))
    return math.log(bounded / (1 - bounded))
