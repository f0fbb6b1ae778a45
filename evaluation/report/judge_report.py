"""The figures of `bench judge`: what the scorer tells apart, by kind, by page and by set."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from evaluation.benches.scoring.judge_candidates import (
    BESIDE,
    FAR,
    NEAR,
    OLD,
    ONE_GUARD,
    RECORDED,
    REFERENCE,
)
from evaluation.measures.figures import Figures, Report
from evaluation.measures.telling_apart import (
    SCORE,
    Judgement,
    Pair,
    harm_tau,
    of_acceptable,
    of_pairs,
    reliability,
    unpaired,
)
from evaluation.perturbations.kinds import Perturbation

BENCHMARK = "judge"
CLEARLY_WORSE = 0.05
"""So much less of the guards makes a reader's workflow the worse one."""

_READERS = (REFERENCE, OLD, RECORDED)
_WORSE = tuple(kind.value for kind in Perturbation if kind is not Perturbation.REWORDED)


def report(judged: Sequence[Judgement], config: Mapping[str, object], seconds: float) -> Report:
    """Everything over all rows alike; the summary by set and by half too."""
    return Report.model_validate(
        {
            "benchmark": BENCHMARK,
            "overall": summary(judged),
            "sets": {
                name: summary([j for j in judged if j.set == name])
                for name in sorted({j.set for j in judged})
            },
            "split": {
                "even": summary([j for j in judged if j.is_fitted]),
                "odd": summary([j for j in judged if not j.is_fitted]),
            },
            "kinds": {kind.value: of_pairs(pairs(judged, kind.value)) for kind in Perturbation},
            "readers": _filled(
                {
                    OLD: of_pairs(pairs(judged, OLD)),
                    "recorded, worse": of_pairs(clearly_worse(pairs(judged, RECORDED))),
                    ONE_GUARD: of_pairs(pairs(judged, ONE_GUARD)),
                }
            ),
            "pages": _filled(_pages(judged)),
            "acceptable": acceptable(judged),
            "reliability": {
                name: {edges: _rounded(of) for edges, of in bins.items()}
                for name, bins in _reliability(judged).items()
            },
            "config": dict(config),
            "seconds": seconds,
            "mean_over": "rows",
        }
    )


def summary(judged: Sequence[Judgement]) -> Figures:
    """The figures that count; those that nothing was measured for are missing."""
    kinds = [of_pairs(pairs(judged, kind)) for kind in _WORSE]
    pages = _pages(judged)
    columns: dict[str, tuple[Figures, str]] = {
        "old": (of_pairs(pairs(judged, OLD)), SCORE),
        "old_margin": (of_pairs(pairs(judged, OLD)), "margin"),
        "recorded": (of_pairs(clearly_worse(pairs(judged, RECORDED))), SCORE),
        "one_guard": (of_pairs(pairs(judged, ONE_GUARD)), SCORE),
        "reworded": (of_pairs(pairs(judged, Perturbation.REWORDED.value)), "distance"),
        "near": (pages[f"{NEAR}, all"], "relevance"),
        "near_overall": (pages[f"{NEAR}, all"], SCORE),
        "far": (pages[f"{FAR}, all"], "relevance"),
        "far_overall": (pages[f"{FAR}, all"], SCORE),
    }
    figures: Figures = {"n": len({j.row for j in judged})}
    if areas := [kind[SCORE] for kind in kinds if kind]:
        figures["worse"] = round(fmean(areas), 4)
    copies = [j for j in judged if j.origin == REFERENCE or j.origin in set(Perturbation)]
    if (tau := harm_tau(copies)) is not None:
        figures["harm_tau"] = tau
    return figures | {name: of[key] for name, (of, key) in columns.items() if of}


def pairs(judged: Sequence[Judgement], origin: str) -> list[Pair]:
    """Each row's reference with what is of that origin, in the same context."""
    right = BESIDE if origin in {NEAR, FAR} else REFERENCE
    references = {j.row: j for j in judged if j.origin == right}
    return [(references[j.row], j) for j in judged if j.origin == origin and j.row in references]


def clearly_worse(all_pairs: Sequence[Pair]) -> list[Pair]:
    """Those whose worse one has at least five points less of the guards."""
    return [pair for pair in all_pairs if pair[0].guards - pair[1].guards >= CLEARLY_WORSE]


def acceptable(judged: Sequence[Judgement]) -> dict[str, Figures]:
    """Of everything, and of what nobody made worse on purpose, without and with other pages."""
    own = [j for j in judged if j.origin in _READERS]
    return {
        "all": of_acceptable(judged),
        "unperturbed": of_acceptable(own),
        "readers alone": of_acceptable([j for j in own if j.origin != REFERENCE]),
        "unperturbed and other pages": of_acceptable(
            [*own, *(j for j in judged if j.origin in {NEAR, FAR})]
        ),
    }


def _reliability(judged: Sequence[Judgement]) -> dict[str, dict[str, Figures]]:
    """Of everything, and of what nobody made worse on purpose, other pages included."""
    chosen = {
        "everything": judged,
        "unperturbed": [j for j in judged if j.origin in {*_READERS, NEAR, FAR}],
    }
    return {
        name: reliability((j.chance, j.acceptable) for j in of if j.chance is not None)
        for name, of in chosen.items()
    }


def _rounded(figures: Figures) -> Figures:
    return {name: round(value, 4) for name, value in figures.items()}


def _pages(judged: Sequence[Judgement]) -> dict[str, Figures]:
    right = [j for j in judged if j.origin == BESIDE]
    others = {name: [j for j in judged if j.origin == name] for name in (NEAR, FAR)}
    return {f"{name}, all": unpaired(right, rows) for name, rows in others.items()} | {
        f"{name}, by row": of_pairs(pairs(judged, name)) for name in others
    }


def _filled(sections: Mapping[str, Figures]) -> dict[str, Figures]:
    return {name: figures for name, figures in sections.items() if figures}
