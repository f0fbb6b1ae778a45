"""Calibration: weights that order documents, and the chance that the first treats the fault."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, Self

from pydantic import Field, model_validator

from services.kit.fits.fitted import FittedFile, FittedNumbers, Spread, refuse_unknown


class Signals(NamedTuple):
    """Signals for a document, each 0–1 (a cosine may be a little under 0)."""

    meaning: float = 0.0
    """Cosine of the ticket with the nearest chunk, or with symptom texts of the page."""
    words: float = 0.0
    """BM25 of the best chunk for the whole ticket, as a share of the best of all."""
    coverage: float = 0.0
    """Share of the ticket's words that the found chunks hold together, rare words first."""
    runs: float = 0.0
    """Share of the ticket's three-word runs that stand in the found chunks literally."""
    title_said: float = 0.0
    """Share of the title's words that occur in the ticket."""
    line_titled: float = 0.0
    """Share of the focus line's words that occur in the title or the headings."""
    node_meaning: float = 0.0
    """Cosine of the ticket, or of its focus line, with the nearest incident node."""
    node_words: float = 0.0
    """BM25 of the best incident node, as a share of the best of all."""
    named: float = 0.0
    """1 when the ticket gives the very name of an incident of the document."""


class SignalWeights(FittedNumbers):
    """Log-odds, per unit of a signal, by which a document is lifted over the others.

    Only the weights' shares matter for the order; their size says how certain it is.
    """

    weights: dict[str, float]
    spread: Spread = Field(default=Spread())

    @model_validator(mode="after")
    def _reads_its_signals(self) -> Self:
        refuse_unknown(self.weights, Signals._fields)
        if not any(weight > 0 for weight in self.weights.values()):
            raise ValueError("expected a weight over 0")
        return self

    def score(self, signals: Signals | Mapping[str, float]) -> float:
        """Return the weighted mean of the signals, 0–1."""
        by_name = signals._asdict() if isinstance(signals, Signals) else signals
        weighted = sum(weight * by_name.get(name, 0.0) for name, weight in self.weights.items())
        return max(0.0, min(1.0, weighted / sum(self.weights.values())))


FEATURES = (*Signals._fields, "margin")


class ConfidenceCurve(FittedNumbers):
    """Logistic curve over the values of `features`."""

    intercept: float
    weights: dict[str, float]
    """Weights by the name of a feature."""
    spread: Spread = Field(default=Spread())
    """Spread of the intercept, then of the weights."""

    @model_validator(mode="after")
    def _reads_its_features(self) -> Self:
        refuse_unknown(self.weights, FEATURES)
        return self

    def chance(self, values: Mapping[str, float]) -> float:
        """Return the probability, 0–1."""
        logit = self.intercept + sum(w * values[name] for name, w in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, logit))))


class Ranking(FittedNumbers):
    """Fitted ranking for one kind of query."""

    order: SignalWeights
    curve: ConfidenceCurve
    """Curve of the probability that the first document treats the fault."""


class Calibration(FittedFile):
    """Fitted rankings, with the data that they were fitted on and held-out figures.

    Alerts and texts of people have a ranking each: an alert shares few words with its page even
    where it is the right one, and more with its name; people seldom know the page's title.
    """

    NAME: ClassVar = "finding"
    SHIPPED: ClassVar = Path(__file__).with_name("calibration.json")

    alerts: Ranking
    text: Ranking
    provenance: str
    """Data that it was fitted on, and the command that fitted it."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Results on the ids that it was fitted on and on the others."""

    def of(self, *, is_alert: bool) -> Ranking:
        """Return the ranking for alerts, or the one for texts without an alert's name."""
        return self.alerts if is_alert else self.text


class ScoredDocument(Protocol):
    """A document with its signals and score."""

    @property
    def signals(self) -> Signals:
        """Signals for the document."""

    @property
    def score(self) -> float:
        """Weighted mean of the signals, 0–1."""


def features(ranked: Sequence[ScoredDocument]) -> dict[str, float]:
    """Return the features of a known fault: the best document's signals and its margin."""
    if not ranked:
        return dict.fromkeys(FEATURES, 0.0)
    best = ranked[0]
    second = ranked[1].score if len(ranked) > 1 else 0.0
    return {**best.signals._asdict(), "margin": best.score - second}


def confidence(ranked: Sequence[ScoredDocument], curve: ConfidenceCurve) -> float:
    """Return the calibrated chance, 0–1, that the best document treats the fault; 0 if none."""
    return curve.chance(features(ranked)) if ranked else 0.0
