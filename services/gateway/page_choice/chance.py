"""What a model's choice of a page is worth: the chance that the first page treats the fault."""

import math
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from services.gateway.page_choice.by_model import Chosen
from services.kit.fits.fitted import FittedFile, FittedNumbers

_FURTHEST = 0.98
"""Nobody is surer than this, whatever they say."""


class Curve(FittedNumbers):
    """A logistic curve over log-odds."""

    intercept: float
    stated: float
    """Weight of the log-odds that the model states."""
    retrieval: float
    """Weight of those that retrieval has for its own first page."""

    def chance(self, stated: float, retrieval: float) -> float:
        """0–1."""
        of_model, of_retrieval = self.signs(stated, retrieval)
        logit = self.intercept + self.stated * of_model + self.retrieval * of_retrieval
        return 1 / (1 + math.exp(-logit))

    @staticmethod
    def signs(stated: float, retrieval: float) -> tuple[float, float]:
        """The log-odds of both, bounded."""
        return _logit(stated), _logit(retrieval)


class ChoiceChance(FittedFile):
    """Fitted by `flowxpert bench page-choice --write` on recorded answers of a strong model.

    A weaker model is heard by the same numbers: a data folder may hold its own.
    """

    SHIPPED: ClassVar = Path(__file__).with_name("choice.json")

    same: Curve
    """The model chooses the page that retrieval has first: the chance that it is right."""
    other: Curve
    """It chooses another one: the chance that this is right."""
    none: Curve
    """It chooses none: the chance that retrieval's first is right all the same."""
    sure_from: float = Field(ge=0, le=1)
    """From which chance on the page is said to be surely the one."""
    provenance: str = ""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """How they do on the ids they were fitted on and on the others."""

    def of(self, chosen: Chosen, first: str, retrieval: float) -> float:
        """The chance of the page that stands first with this choice; `first` stood so before."""
        if chosen.page is None:
            return self.none.chance(chosen.stated, retrieval)
        curve = self.same if chosen.page == first else self.other
        return curve.chance(chosen.stated, retrieval)


def _logit(chance: float) -> float:
    bounded = min(_FURTHEST, max(1 - _FURTHEST, chance))
    return math.log(bounded / (1 - bounded))
