"""Corrections of a platform's own people on which form makes a block a step.

The forest that is shipped knows pages of many teams. Of one team's habits of writing it knows
nothing: this adds, to the log-odds that a block is a step, what its owners' words taught of a
handful of coarse signs of form. Shipped, it adds nothing.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field, model_validator

from services.kit.fits.fitted import FittedFile, Spread, refuse_unknown
from services.knowledge.page.box_signs import SIGNS, Row

BIAS = "bias"
_AS_THEY_ARE = (
    "item",
    "numbered",
    "label",
    "begins_strong",
    "ends_with_colon",
    "link_share",
    "callout",
    "paragraph_of_item",
    "code_below",
)
"""Signs of a row that lie between 0 and 1."""
_WHETHER_ANY = {"nested": "depth", "inline_code": "codes", "long": "breaks"}
"""Coarse signs, each 1 where a count of a row is more than none."""
HABIT_SIGNS = (*_AS_THEY_ARE, *_WHETHER_ANY)
_PLACES = {name: place for place, name in enumerate(SIGNS)}
_NEAREST = 0.001
"""To 0 and to 1."""

Habit = Mapping[str, float]
"""Log-odds by `BIAS` and the names of coarse signs; nothing where nothing was learned."""
AS_SHIPPED: Habit = {}


class BoxHabit(FittedFile):
    """Log-odds that coarse signs add to a block's chance of being a step."""

    NAME: ClassVar = "boxes"
    SHIPPED: ClassVar = Path(__file__).with_name("box_habit.json")

    bias: float = 0.0
    weights: dict[str, float]
    spread: Spread = Field(default=Spread())
    """Of the bias, then of the weights."""
    provenance: str = ""
    """Material of the fit."""

    @model_validator(mode="after")
    def _names_known_signs(self) -> "BoxHabit":
        refuse_unknown(self.weights, HABIT_SIGNS)
        return self

    @property
    def habit(self) -> Habit:
        """The numbers as they go with a page; none where they change nothing."""
        numbers = {BIAS: self.bias, **self.weights}
        return {name: number for name, number in numbers.items() if number}


def coarse_signs(row: Row) -> dict[str, float]:
    """Return the coarse signs of a row of `box_signs.signs_of`, each 0–1."""
    own = {name: float(row[_PLACES[name]]) for name in _AS_THEY_ARE}
    return own | {name: float(row[_PLACES[of]] > 0) for name, of in _WHETHER_ANY.items()}


def added_log_odds(signs: Mapping[str, float], habit: Habit) -> float:
    """Return what a habit adds for a block of these coarse signs; unknown names add nothing."""
    return habit.get(BIAS, 0.0) + math.fsum(
        habit.get(name, 0.0) * value for name, value in signs.items()
    )


def log_odds(chance: float) -> float:
    """Return the log-odds of a chance, bounded."""
    bounded = min(1 - _NEAREST, max(_NEAREST, chance))
    return math.log(bounded / (1 - bounded))
