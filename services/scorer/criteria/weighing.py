"""From signs of a candidate to a value of 1–5.

The weights were fitted together over the dimensions: drawings against the same drawings with one
mistake, and against what readers made of the page (`flowxpert bench fit-judge`).
"""

import math
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from services.scorer.criteria.case import on_scale

_FILE = Path(__file__).with_name("weighing.json")

Signs = Mapping[str, float]


class Weighing(BaseModel):
    """How much the signs of one dimension say."""

    model_config = ConfigDict(frozen=True)

    weights: dict[str, float] = {}
    middle: float = 0.0
    """The weighted sum that stands for 3."""

    def value(self, signs: Signs) -> float:
        """1–5; 3 where nothing was fitted."""
        total = math.fsum(self.weights.get(name, 0.0) * value for name, value in signs.items())
        return on_scale(1 / (1 + math.exp(-max(-50.0, min(50.0, total - self.middle)))))


class Weighings(BaseModel):
    """What was fitted, by dimension."""

    model_config = ConfigDict(frozen=True)

    dimensions: dict[str, Weighing] = {}
    provenance: str = ""
    """What they were fitted on, and by which command."""

    def write(self) -> None:
        """Make them those in use from the next start on."""
        _FILE.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    def of(self, dimension: str) -> Weighing:
        """Of one dimension; without weights where it was not fitted."""
        return self.dimensions.get(dimension, Weighing())


WEIGHINGS = (
    Weighings.model_validate_json(_FILE.read_text(encoding="utf-8"))
    if _FILE.is_file()
    else Weighings()
)
