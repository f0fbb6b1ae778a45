"""Forests that tell right facts from wrong ones, as numbers that the product reads without help."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from evaluation.fitting.pieces import REFERENCE, Piece
from evaluation.perturbations.kinds import Perturbation
from services.kit.fits.trees import Forest, Tree
from services.runbook.evidence.fact import FactKind

_TREES, _LEAVES, _RATE, _LEAST = 40, 8, 0.15, 20
"""Small: more of them told facts of unseen pages no better by more than a point."""
_FAR = 1e9
"""Where a threshold is infinite: beyond all signs."""

Example = tuple[Mapping[str, float], bool]


def examples(rows: Sequence[Sequence[Piece]]) -> dict[FactKind, list[Example]]:
    """Facts of the references and of reworded copies as right, those only of copies as wrong."""
    by_kind: dict[FactKind, list[Example]] = {kind: [] for kind in FactKind}
    for pieces in rows:
        right = {fact for fact, _ in pieces[0].facts}
        for piece in pieces:
            if piece.origin != REFERENCE and not piece.is_made_worse:
                continue
            keeps = piece.origin in {REFERENCE, Perturbation.REWORDED}
            for fact, signs in piece.facts:
                if keeps or fact not in right:
                    by_kind[fact.kind].append((signs, fact in right))
    return by_kind


def fit_forests(rows: Sequence[Sequence[Piece]]) -> dict[FactKind, Forest]:
    """One forest for each kind of fact; right and wrong ones weigh the same."""
    return {
        kind: fitted_forest(kind_examples)[1]
        for kind, kind_examples in examples(rows).items()
        if kind_examples
    }


def areas(forests: Mapping[FactKind, Forest], rows: Sequence[Sequence[Piece]]) -> dict[str, float]:
    """How well each forest tells right from wrong on these rows (AUC)."""
    figures = {}
    for kind, kind_examples in examples(rows).items():
        truths = [is_right for _, is_right in kind_examples]
        if kind in forests and len(set(truths)) > 1:
            chances = [forests[kind].chance(signs) for signs, _ in kind_examples]
            figures[kind.value] = round(float(roc_auc_score(truths, chances)), 3)
    return figures


def fitted_forest(
    rows: Sequence[Example],
    *,
    is_balanced: bool = True,
    names: Sequence[str] = (),
    trees: int = _TREES,
    leaves: int = _LEAVES,
    rate: float = _RATE,
    signs_tried: float = 1.0,
) -> tuple[HistGradientBoostingClassifier, Forest]:
    """The classifier, and what it says as numbers.

    Balanced, right and wrong ones weigh the same; else its chances are as often right as they say.
    `names` are the signs in the forest's order; without them all that occur, by name.
    `signs_tried` is the share of the signs that each leaf is split by, drawn anew.
    """
    names = names or sorted({name for signs, _ in rows for name in signs})
    table = np.array([[signs.get(name, np.nan) for name in names] for signs, _ in rows])
    right = np.array([is_right for _, is_right in rows])
    weights = np.where(right, 0.5 / max(1, right.sum()), 0.5 / max(1, (~right).sum()))
    weights = weights * len(right) if is_balanced else np.ones(len(right))
    model = HistGradientBoostingClassifier(
        max_iter=trees,
        max_leaf_nodes=leaves,
        learning_rate=rate,
        min_samples_leaf=_LEAST,
        l2_regularization=1.0,
        max_features=signs_tried,
        early_stopping=False,
        random_state=0,
    ).fit(table, right, sample_weight=weights)
    return model, _as_numbers(model, names)


def _as_numbers(model: HistGradientBoostingClassifier, names: Sequence[str]) -> Forest:
    start = float(np.ravel(model._baseline_prediction)[0])
    trees = [_tree(each[0].nodes) for each in model._predictors]
    return Forest(signs=list(names), start=round(start, 5), trees=trees)


def _tree(nodes: NDArray[np.void]) -> Tree:
    is_leaf = nodes["is_leaf"].astype(bool)
    below = np.where(is_leaf, nodes["value"], nodes["num_threshold"])
    return Tree(
        sign=np.where(is_leaf, -1, nodes["feature_idx"]).astype(int).tolist(),
        below=[float(value) for value in np.clip(below, -_FAR, _FAR)],
        left=nodes["left"].astype(int).tolist(),
        right=nodes["right"].astype(int).tolist(),
        missing_left=nodes["missing_go_to_left"].astype(int).tolist(),
    )
