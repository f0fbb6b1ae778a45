"""How likely the best hit treats this very fault: logistic curves, fitted by `flowxpert bench`."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from services.retrieval.fuse import Evidence, Signals

_FILE = Path(__file__).with_name("calibration.json")


class Curve(BaseModel):
    """A logistic curve over what `features` gives."""

    model_config = ConfigDict(frozen=True)

    intercept: float
    weights: dict[str, float]
    """By the name of a feature."""

    def chance(self, values: Mapping[str, float]) -> float:
        """0–1."""
        logit = self.intercept + sum(w * values[name] for name, w in self.weights.items())
        return 1.0 / (1.0 + math.exp(-logit))


class Calibration(BaseModel):
    """What was fitted, on what, and how well it does on what it was not fitted on.

    Alerts and what people write have a curve each: an alert shares few words with its page even
    where it is the right one, and more with its name.
    """

    model_config = ConfigDict(frozen=True)

    alerts: Curve
    text: Curve
    provenance: str
    """What it was fitted on, and by which command."""
    figures: dict[str, dict[str, float]] = {}
    """How it does on the ids it was fitted on and on the others."""

    def write(self) -> None:
        """Make it the one in use from the next start on."""
        _FILE.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")


CALIBRATION = Calibration.model_validate_json(_FILE.read_text(encoding="utf-8"))


def features(ranked: Sequence[Evidence]) -> dict[str, float]:
    """What tells a known fault from an unknown one, of the best document and its distance."""
    if not ranked:
        return dict.fromkeys((*Signals._fields, "margin"), 0.0)
    best = ranked[0]
    second = ranked[1].score if len(ranked) > 1 else 0.0
    return {**best.signals._asdict(), "margin": best.score - second}


def confidence(ranked: Sequence[Evidence], *, is_alert: bool) -> float:
    """Calibrated chance, 0–1; 0 when nothing was found."""
    if not ranked:
        return 0.0
    curve = CALIBRATION.alerts if is_alert else CALIBRATION.text
    return curve.chance(features(ranked))
