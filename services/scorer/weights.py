"""How much each part of the scorer has to say, fitted by `flowxpert bench fit-scorer`."""

import math
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

_FILE = Path(__file__).with_name("weights.json")


class Curve(BaseModel):
    """A logistic curve that makes 1–5 of a mean log-probability."""

    model_config = ConfigDict(frozen=True)

    mid: float = -1.5
    """What stands for 3. Both defaults only serve to show the part of a model nobody fitted."""
    steepness: float = 2.0

    def value(self, mean: float) -> float:
        """1–5."""
        logit = max(-50.0, self.steepness * (mean - self.mid))
        return 1 + 4 / (1 + math.exp(-logit))

    def mean(self, value: float) -> float:
        """The mean log-probability that stands for this value."""
        share = min(1 - 1e-12, max(1e-12, (value - 1) / 4))
        return self.mid + math.log(share / (1 - share)) / self.steepness


class ModelWeights(BaseModel):
    """What was fitted for one model, on what, and how well it does on what it was not fitted on."""

    model_config = ConfigDict(frozen=True)

    weights: dict[str, dict[str, float]]
    """Share of each part's vote, by dimension; together 1."""
    likelihood: Curve = Curve()
    provenance: str
    """What it was fitted on, and by which command."""
    figures: dict[str, dict[str, float]] = {}
    """Paired AUC by kind of perturbation, before and after."""

    def is_heard(self, part: str) -> bool:
        """Whether the part has a say in any dimension."""
        return any(shares.get(part, 0.0) > 0 for shares in self.weights.values())


class Weights(BaseModel):
    """All that was fitted, by the name of the model."""

    model_config = ConfigDict(frozen=True)

    models: dict[str, ModelWeights] = {}

    def with_model(self, name: str, found: ModelWeights) -> "Weights":
        """These and, in place of what was there, what was found for one model."""
        return Weights(models={**self.models, name: found})

    def write(self) -> None:
        """Make them the ones in use from the next start on."""
        _FILE.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")


Shares = Mapping[str, Mapping[str, float]]
"""Weight of each part by dimension."""

WEIGHTS = Weights.model_validate_json(_FILE.read_text(encoding="utf-8"))
