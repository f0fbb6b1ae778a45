"""How likely the best hit treats this very fault: a logistic curve, fitted by `flowxpert bench`."""

import math
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from services.retrieval.fuse import Evidence, Signals

_FILE = Path(__file__).with_name("calibration.json")


class Calibration(BaseModel):
    """What was fitted, on what, and how well it does on what it was not fitted on."""

    model_config = ConfigDict(frozen=True)

    intercept: float
    weights: dict[str, float]
    """By the name of a feature of `features`."""
    threshold: float
    """Chance from which something known is said to fit."""
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


def confidence(ranked: Sequence[Evidence]) -> float:
    """Calibrated chance, 0–1; 0 when nothing was found."""
    if not ranked:
        return 0.0
    values = features(ranked)
    logit = CALIBRATION.intercept + sum(
        weight * values[name] for name, weight in CALIBRATION.weights.items()
    )
    return 1.0 / (1.0 + math.exp(-logit))
