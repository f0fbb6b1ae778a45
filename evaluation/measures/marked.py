"""What marks on conditions are worth: of the wrong ones how many are marked, and of the right ones.

Marking at random marks as many of both.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from evaluation.measures.bootstrap import DRAWS, LEVEL
from evaluation.measures.conditions import ConditionExample
from evaluation.measures.figures import Figures
from evaluation.measures.telling_apart import auc, calibration_error
from services.runbook.evidence.conditions import ConditionForests
from services.runbook.evidence.fact import FactKind

MOST_RIGHT = 0.28
"""Share of the right ones that may be marked, where the bar is set."""
_ALLOWED = 0.30
"""Share of the right ones at which the wrong ones are counted, whatever the bar."""

Examples = Sequence[ConditionExample]
_Predictions = Sequence[tuple[ConditionExample, float]]


def marked_figures(examples: Examples, fitted: ConditionForests) -> dict[str, Figures]:
    """By reader and kind, with an interval by page; and over all kinds."""
    predictions = [
        (each, fitted.forests[each.kind].chance(each.signs))
        for each in examples
        if each.kind in fitted.forests
    ]
    figures: dict[str, Figures] = {}
    for reader in dict.fromkeys(each.reader for each in examples):
        of_reader = [(e, c) for e, c in predictions if e.reader == reader]
        for kind in FactKind:
            own = [(e, c) for e, c in of_reader if e.kind is kind]
            if len({e.is_right for e, _ in own}) > 1:
                figures[f"{reader}, {kind.value}"] = _of_kind(own, fitted.bars.get(kind, 0.0))
        marked = [(e, c < fitted.bars.get(e.kind, 0.0)) for e, c in of_reader]
        if marked:
            share = round(float(np.mean([is_marked for _, is_marked in marked])), 3)
            figures[f"{reader}, all"] = {
                "right": sum(e.is_right for e, _ in marked),
                "wrong": sum(not e.is_right for e, _ in marked),
                "right marked": _share(m for e, m in marked if e.is_right),
                "wrong marked": _share(m for e, m in marked if not e.is_right),
                "ece": calibration_error([(c, e.is_right) for e, c in of_reader]),
            }
            figures[f"{reader}, at random"] = {"right marked": share, "wrong marked": share}
    return figures


def _of_kind(predictions: _Predictions, bar: float) -> Figures:
    right = [chance for each, chance in predictions if each.is_right]
    wrong = [chance for each, chance in predictions if not each.is_right]
    low, high = _interval(predictions)
    return {
        "right": len(right),
        "wrong": len(wrong),
        "right marked": _share(chance < bar for chance in right),
        "wrong marked": _share(chance < bar for chance in wrong),
        "auc": auc(right, wrong) or 0.0,
        "wrong at 30 %": round(_at_allowed(right, wrong), 3),
        "from": low,
        "to": high,
        "ece": calibration_error([(chance, each.is_right) for each, chance in predictions]),
    }


def _at_allowed(right: Sequence[float], wrong: Sequence[float]) -> float:
    return float(np.mean(np.array(wrong) < np.quantile(right, _ALLOWED)))


def _interval(predictions: _Predictions) -> tuple[float, float]:
    """Of the wrong ones marked at the allowed share, pages drawn with replacement."""
    pages: dict[str, list[tuple[bool, float]]] = {}
    for each, chance in predictions:
        pages.setdefault(each.row, []).append((each.is_right, chance))
    rows, rng, shares = list(pages.values()), np.random.default_rng(0), []
    for _ in range(DRAWS // 10):
        drawn = [one for place in rng.integers(len(rows), size=len(rows)) for one in rows[place]]
        right = [chance for is_right, chance in drawn if is_right]
        wrong = [chance for is_right, chance in drawn if not is_right]
        if right and wrong:
            shares.append(_at_allowed(right, wrong))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(shares, [tail, 1 - tail])
    return round(float(low), 3), round(float(high), 3)


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return round(float(np.mean(values)), 3) if values else 0.0
