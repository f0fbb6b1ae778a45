"""Fitted numbers that tell steps from the rest of a page."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from services.kit.fits.fitted import FittedFile
from services.kit.fits.trees import Forest
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

    def are_steps(self, rows: Sequence[Row]) -> list[bool]:
        """Return for each row of signs whether it is of a step."""
        return [chance >= self.threshold for chance in self.forest.chances(rows)]


@cache
def shipped_fit() -> BoxFit:
    """Return the numbers that come with the package, read once."""
    return BoxFit.shipped()
