"""How likely the best hit treats this very fault: logistic curves, fitted by `flowxpert bench`."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from services.kit.fitted import FittedFile, FittedNumbers, refuse_unknown
from services.retrieval.fuse import DocumentEvidence, Signals

FEATURES = (*Signals._fields, "margin")


class Curve(FittedNumbers):
    """A logistic curve over what `features` gives."""

    intercept: float
    weights: dict[str, float]
    """By the name of a feature."""

    @model_validator(mode="after")
    def _reads_its_features(self) -> Self:
        refuse_unknown(self.weights, FEATURES)
        return self

    def chance(self, values: Mapping[str, float]) -> float:
        """0–1."""
        logit = self.intercept + sum(w * values[name] for name, w in self.weights.items())
        return 1.0 / (1.0 + math.exp(-logit))


class Calibration(FittedFile):
    """What was fitted, on what, and how well it does on what it was not fitted on.

    Alerts and what people write have a curve each: an alert shares few words with its page even
    where it is the right one, and more with its name.
    """

    SHIPPED: ClassVar = Path(__file__).with_name("calibration.json")

    alerts: Curve
    text: Curve
    provenance: str
    """What it was fitted on, and by which command."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """How it does on the ids it was fitted on and on the others."""


def features(ranked: Sequence[DocumentEvidence]) -> dict[str, float]:
    """What tells a known fault from an unknown one, of the best document and its distance."""
    if not ranked:
        return dict.fromkeys(FEATURES, 0.0)
    best = ranked[0]
    second = ranked[1].score if len(ranked) > 1 else 0.0
    return {**best.signals._asdict(), "margin": best.score - second}


def confidence(
    ranked: Sequence[DocumentEvidence], calibration: Calibration, *, is_alert: bool
) -> float:
    """Calibrated chance, 0–1; 0 when nothing was found."""
    if not ranked:
        return 0.0
    curve = calibration.alerts if is_alert else calibration.text
    return curve.chance(features(ranked))
