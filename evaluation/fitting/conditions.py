"""`bench fit-conditions`: how likely a condition is right, from what readers really get wrong."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.fitting.forests import fitted_forest
from evaluation.measures.conditions import ConditionExample
from evaluation.measures.marked import MOST_RIGHT, marked_figures
from services.kit.fits.trees import Forest
from services.runbook.evidence.conditions import ConditionForests
from services.runbook.evidence.fact import FactKind

_FOLDS = 5

Examples = Sequence[ConditionExample]


def fit_conditions(seen: Examples, unseen: Examples, provenance: str) -> ConditionForests:
    """Fitted on the seen ones; bars by forests of other pages' folders, figures of the unseen."""
    bars = {
        kind: round(float(np.quantile(right, MOST_RIGHT)), 3)
        for kind in FactKind
        if (right := [chance for each, chance in _crossed(seen, kind) if each.is_right])
    }
    forests = _forests(seen)
    fitted = ConditionForests(
        forests=forests,
        bars={kind: bars[kind] for kind in forests if kind in bars},
        provenance=provenance,
    )
    figures = marked_figures(unseen, fitted)
    return fitted.model_copy(update={"figures": figures})


def _crossed(seen: Examples, kind: FactKind) -> list[tuple[ConditionExample, float]]:
    """Each with its chance by forests that saw no page of its folder: siblings are copies."""
    own = [each for each in seen if each.kind is kind]
    predictions = []
    for fold in range(_FOLDS):
        forests = _forests([each for each in own if _fold(each.row) != fold])
        in_fold = [each for each in own if _fold(each.row) == fold and kind in forests]
        predictions += [(each, forests[kind].chance(each.signs)) for each in in_fold]
    return predictions


def _forests(examples: Examples) -> Mapping[FactKind, Forest]:
    by_kind = {kind: [e for e in examples if e.kind is kind] for kind in FactKind}
    return {
        kind: fitted_forest(
            [(each.signs, each.is_right) for each in own],
            is_balanced=False,
            trees=90,
            rate=0.07,
            signs_tried=0.2,
        )[1]
        for kind, own in by_kind.items()
        if len({each.is_right for each in own}) > 1
    }


def _fold(row: str) -> int:
    folder = row.rpartition("/")[0]
    return int(hashlib.sha256(folder.encode()).hexdigest(), 16) // 2 % _FOLDS
