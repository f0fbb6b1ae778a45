"""Fitted parts of scoring: forests decide facts, and weights and chance follow from these.

The weights turn features of a candidate into values of 1–5. They were fitted together over the
dimensions: drawings against the same drawings with one mistake, and against what readers made of
the page (`flowxpert bench fit-judge`).
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from services.contracts.scorer import DIMENSIONS
from services.kit.fits.fitted import FittedFile, FittedNumbers, refuse_unknown
from services.runbook.evidence.conditions import ConditionForests
from services.runbook.evidence.fact import Forests
from services.scorer.chance import Chance

Features = Mapping[str, float]


def on_scale(share: float) -> float:
    """Map a share of 0–1 to the scale of 1–5."""
    return 1 + 4 * min(1.0, max(0.0, share))


class DimensionWeights(FittedNumbers):
    """Weights of the features of one dimension."""

    weights: dict[str, float] = Field(default_factory=dict)
    middle: float = 0.0
    """Weighted sum that maps to the value 3."""

    def value(self, features: Features) -> float:
        """Return the value, 1–5; 3 if nothing was fitted."""
        total = math.fsum(self.weights.get(name, 0.0) * value for name, value in features.items())
        return on_scale(1 / (1 + math.exp(-max(-50.0, min(50.0, total - self.middle)))))


class ScoringWeights(FittedFile):
    """Fitted weights by dimension."""

    SHIPPED: ClassVar = Path(__file__).with_name("weighing.json")

    dimensions: dict[str, DimensionWeights]
    provenance: str = ""
    """Data that they were fitted on, and the command that fitted them."""

    @model_validator(mode="after")
    def _reads_its_dimensions(self) -> Self:
        refuse_unknown(self.dimensions, DIMENSIONS)
        return self

    def of(self, dimension: str) -> DimensionWeights:
        """Return the weights of one dimension; empty ones if it was not fitted."""
        return self.dimensions.get(dimension, DimensionWeights())


@dataclass(frozen=True)
class ScoringFit:
    """Fitted parts of scoring, fitted in turn on the same rows: they belong together."""

    forests: Forests
    weighings: ScoringWeights
    chance: Chance
    conditions: ConditionForests
    """Fitted separately: it marks conditions, and no score depends on it."""

    @classmethod
    def shipped(cls) -> Self:
        """Return the parts that come with the package."""
        return cls(
            Forests.shipped(),
            ScoringWeights.shipped(),
            Chance.shipped(),
            ConditionForests.shipped(),
        )

    @classmethod
    def of_folder(cls, data_folder: Path) -> Self:
        """Read each part from the data folder if it has one, else take the shipped part.

        Raises:
            UnusableFitError: A file there cannot be used.
        """
        return cls(
            Forests.of_folder(data_folder),
            ScoringWeights.of_folder(data_folder),
            Chance.of_folder(data_folder),
            ConditionForests.of_folder(data_folder),
        )

    @property
    def hash(self) -> str:
        """Hash of all parts except the chance, which belongs to one ticket."""
        all_of_it = (self.forests.hash, self.weighings.hash, self.conditions.hash)
        return hashlib.sha256("".join(all_of_it).encode()).hexdigest()[:16]

    def write(self) -> None:
        """Write the parts as those shipped."""
        self.forests.write()
        self.weighings.write()
        self.chance.write()
