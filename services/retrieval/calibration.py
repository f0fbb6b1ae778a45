"""In which order documents stand, and how likely the first treats this very fault: as fitted."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, Self

from pydantic import Field, model_validator

from services.kit.fits.fitted import FittedFile, FittedNumbers, Spread, refuse_unknown


class Signals(NamedTuple):
    """What speaks for a document, each 0–1 (a cosine may be a little under 0)."""

    meaning: float = 0.0
    """Cosine of the whole ticket with the nearest chunk, or with what people say of the page."""
    words: float = 0.0
    """BM25 of the best chunk for the whole ticket, as a share of the best of all."""
    coverage: float = 0.0
    """Share of the ticket's words that the found chunks hold together, rare words first."""
    runs: float = 0.0
    """Share of the ticket's three-word runs that stand in the found chunks literally."""
    title_said: float = 0.0
    """Share of the title's words that the ticket says."""
    line_titled: float = 0.0
    """Share of the one line's words that the title or the headings have."""
    node_meaning: float = 0.0
    """Cosine of the ticket, or its one line, with the nearest incident node."""
    node_words: float = 0.0
    """BM25 of the best incident node, as a share of the best of all."""
    named: float = 0.0
    """1 when the ticket gives the very name of an incident of the document."""


class Order(FittedNumbers):
    """Log-odds that each signal lifts a document over the others, per unit.

    Only the weights' shares matter for the order; their size tells how sure it is.
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
        """The weighted mean of the signals, 0–1."""
        told = signals._asdict() if isinstance(signals, Signals) else signals
        weighted = sum(weight * told.get(name, 0.0) for name, weight in self.weights.items())
        return max(0.0, min(1.0, weighted / sum(self.weights.values())))


FEATURES = (*Signals._fields, "margin")


class Curve(FittedNumbers):
    """A logistic curve over what `features` gives."""

    intercept: float
    weights: dict[str, float]
    """By the name of a feature."""
    spread: Spread = Field(default=Spread())
    """Of the intercept, then of the weights."""

    @model_validator(mode="after")
    def _reads_its_features(self) -> Self:
        refuse_unknown(self.weights, FEATURES)
        return self

    def chance(self, values: Mapping[str, float]) -> float:
        """0–1."""
        logit = self.intercept + sum(w * values[name] for name, w in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, logit))))


class Ranking(FittedNumbers):
    """Of one kind of query."""

    order: Order
    curve: Curve
    """The chance of the document that stands first in that order."""


class Calibration(FittedFile):
    """What was fitted, on what, and how well it does on what it was not fitted on.

    Alerts and what people write have a ranking each: an alert shares few words with its page even
    where it is the right one, and more with its name; people seldom know the page's title.
    """

    NAME: ClassVar = "finding"
    SHIPPED: ClassVar = Path(__file__).with_name("calibration.json")

    alerts: Ranking
    text: Ranking
    provenance: str
    """What it was fitted on, and by which command."""
    figures: dict[str, dict[str, float]] = Field(default_factory=dict)
    """How it does on the ids it was fitted on and on the others."""

    def of(self, *, is_alert: bool) -> Ranking:
        """For a query with the name of an alert, or without."""
        return self.alerts if is_alert else self.text


class Rated(Protocol):
    """A document and what speaks for it."""

    @property
    def signals(self) -> Signals:
        """What speaks for it."""

    @property
    def score(self) -> float:
        """Their weighted mean, 0–1."""


def features(ranked: Sequence[Rated]) -> dict[str, float]:
    """What tells a known fault from an unknown one, of the best document and its distance."""
    if not ranked:
        return dict.fromkeys(FEATURES, 0.0)
    best = ranked[0]
    second = ranked[1].score if len(ranked) > 1 else 0.0
    return {**best.signals._asdict(), "margin": best.score - second}


def confidence(ranked: Sequence[Rated], curve: Curve) -> float:
    """Calibrated chance, 0–1; 0 when nothing was found."""
    return curve.chance(features(ranked)) if ranked else 0.0
