"""Each part of the scorer alone, and all merged: the same perturbed copies, other numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from evaluation.measures.falling_scores import Judged, figures_of
from evaluation.report.report import Figures
from services.contracts.scorer import DIMENSIONS, Dimension, Score
from services.scorer.judges.likelihood import Likelihood
from services.scorer.judges.opinion import EVIDENCE, Opinion
from services.scorer.merge import merged
from services.scorer.weights import Curve, ModelWeights

MERGED = "merged"

_SHOWN = ("kendall_tau", "auc", "change", "distance")


def parts_of(score: Score) -> dict[str, Opinion]:
    """What each part said, the evidence too."""
    names = score.relevance.parts or {EVIDENCE: 0.0}
    return {
        part: Opinion(
            {
                name: dimension.parts.get(part, dimension.value)
                for name, dimension in score.dimensions.items()
            }
        )
        for part in names
    }


def alone(judged: Judged, part: str) -> Judged | None:
    """The case as this part sees it; None where it is missing from any score."""
    if not all(part in parts_of(score) for score in scores_of(judged)):
        return None
    return with_scores(judged, lambda score: _score(parts_of(score)[part]))


def merged_by(judged: Judged, fitted: ModelWeights | None) -> Judged:
    """The case as all parts together see it; as the evidence does where nothing was fitted."""
    return with_scores(judged, lambda score: merged_score(score, fitted))


def merged_score(score: Score, fitted: ModelWeights | None) -> Score:
    """The parts of a score, merged anew."""
    parts = parts_of(score)
    evidence = _score(parts.pop(EVIDENCE))
    if fitted is None:
        return evidence
    if Likelihood.name in parts:
        parts[Likelihood.name] = on_curve(parts[Likelihood.name], fitted.likelihood)
    return merged(evidence, parts, fitted.weights)


def on_curve(likelihood: Opinion, curve: Curve) -> Opinion:
    """What was shown on the default curve, on another one."""
    values = {name: curve.value(Curve().mean(value)) for name, value in likelihood.values.items()}
    return Opinion(values)


def scores_of(judged: Judged) -> list[Score]:
    """The reference's score and those of all its copies."""
    worse = (score for d in judged.worse.values() for draw in d.values() for score in draw.values())
    return [judged.original, *worse]


def with_scores(judged: Judged, change: Callable[[Score], Score]) -> Judged:
    """The same case with other scores."""
    return replace(
        judged,
        original=change(judged.original),
        worse={
            kind: {
                draw: {severity: change(score) for severity, score in found.items()}
                for draw, found in draws.items()
            }
            for kind, draws in judged.worse.items()
        },
    )


def figures_by_part(judged: Sequence[Judged], fitted: ModelWeights | None) -> dict[str, Figures]:
    """For each kind a row of each part and one of all merged; means over references.

    `ties` is the share of the copies to which a part gives just the reference's score: a tie counts
    half in the area under the curve.
    """
    views = {
        part: [found for case in judged if (found := alone(case, part))] for part in _parts(judged)
    }
    views[MERGED] = [merged_by(case, fitted) for case in judged]
    kinds = dict.fromkeys(kind for case in judged for kind in case.worse)
    return {
        f"{kind}: {part}": row
        for kind in kinds
        for part, cases in views.items()
        if (row := _row(cases, kind))
    }


def _parts(judged: Sequence[Judged]) -> list[str]:
    return list(dict.fromkeys(part for case in judged for part in parts_of(case.original)))


def _row(cases: Iterable[Judged], kind: str) -> Figures:
    rows = [(case, found) for case in cases if (found := figures_of(case, kind))]
    if not rows:
        return {}
    means = {name: round(fmean(found[name] for _, found in rows), 4) for name in _SHOWN}
    ties = fmean(_ties(case, kind) for case, _ in rows)
    return {"n": len(rows)} | means | {"ties": round(ties, 4)}


def _ties(case: Judged, kind: str) -> float:
    worse = [score for draw in case.worse[kind].values() for score in draw.values()]
    return fmean(abs(score.overall - case.original.overall) < 1e-9 for score in worse)


def _score(opinion: Opinion) -> Score:
    values: Mapping[str, float] = opinion.values
    return Score(**{name: Dimension(value=values[name], reason="") for name in DIMENSIONS})
