"""How much each sign of a dimension says: drawings against what is worse than they are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from evaluation.benches.scoring.judge_candidates import FAR, NEAR
from evaluation.fitting.pieces import REFERENCE, Piece
from evaluation.perturbations.kinds import Perturbation
from services.kit.fits.trees import Forest
from services.runbook.evidence.fact import FactKind, ScoredFact
from services.scorer.criteria import FEATURES
from services.scorer.scoring_fit import DimensionWeights, ScoringWeights

AGAINST = frozenset(
    {"instructions missing", "conditions missing", "beside instructions", "repeated", "ends"}
    | {"implied"}
)
"""Signs that speak against a workflow; all others speak for it."""
Vector = NDArray[np.float64]
Bounds = tuple[float | None, float | None]
Row = Mapping[tuple[str, str], float]
"""Signs by dimension and name."""

_PENALTY = 0.03
_REAL_WEIGHT = 3.0
"""What a flawed reading counts when a copy with a mistake counts 1."""
_LEAST = {("accuracy", "support"): 4.0}
"""Weights that are not fitted below this: drawings are in words of their own, so that among them
and readings in the words of the page support would come to count for nothing."""
_REFERENCES_AT = 1.4
"""Log-odds of the mean drawing on the scale: 4.2 of 5."""
_TEMPERATURE = 1.5


def signs_of(piece: Piece, forests: Mapping[FactKind, Forest]) -> Row:
    """All signs of a piece whose facts these forests decide."""
    decided = [
        ScoredFact(fact, forests[fact.kind].chance(signs))
        for fact, signs in piece.facts
        if fact.kind in forests
    ]
    case = replace(piece.case, decided=decided)
    return {
        (dimension, name): value
        for dimension, signs in FEATURES.items()
        for name, value in signs(case).items()
    }


def fit_weighings(rows: Sequence[Sequence[tuple[Piece, Row]]], provenance: str) -> ScoringWeights:
    """Logistic regression of differences: of each row the reference, less everything worse."""
    names = sorted({name for pieces in rows for _, row in pieces for name in row})
    scale = np.std([_vector(row, names) for pieces in rows for _, row in pieces], axis=0) + 1e-6
    weighted_differences = [
        ((_vector(pieces[0][1], names) - _vector(row, names)) / scale, _weight(piece))
        for pieces in rows
        for piece, row in pieces
        if _is_worse(piece)
    ]
    differences = np.array([difference for difference, _ in weighted_differences])
    weights = np.array([weight for _, weight in weighted_differences])
    coefficients = _bounded(
        differences,
        weights,
        [_bounds(name, float(by)) for name, by in zip(names, scale, strict=True)],
    )
    fitted = dict(zip(names, coefficients / scale / _TEMPERATURE, strict=True))
    references = [pieces[0][1] for pieces in rows]
    return ScoringWeights(
        dimensions={name: _weighing(name, fitted, references) for name in FEATURES},
        provenance=provenance,
    )


def _bounded(differences: Vector, weights: Vector, bounds: Sequence[Bounds]) -> Vector:
    """Logistic regression whose weights may not turn a sign into its opposite."""

    def loss(coefficients: Vector) -> tuple[float, Vector]:
        margins = differences @ coefficients
        value = weights @ np.logaddexp(0.0, -margins) + coefficients @ coefficients / (2 * _PENALTY)
        slope = -(weights / (1 + np.exp(np.clip(margins, -50, 50)))) @ differences
        return float(value), slope + coefficients / _PENALTY

    start = np.array([least or 0.0 for least, _ in bounds])
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)


def _bounds(sign: tuple[str, str], scale: float) -> Bounds:
    if sign[1] in AGAINST:
        return None, 0.0
    return _LEAST.get(sign, 0.0) * scale * _TEMPERATURE, None


def _weighing(
    dimension: str, fitted: Mapping[tuple[str, str], float], references: Sequence[Row]
) -> DimensionWeights:
    weights = {name: round(float(w), 5) for (of, name), w in fitted.items() if of == dimension}
    totals = [
        sum(weights[name] * value for (of, name), value in row.items() if of == dimension)
        for row in references
    ]
    middle = float(np.mean(totals)) - _REFERENCES_AT
    return DimensionWeights(weights=weights, middle=round(middle, 5))


def _is_worse(piece: Piece) -> bool:
    return piece.origin not in {REFERENCE, Perturbation.REWORDED, NEAR, FAR}


def _weight(piece: Piece) -> float:
    return 1.0 if piece.is_made_worse else _REAL_WEIGHT


def _vector(row: Row, names: Sequence[tuple[str, str]]) -> Vector:
    return np.array([row.get(name, 0.0) for name in names])
