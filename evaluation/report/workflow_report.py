"""Rows of `bench workflows` put together: by pair, by set, over the sets."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from evaluation.material.pairs import TITLED
from evaluation.measures.answer_figures import Row
from evaluation.measures.figures import Figures, Report, mean_figures, mean_over_sets

FiguresOf = Callable[[Row], Figures]


def report(rows: Sequence[Row], config: Mapping[str, object], seconds: float) -> Report:
    """The headline counts the forms without the page's title; `titled` stands apart."""
    headline = [row for row in rows if row.form in row.pair.headline_forms]
    titled = [row for row in rows if row.form == TITLED]
    sets = by_set(headline)
    return Report.model_validate(
        {
            "benchmark": "workflows",
            "overall": mean_over_sets(sets),
            "sets": sets,
            "tiers": _by_tier(sets),
            "titled": _section(titled),
            "forms": _by_form(rows),
            "baselines": {
                name: _section(headline, _baseline(name))
                for name in (rows[0].baselines if rows else ())
            },
            "diagnosis": _diagnosis(headline),
            "split": {
                "fitted": _section([row for row in headline if row.pair.is_fitted]),
                "unfitted": _section([row for row in headline if not row.pair.is_fitted]),
            },
            "config": config,
            "seconds": seconds,
        }
    )


def by_set(rows: Iterable[Row], figures: FiguresOf = lambda row: row.figures) -> dict[str, Figures]:
    """The mean over the pairs of each set; a pair counts as the mean of its forms."""
    pairs: dict[str, dict[str, list[Figures]]] = {}
    for row in rows:
        pairs.setdefault(row.pair.group, {}).setdefault(row.pair.id, []).append(figures(row))
    return {
        group: {"n": len(cases)} | mean_figures(mean_figures(forms) for forms in cases.values())
        for group, cases in pairs.items()
    }


def _baseline(name: str) -> FiguresOf:
    return lambda row: row.baselines[name]


def _section(
    rows: Sequence[Row], figures: FiguresOf = lambda row: row.figures
) -> dict[str, object]:
    sets = by_set(rows, figures)
    return {"overall": mean_over_sets(sets), "sets": sets}


def _by_tier(sets: Mapping[str, Figures]) -> dict[str, Figures]:
    tiers = dict.fromkeys(group.rpartition("/")[2] for group in sets)
    return {
        tier: mean_over_sets({g: f for g, f in sets.items() if g.rpartition("/")[2] == tier})
        for tier in tiers
    }


def _by_form(rows: Sequence[Row]) -> dict[str, Figures]:
    forms = dict.fromkeys(row.form for row in rows)
    return {form: mean_over_sets(by_set(row for row in rows if row.form == form)) for form in forms}


def _diagnosis(rows: Sequence[Row]) -> dict[str, Figures]:
    """Shares and F1 by what happened to the right page."""
    with_page = [row for row in rows if row.diagnosis["page_found"]]
    chosen = [row for row in with_page if row.diagnosis["page_chosen"]]
    cases = {
        "all": rows,
        "page_chosen": chosen,
        "page_found_not_chosen": [row for row in with_page if not row.diagnosis["page_chosen"]],
        "page_not_found": [row for row in rows if not row.diagnosis["page_found"]],
    }
    return {
        name: {"answers": len(of)}
        | mean_figures({"f1": row.figures["f1"]} | row.diagnosis for row in of)
        for name, of in cases.items()
    }
