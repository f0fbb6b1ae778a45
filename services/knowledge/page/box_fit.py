"""Fitted numbers that tell steps from the rest of a page."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from services.kit.fits.fitted import FittedFile
from services.kit.fits.trees import Forest
from services.knowledge.page.box_habit import (
    AS_SHIPPED,
    Habit,
    added_log_odds,
    coarse_signs,
    log_odds,
)
from services.knowledge.page.box_signs import SIGNS, SIGNS_HASH, Row


class BoxFit(FittedFile):
    """Chance of a block to be a step, and the chance from which it has a box."""

    SHIPPED: ClassVar = Path(__file__).with_name("boxes.json")
    INDENT: ClassVar = None

    signs_hash: str
    """Hash of the names of the signs that the forest was fitted on."""
    threshold: Annotated[float, Field(gt=0, lt=1)]
    forest: Forest
    provenance: str = ""
    """Material and command of the fit."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Of each set by a fit that left it out, and of all sets together."""

    @model_validator(mode="after")
    def _is_of_these_signs(self) -> Self:
        if self.signs_hash != SIGNS_HASH or tuple(self.forest.signs) != SIGNS:
            raise ValueError(
                f"expected numbers fitted on the signs {SIGNS_HASH}, got {self.signs_hash!r};"
                " fit them again with `flowxpert bench fit-boxes`"
            )
        return self

    def chances(self, rows: Sequence[Row], lists: Sequence[object]) -> list[float]:
        """Return for each row of signs the chance that it is of a step; `lists` as in `list_means`.

        It is of the block's list as a whole.
        """
        return list_means(self.forest.chances(rows), lists)

    def are_steps(
        self, rows: Sequence[Row], lists: Sequence[object], habit: Habit = AS_SHIPPED
    ) -> list[bool]:
        """Return for each row of signs whether it is of a step; `lists` as in `list_means`.

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
    """Return the numbers that come with the package, read once."""
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
