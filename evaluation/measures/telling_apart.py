"""How well scores tell a right workflow from a wrong one, and what a stated chance is worth."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from scipy.stats import kendalltau

from evaluation.measures.figures import Figures

OVERALL = "overall"
SCORE = "score"
"""The figure of overall beside those of the dimensions."""
_BINS = 10
_SAME = 1e-9


@dataclass(frozen=True)
class Judgement:
    """One workflow that was scored for a row."""

    row: str
    set: str
    is_fitted: bool
    origin: str
    severity: float
    draw: int
    harm: float
    values: Mapping[str, float]
    """The five dimensions and overall."""
    chance: float | None
    """That it is acceptable, where the scorer tells one."""
    good_enough: bool
    acceptable: bool
    guards: float

    def record(self) -> dict[str, object]:
        """As JSON."""
        fields = {name: value for name, value in vars(self).items() if name != "values"}
        return fields | {name: round(value, 4) for name, value in self.values.items()}


Pair = tuple[Judgement, Judgement]
"""The better one and the worse one."""


def wins(better: float, worse: float) -> float:
    """1 where the better one has more, a tie counting half."""
    if abs(better - worse) < _SAME:
        return 0.5
    return float(better > worse)


def of_pairs(pairs: Sequence[Pair]) -> Figures:
    """Share of the pairs whose better one has more, overall and by dimension, and by how much."""
    if not pairs:
        return {}
    figures: Figures = {"n": len(pairs)}
    figures |= {
        shown: round(fmean(wins(a.values[name], b.values[name]) for a, b in pairs), 4)
        for name, shown in _columns(pairs[0][0]).items()
    }
    changes = [a.values[OVERALL] - b.values[OVERALL] for a, b in pairs]
    figures["margin"] = round(fmean(changes), 4)
    figures["distance"] = round(fmean(map(abs, changes)), 4)
    figures["harm"] = round(fmean(b.harm for _, b in pairs), 4)
    return figures


def auc(better: Sequence[float], worse: Sequence[float]) -> float | None:
    """The chance that one of the better has more than one of the worse."""
    if not better or not worse:
        return None
    ordered = np.sort(np.asarray(worse, dtype=np.float64))
    low = np.searchsorted(ordered, np.asarray(better) - _SAME, side="left")
    high = np.searchsorted(ordered, np.asarray(better) + _SAME, side="right")
    return round(float((low + high).mean()) / (2 * len(worse)), 4)


def unpaired(better: Sequence[Judgement], worse: Sequence[Judgement]) -> Figures:
    """Each dimension's own area under the curve over all rows."""
    if not better or not worse:
        return {}
    areas = {
        shown: auc([j.values[name] for j in better], [j.values[name] for j in worse])
        for name, shown in _columns(better[0]).items()
    }
    return {"n": len(worse)} | {name: area for name, area in areas.items() if area is not None}


def harm_tau(judged: Sequence[Judgement]) -> float | None:
    """Kendall's tau between harm and score among the copies of a row, the mean over the rows."""
    rows: dict[str, list[Judgement]] = {}
    for one in judged:
        rows.setdefault(one.row, []).append(one)
    taus = [_tau(of) for of in rows.values() if len({one.harm for one in of}) > 1]
    return round(fmean(taus), 4) if taus else None


def _tau(judged: Sequence[Judgement]) -> float:
    """0 where all scores are equal; above 0 where less harm has more."""
    scores = [round(one.values[OVERALL], 9) for one in judged]
    if len(set(scores)) == 1:
        return 0.0
    return -float(kendalltau([one.harm for one in judged], scores).statistic)


def of_acceptable(judged: Sequence[Judgement]) -> Figures:
    """How well overall, and the chance where there is one, tell the acceptable ones."""
    figures: Figures = {"n": len(judged)}
    if not judged:
        return figures
    figures["acceptable"] = round(fmean(j.acceptable for j in judged), 4)
    figures |= _area(judged, "score_auc", lambda j: j.values[OVERALL])
    predictions = [(j, j.chance) for j in judged if j.chance is not None]
    if predictions:
        figures |= _area([j for j, _ in predictions], "chance_auc", lambda j: j.chance or 0.0)
        figures["chance"] = round(fmean(chance for _, chance in predictions), 4)
        figures["ece"] = calibration_error([(chance, j.acceptable) for j, chance in predictions])
    return figures


def calibration_error(predictions: Iterable[tuple[float, bool]]) -> float:
    """The expected calibration error over ten bins of equal width."""
    bins = list(reliability(predictions).values())
    total = sum(of["n"] for of in bins)
    gaps = (of["n"] * abs(of["chance"] - of["acceptable"]) for of in bins)
    return round(sum(gaps) / total, 4) if total else 0.0


def reliability(predictions: Iterable[tuple[float, bool]]) -> dict[str, Figures]:
    """Chances in ten bins of equal width beside what came true; bins without any are missing."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for chance, is_so in predictions:
        bins.setdefault(min(_BINS - 1, int(chance * _BINS)), []).append((chance, is_so))
    return {
        f"{place / _BINS:.0%} to {(place + 1) / _BINS:.0%}": {
            "n": len(members),
            "chance": fmean(chance for chance, _ in members),
            "acceptable": fmean(is_so for _, is_so in members),
        }
        for place, members in sorted(bins.items())
    }


def _columns(judged: Judgement) -> dict[str, str]:
    """What is measured and what it is called, overall first."""
    return {OVERALL: SCORE} | {name: name for name in judged.values if name != OVERALL}


def _area(judged: Sequence[Judgement], name: str, value: Callable[[Judgement], float]) -> Figures:
    area = auc(
        [value(j) for j in judged if j.acceptable], [value(j) for j in judged if not j.acceptable]
    )
    return {} if area is None else {name: area}
