"""Can the log of a page's changes foretell that it will be edited?

At each cut-off day the log before that day alone is looked at; what is foretold is an edit within
`AHEAD` days that is not of the review date alone. Earlier cut-offs fit, later ones judge, and the
days that the last of the former are judged by end before the first of the latter.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from evaluation.measures.bootstrap import LEVEL
from evaluation.measures.figures import Figures, Report
from services.kit.files import read_json_lines
from services.kit.value import Value

AHEAD = timedelta(days=90)
EVERY = timedelta(days=91)
FIT_SHARE = 0.6
"""Of the cut-off days: the earlier ones."""
_DRAWS = 1000
_WEEK, _YEAR = timedelta(days=7), timedelta(days=365)

_Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """One change of a page."""

    page: str
    at: datetime
    is_edit: bool
    """Not of the review date alone, and not the page's first text."""
    size: int
    links: int
    """That it added, less those that it took away."""


@dataclass(frozen=True)
class Case:
    """A page at a cut-off day."""

    page: str
    day: datetime
    signs: tuple[float, ...]
    days_since: float
    is_edited: bool


SIGNS = (
    "edits so far",
    "edits in the last year",
    "days since the last edit",
    "days since the last change",
    "lines of the last edit",
    "edits of other pages in the last week",
    "edits of other pages in the last 90 days",
    "links",
    "days since the first text",
)


def changes_in(path: Path) -> list[Change]:
    """Of all pages, the oldest first."""
    rows = sorted((row for _place, row in read_json_lines(path, _Row)), key=lambda row: row.date)
    seen_pages: set[str] = set()
    changes = []
    for row in rows:
        is_first = row.page not in seen_pages
        seen_pages.add(row.page)
        signed = [line for line in row.diff.split("\n") if "](" in line]
        changes.append(
            Change(
                page=row.page,
                at=row.date.astimezone(UTC),
                is_edit=not is_first and not row.review_date_only,
                size=row.added + row.removed,
                links=sum(line.count("](") * (-1 if line[:1] == "-" else 1) for line in signed),
            )
        )
    return changes


