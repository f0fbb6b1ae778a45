"""From signs of a candidate to a value of 1–5.

The weights were fitted together over the dimensions: drawings against the same drawings with one
mistake, and against what readers made of the page (`flowxpert bench fit-judge`).
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from services.contracts.scorer import DIMENSIONS
from services.kit.fits.fitted import FittedFile, FittedNumbers, refuse_unknown

Signs = Mapping[str, float]


def on_scale(share: float) -> float:
    """0–1 as 1–5."""
    return 1 + 4 * min(1.0, max(0.0, share))


class Weighing(FittedNumbers):
    """How much the signs of one dimension say."""

    weights: dict[str, float] = Field(default_factory=dict)
    middle: float = 0.0
    """The weighted sum that stands for 3."""

    def value(self, signs: Signs) -> float:
        """1–5; 3 where nothing was fitted."""
        total = math.fsum(self.weights.get(name, 0.0) * value for name, value in signs.items())
        return on_scale(1 / (1 + math.exp(-max(-50.0, min(50.0, total - self.middle)))))


class Weighings(FittedFile):
    """What was fitted, by dimension."""

    SHIPPED: ClassVar = Path(__file__).with_name("weighing.json")

    dimensions: dict[str, Weighing]
    provenance: str = ""
    """What they were fitted on, and by which command."""

    @model_validator(mode="after")
    def _reads_its_dimensions(self) -> Self:
        refuse_unknown(self.dimensions, DIMENSIONS)
        return self

    def of(self, dimension: str) -> Weighing:
        """Of one dimension; without weights where it was not fitted."""
        return self.dimensions.get(dimension, Weighing())
