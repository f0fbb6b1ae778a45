"""The first table of the results: what the product is worth, in ten rows for a stranger."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.measures.bootstrap import intervals
from evaluation.measures.figures import Report
from evaluation.report.results_section import text_table

_HEADER = ("what", "figure", "against what", "n", "95 % interval")
_PERSON = "a second person 72 %"
_ACCEPTED = "a second person 71 %"
"""How far two careful drawings of one page agree: `logic/second.jsonl` held against the first."""

_Row = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class _Reports:
    """The reports that the table reads, each by what tells it from others of its benchmark."""

    reports: Sequence[Report]

    def logic(self, **wanted: str) -> Report | None:
        return self._first("logic", lambda each: wanted.items() <= each.config.items())

    def of(self, benchmark: str) -> Report | None:
        return self._first(benchmark, lambda _each: True)

    def _first(self, benchmark: str, is_it: Callable[[Report], bool]) -> Report | None:
        matches = (r for r in self.reports if r.benchmark == benchmark and is_it(r))
        return next(matches, None)


def front_table(reports: Sequence[Report]) -> str:
    """As Markdown; a row whose report is missing is left out, and all of it where none is there."""
    rows = list(_rows(_Reports(reports)))
    return f"## In ten rows\n\n{text_table(_HEADER, rows)}" if rows else ""


def _rows(reports: _Reports) -> Iterator[_Row]:
    walk = reports.logic(given="ticket", page="there")
    hidden = reports.logic(given="ticket", page="hidden")
    model = reports.logic(given="page", reader="recorded")
    choice, judge, search = (reports.of(name) for name in ("page choice", "judge", "retrieval"))
    if walk:
        beside = _baselines(search) if search else ""
        yield _of_rows("right page first, tickets in people's words", walk, "page_first", beside)
        yield _of_rows("of them called sure, no model set", walk, "sure", "wanted: 70 %")
    if hidden:
        yield _of_rows("called sure with the page hidden, no model", hidden, "sure", "wanted: 0 %")
    if choice:
        yield from _chosen(choice)
    if model:
        yield _of_rows("guards right, a strong model's recorded reading", model, "guards", _PERSON)
        yield _of_rows("an expert would follow that reading", model, "acceptable", _ACCEPTED)
        yield from _marked(model)
    if judge and "worse" in judge.overall:
        share = f"{100 * judge.overall['worse']:.0f} %"
        n = str(int(sum(each["n"] for each in judge.sets.values())))
        yield "the scorer puts the right workflow above a worse one", share, "chance 50 %", n, ""


def _of_rows(what: str, report: Report, column: str, against: str) -> _Row:
    rows: Sequence[Mapping[str, object]] = (report.model_extra or {})["rows"]
    values = [value for row in rows if isinstance(value := row.get(column), float)]
    (interval,) = intervals([np.array(values)[:, None]], seed=0)
    figure = f"{100 * interval.mean:.0f} %"
    return what, figure, against, str(len(values)), _between(interval.low, interval.high)


def _chosen(report: Report) -> Iterator[_Row]:
    between: Mapping[str, Mapping[str, float]] = (report.model_extra or {})["intervals"]
    for kind, words, figure in (
        ("drawn", "the same with a strong model's recorded choice", "first"),
        ("drawn", "called sure with that choice", "sure"),
        ("hidden", "called sure with that choice though the page is hidden", "sure"),
    ):
        name = f"with a model's choice, {kind}"
        if name in report.sets:
            own, alone = report.sets[name], report.sets[f"retrieval, {kind}"]
            yield (
                words,
                f"{100 * own[figure]:.0f} %",
                f"retrieval alone, same tickets {100 * alone[figure]:.0f} %",
                str(int(own["n"])),
                _between(between[name][f"{figure} from"], between[name][f"{figure} to"]),
            )


def _marked(report: Report) -> Iterator[_Row]:
    conditions: Mapping[str, Mapping[str, float]] = (report.model_extra or {}).get("conditions", {})
    if "recorded, all" in conditions:
        own, random = conditions["recorded, all"], conditions["recorded, at random"]
        right, any_ = 100 * own["right marked"], 100 * random["wrong marked"]
        yield (
            "of the wrong conditions of that reading marked as doubtful",
            f"{100 * own['wrong marked']:.0f} %",
            f"of the right ones {right:.0f} %; at random {any_:.0f} % of both",
            str(int(own["wrong"])),
            "",
        )


def _baselines(report: Report) -> str:
    baselines: Mapping[str, Mapping[str, float]] = (report.model_extra or {}).get("baselines", {})
    return ", ".join(f"{name} {100 * each['r_at_1']:.0f}" for name, each in baselines.items())


def _between(low: float, high: float) -> str:
    return f"{100 * low:.0f} to {100 * high:.0f}"
