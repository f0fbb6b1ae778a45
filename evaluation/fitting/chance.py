"""The chance that a workflow is acceptable, fitted on what is made of drawn pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from evaluation.fitting.pieces import REFERENCE, Piece
from evaluation.material.pairs import is_fitted
from evaluation.measures.telling_apart import auc, calibration_error
from services.contracts.scorer import DIMENSIONS
from services.learning.regression import FittedWeights, update_chance_covariance
from services.scorer.chance import BY_RULES, CHECKED, Chance, features_of, is_by_rules

_SIGNS = (*DIMENSIONS, BY_RULES, CHECKED)
_PENALTY = 0.01


@dataclass(frozen=True)
class Sample:
    """A scored workflow, and whether an expert would accept it."""

    set: str
    is_fitted: bool
    signs: Mapping[str, float]
    acceptable: bool

    @classmethod
    def of(cls, piece: Piece, values: Mapping[str, float], *, is_acceptable: bool) -> Self:
        """A piece of the material, with its values on the scale."""
        row, origin = piece.row, piece.case.workflow.provenance
        signs = features_of(
            values, is_by_rules=is_by_rules(origin), is_checked=piece.origin == REFERENCE
        )
        return cls(row.set, is_fitted(row.id), signs, is_acceptable)


def fit_chance(samples: Sequence[Sample], provenance: str) -> Chance:
    """Fitted on the even ids; its figures are of the odd ones, and of corpora left out."""
    even = [sample for sample in samples if sample.is_fitted]
    odd = [sample for sample in samples if not sample.is_fitted]
    fitted = _fitted(even)
    left_out = [
        (of.of(sample.signs), sample)
        for name in sorted({sample.set for sample in samples})
        if any(sample.set != name for sample in even)
        for of in [_fitted([sample for sample in even if sample.set != name])]
        for sample in odd
        if sample.set == name
    ]
    predictions = [(fitted.of(sample.signs), sample) for sample in odd]
    figures = _figures("odd", predictions)
    return fitted.model_copy(
        update={
            "provenance": provenance,
            "figures": figures | _figures("odd, corpus left out", left_out),
        }
    )


def _fitted(samples: Sequence[Sample]) -> Chance:
    """Logistic regression in which no dimension may count against a workflow.

    The drawings stand for checked readings.
    """
    table = np.array([[s.signs[name] for name in _SIGNS] for s in samples])
    truth = np.array([1.0 if sample.acceptable else -1.0 for sample in samples])
    coefficients = _minimised(np.c_[table, np.ones(len(table))], truth)
    usual = table[truth > 0].mean(axis=0)
    free = FittedWeights(
        np.r_[coefficients[-1], coefficients[:-1]], np.eye(len(coefficients)) / (2 * _PENALTY)
    )
    ones = np.ones(len(table))
    posterior = update_chance_covariance(np.c_[ones, table], (truth > 0).astype(float), ones, free)
    return Chance(
        spread=posterior.spread(("bias", *_SIGNS)),
        weights={n: round(float(w), 4) for n, w in zip(_SIGNS, coefficients, strict=False)},
        bias=round(float(coefficients[-1]), 4),
        usual={n: round(float(u), 4) for n, u in zip(_SIGNS, usual, strict=True)},
    )


def _minimised(table: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    def loss(coefficients: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = truth * (table @ coefficients)
        value = np.logaddexp(0.0, -margins).sum() + _PENALTY * coefficients @ coefficients
        slope = -(truth / (1 + np.exp(np.clip(margins, -50, 50)))) @ table
        return float(value), slope + 2 * _PENALTY * coefficients

    signed = [(None, 0.0) if name == BY_RULES else (0.0, None) for name in _SIGNS]
    bounds = [*signed, (None, None)]
    start = np.zeros(table.shape[1])
    return np.asarray(minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x)


def _figures(name: str, predictions: Sequence[tuple[float, Sample]]) -> dict[str, float]:
    if not predictions:
        return {}
    right = [chance for chance, sample in predictions if sample.acceptable]
    wrong = [chance for chance, sample in predictions if not sample.acceptable]
    figures = {"n": float(len(predictions)), "auc": auc(right, wrong) or 0.0}
    figures["ece"] = calibration_error(
        [(chance, sample.acceptable) for chance, sample in predictions]
    )
    return {f"{name}, {figure}": value for figure, value in figures.items()}
