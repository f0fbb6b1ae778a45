"""Fitted parameters that distinguish steps from the rest of a page."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from services.kit.fits.fitted import FittedFile, Spread, refuse_unknown
from services.kit.fits.trees import Forest
from services.knowledge.page.box_signs import SIGNS, SIGNS_HASH, Row

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
"""Features of a row that lie between 0 and 1."""
_WHETHER_ANY = {"nested": "depth", "inline_code": "codes", "long": "breaks"}
"""Coarse features, each 1 if a count of the row is positive."""
HABIT_SIGNS = (*_AS_THEY_ARE, *_WHETHER_ANY)
_PLACES = {name: place for place, name in enumerate(SIGNS)}
_NEAREST = 0.001
"""Smallest distance of a chance from 0 and from 1."""

Habit = Mapping[str, float]
"""Log-odds by `BIAS` and the names of coarse features; empty if nothing was learned."""
AS_SHIPPED: Habit = {}


class BoxFit(FittedFile):
    """Model of the chance that a block is a step, with the threshold from which it gets a box."""

    SHIPPED: ClassVar = Path(__file__).with_name("boxes.json")
    INDENT: ClassVar = None

    signs_hash: str
    """Hash of the names of the features that the forest was fitted on."""
    threshold: Annotated[float, Field(gt=0, lt=1)]
    forest: Forest
    provenance: str = ""
    """Material and command of the fit."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Measures of each set by a fit that left it out, and of all sets together."""

    @model_validator(mode="after")
    def _is_of_these_signs(self) -> Self:
        if self.signs_hash != SIGNS_HASH or tuple(self.forest.signs) != SIGNS:
            raise ValueError(
                f"expected numbers fitted on the signs {SIGNS_HASH}, got {self.signs_hash!r};"
                " fit them again with `flowxpert bench fit-boxes`"
            )
        return self

    def chances(self, rows: Sequence[Row], lists: Sequence[object]) -> list[float]:
        """Return the chance of being a step for each row of features; `lists` as in `list_means`.

        It is of the block's list as a whole.
        """
        return list_means(self.forest.chances(rows), lists)

    def are_steps(
        self, rows: Sequence[Row], lists: Sequence[object], habit: Habit = AS_SHIPPED
    ) -> list[bool]:
        """Decide for each row of features if it is a step; `lists` as in `list_means`.

        A `habit` counts for each block by itself, so that it may part a list.
        """
        chances = self.chances(rows, lists)
        if not habit:
            return [chance >= self.threshold for chance in chances]
        least = log_odds(self.threshold)
        return [
            log_odds(chance) + added_log_odds(coarse_signs(row), habit) >= least
            for chance, row in zip(chances, rows, strict=True)
        ]


@cache
def shipped_fit() -> BoxFit:
    """Return the parameters that come with the package, read once."""
    return BoxFit.shipped()


def list_means(chances: Sequence[float], lists: Sequence[object]) -> list[float]:
    """Return the mean chance of each block's list: items of one list are steps together, or none.

    `lists` names the list of each block; a block of none has a name of its own. Left-out F1 is
    half a point above that of blocks by themselves, and no list has boxes at some of its items.
    """
    members: dict[object, list[float]] = {}
    for chance, name in zip(chances, lists, strict=True):
        members.setdefault(name, []).append(chance)
    means = {name: sum(own) / len(own) for name, own in members.items()}
    return [means[name] for name in lists]


class BoxHabit(FittedFile):
    """Log-odds that coarse features add to a block's chance of being a step.

    The shipped forest knows pages of many teams, but not the writing habits of any one team: this
    holds what its owners' corrections taught. As shipped, it adds nothing.
    """

    NAME: ClassVar = "boxes"
    SHIPPED: ClassVar = Path(__file__).with_name("box_habit.json")

    bias: float = 0.0
    weights: dict[str, float]
    spread: Spread = Field(default=Spread())
    """Spread of the bias, then of the weights."""
    provenance: str = ""
    """Material of the fit."""

    @model_validator(mode="after")
    def _names_known_signs(self) -> Self:
        refuse_unknown(self.weights, HABIT_SIGNS)
        return self

    @property
    def habit(self) -> Habit:
        """The parameters in the form passed along with a page; empty if they change nothing."""
        numbers = {BIAS: self.bias, **self.weights}
        return {name: number for name, number in numbers.items() if number}


def coarse_signs(row: Row) -> dict[str, float]:
    """Return the coarse features of a row of `box_signs.signs_of`, each 0–1."""
    own = {name: float(row[_PLACES[name]]) for name in _AS_THEY_ARE}
    return own | {name: float(row[_PLACES[of]] > 0) for name, of in _WHETHER_ANY.items()}


def added_log_odds(signs: Mapping[str, float], habit: Habit) -> float:
    """Return the log-odds a habit adds for a block's coarse features; unknown names add nothing."""
    return habit.get(BIAS, 0.0) + math.fsum(
        habit.get(name, 0.0) * value for name, value in signs.items()
    )


def log_odds(chance: float) -> float:
    """Return the log-odds of a chance, bounded."""
    bounded = min(1 - _NEAREST, max(_NEAREST, chance))
    return math.log(bounded / (1 - bounded))
