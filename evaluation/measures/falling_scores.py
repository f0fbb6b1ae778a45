"""How steadily scores fall: Kendall's tau and the area under the curve, by kind and by set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from scipy.stats import kendalltau

from evaluation.material.pairs import Pair
from evaluation.measures.figures import Figures, Report, mean_figures, mean_over_sets
from services.contracts.scorer import Score

WORSE = ("missing", "shuffled", "foreign")
"""Kinds that must lower the score; rewording must not, swapped branches are the hard case and
stand apart. Overall figures are over these."""


@dataclass(frozen=True)
class Judged:
    """The scores of a reference and of its perturbed copies."""

    pair: Pair
    original: Score
    worse: Mapping[str, Mapping[int, Mapping[float, Score]]]
    """By kind, draw and severity."""
    page_added: bool
    """Whether retrieval missed the pair's page, so that its nodes had to be added."""


def report(judged: Sequence[Judged], config: Mapping[str, object], seconds: float) -> Report:
    """Overall and by set over the kinds that make a workflow worse; each kind apart."""
    sets = _by_set(judged)
    return Report.model_validate(
        {
            "benchmark": "scorer",
            "overall": mean_over_sets(sets),
            "sets": sets,
            "kinds": _by_kind(judged),
            "split": {
                "fitted": _by_kind([case for case in judged if case.pair.is_fitted]),
                "unfitted": _by_kind([case for case in judged if not case.pair.is_fitted]),
            },
            "page_added": fmean(case.page_added for case in judged) if judged else 0.0,
            "config": config,
            "seconds": seconds,
        }
    )


def figures_of(case: Judged, kind: str) -> Figures | None:
    """The figures of one reference under one kind of perturbation; None where it was impossible.

    `kendall_tau` is between severity (0 for the reference itself) and score, the mean over the
    draws; `tau_of_means` the same once, between severity and the mean score over the draws; `auc`
    the chance that the reference scores above its perturbed copy, a tie counting half; `change`
    and `distance` the mean difference of the score, with and without its sign.
    """
    draws = case.worse.get(kind, {})
    scores = [score for draw in draws.values() for score in draw.values()]
    if not scores:
        return None
    best = case.original.overall
    return {
        "kendall_tau": fmean(_tau(best, _overall(draw)) for draw in draws.values()),
        "tau_of_means": _tau(best, _means(draws)),
        "auc": fmean(_wins(best, score.overall) for score in scores),
        "change": fmean(score.overall - best for score in scores),
        "distance": fmean(abs(score.overall - best) for score in scores),
    } | {
        f"{name}_change": fmean(score.dimensions[name].value - dimension.value for score in scores)
        for name, dimension in case.original.dimensions.items()
    }


def _tau(best: float, worse: Mapping[float, float]) -> float:
    """Kendall's tau-b; 0 when all scores are equal."""
    scores = [round(score, 9) for score in (best, *worse.values())]
    if len(set(scores)) == 1:
        return 0.0
    return float(kendalltau([0.0, *worse], scores).statistic)


def _overall(draw: Mapping[float, Score]) -> dict[float, float]:
    return {severity: score.overall for severity, score in draw.items()}


def _means(draws: Mapping[int, Mapping[float, Score]]) -> dict[float, float]:
    severities = dict.fromkeys(severity for draw in draws.values() for severity in draw)
    return {
        severity: fmean(draw[severity].overall for draw in draws.values() if severity in draw)
        for severity in severities
    }


def _wins(original: float, worse: float) -> float:
    if abs(original - worse) < 1e-9:
        return 0.5
    return float(original > worse)


def _by_set(judged: Sequence[Judged]) -> dict[str, Figures]:
    groups: dict[str, list[Judged]] = {}
    for case in judged:
        groups.setdefault(case.pair.group, []).append(case)
    return {group: {"n": len(cases)} | _over_kinds(cases) for group, cases in groups.items()}


def _over_kinds(cases: Sequence[Judged]) -> Figures:
    rows = [_main(figures_of(case, kind)) for case in cases for kind in WORSE]
    return mean_figures(row for row in rows if row)


def _main(figures: Figures | None) -> Figures:
    return (
        {name: figures[name] for name in ("kendall_tau", "tau_of_means", "auc")} if figures else {}
    )


def _by_kind(judged: Sequence[Judged]) -> dict[str, Figures]:
    """Each kind: the mean over sets, as overall; `pooled_auc` compares across workflows."""
    kinds = dict.fromkeys(kind for case in judged for kind in case.worse)
    return {kind: _of_kind(judged, kind) for kind in kinds}


def _of_kind(judged: Sequence[Judged], kind: str) -> Figures:
    cases = [(case, figures) for case in judged if (figures := figures_of(case, kind))]
    groups: dict[str, list[Figures]] = {}
    for case, figures in cases:
        groups.setdefault(case.pair.group, []).append(figures)
    sets = {group: {"n": len(rows)} | mean_figures(rows) for group, rows in groups.items()}
    return (
        {"n": len(cases)}
        | mean_over_sets(sets)
        | {"pooled_auc": _pooled([case for case, _ in cases], kind)}
    )


def _pooled(cases: Sequence[Judged], kind: str) -> float:
    originals = [case.original.overall for case in cases]
    worse = [
        score.overall
        for case in cases
        for draw in case.worse[kind].values()
        for score in draw.values()
    ]
    pairs = [_wins(original, other) for original in originals for other in worse]
    return round(fmean(pairs), 4) if pairs else 0.0