def cases_of(changes: Sequence[Change]) -> list[Case]:
    """Each page at each cut-off day after its first text."""
    by_page: dict[str, list[Change]] = {}
    for each in changes:
        by_page.setdefault(each.page, []).append(each)
    first, last = changes[0].at + _YEAR, changes[-1].at - AHEAD
    days = [first + EVERY * n for n in range((last - first) // EVERY + 1)]
    return [
        _case(page, day, of_page, changes)
        for day in days
        for page, of_page in sorted(by_page.items())
        if of_page[0].at < day
    ]


def foretell(path: Path, seed: int) -> Report:
    """The log's signs against the base rate, and against the days since the last change alone."""
    begun = time.monotonic()
    cases = cases_of(changes_in(path))
    days = sorted({each.day for each in cases})
    first_judged = days[round(FIT_SHARE * len(days))]
    fit = [each for each in cases if each.day + AHEAD <= first_judged]
    judged = [each for each in cases if each.day >= first_judged]
    truths = np.asarray([each.is_edited for each in judged], dtype=np.float64)
    chances = {
        "base rate": np.full(len(judged), np.mean([each.is_edited for each in fit])),
        "days since the last change": _chances(fit, judged, _by_age),
        "log of changes": _chances(fit, judged, lambda each: each.signs),
    }
    rng = np.random.default_rng(seed)
    drawn = list(_draws([each.page for each in judged], rng))
    sets = {name: _figures(truths, estimates, drawn) for name, estimates in chances.items()}
    ahead = {
        f"log of changes over {name}": _difference(truths, chances["log of changes"], other, drawn)
        for name, other in chances.items()
        if name != "log of changes"
    }
    return Report(
        benchmark="edits foretold",
        overall=sets["log of changes"],
        sets=sets,
        config={
            "ahead_days": AHEAD.days,
            "fit": len(fit),
            "judged": len(judged),
            "judged_from": first_judged.date().isoformat(),
            "pages": len({each.page for each in judged}),
            "base_rate_fit": round(float(np.mean([e.is_edited for e in fit])), 3),
            "base_rate_judged": round(float(truths.mean()), 3),
        },
        seconds=time.monotonic() - begun,
        mean_over="the log's signs",
        differences=ahead,
    )


def _case(page: str, day: datetime, of_page: Sequence[Change], changes: Sequence[Change]) -> Case:
    before = [each for each in of_page if each.at < day]
    edits = [each for each in before if each.is_edit]
    others = [each for each in changes if each.is_edit and each.page != page and each.at < day]
    last_edit = edits[-1].at if edits else before[0].at
    days_since = _days(day - before[-1].at)
    signs = (
        math.log1p(len(edits)),
        math.log1p(sum(each.at >= day - _YEAR for each in edits)),
        math.log1p(_days(day - last_edit)),
        math.log1p(days_since),
        math.log1p(edits[-1].size if edits else 0),
        math.log1p(sum(each.at >= day - _WEEK for each in others)),
        math.log1p(sum(each.at >= day - AHEAD for each in others)),
        math.log1p(max(0, sum(each.links for each in before))),
        math.log1p(_days(day - before[0].at)),
    )
    is_edited = any(each.is_edit and day <= each.at < day + AHEAD for each in of_page)
    return Case(page, day, signs, days_since, is_edited)


def _by_age(each: Case) -> Sequence[float]:
    return (math.log1p(each.days_since),)


def _chances(
    fit: Sequence[Case], judged: Sequence[Case], signs: Callable[[Case], Sequence[float]]
) -> _Vector:
    model: Pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    model.fit([signs(each) for each in fit], [each.is_edited for each in fit])
    chances: _Vector = model.predict_proba([signs(each) for each in judged])[:, 1]
    return chances


def _draws(pages: Sequence[str], rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Places of cases; pages are drawn whole, since the cases of a page hang together."""
    places: dict[str, list[int]] = {}
    for place, page in enumerate(pages):
        places.setdefault(page, []).append(place)
    names = sorted(places)
    for _ in range(_DRAWS):
        chosen = rng.choice(len(names), size=len(names))
        yield np.concatenate([places[names[each]] for each in chosen])


def _measured(truths: _Vector, chances: _Vector) -> Mapping[str, float]:
    figures = {"brier": float(np.mean((chances - truths) ** 2))}
    if 0 < truths.mean() < 1:
        figures["auc"] = float(roc_auc_score(truths, chances))
    return figures


def _figures(truths: _Vector, chances: _Vector, drawn: Sequence[NDArray[np.int64]]) -> Figures:
    whole = _measured(truths, chances)
    each = [_measured(truths[places], chances[places]) for places in drawn]
    figures: Figures = {"n": len(truths)}
    for name in ("auc", "brier"):
        figures |= _with_interval(name, whole[name], [one[name] for one in each if name in one])
    return figures


def _difference(
    truths: _Vector, ours: _Vector, theirs: _Vector, drawn: Sequence[NDArray[np.int64]]
) -> Figures:
    def of(places: NDArray[np.int64]) -> Mapping[str, float]:
        mine = _measured(truths[places], ours[places])
        others = _measured(truths[places], theirs[places])
        return {name: mine[name] - others[name] for name in mine}

    whole = of(np.arange(len(truths)))
    each = [of(places) for places in drawn]
    figures: Figures = {"n": len(truths)}
    for name in ("auc", "brier"):
        figures |= _with_interval(name, whole[name], [one[name] for one in each if name in one])
    return figures


def _with_interval(name: str, whole: float, drawn: Sequence[float]) -> Figures:
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return {name: whole, f"{name}_low": float(low), f"{name}_high": float(high)}


class _Row(Value):
    """A change as the log of a repository has it."""

    page: str
    date: AwareDatetime
    diff: str
    added: int
    removed: int
    review_date_only: bool


def _days(span: timedelta) -> float:
    return span.total_seconds() / 86_400
