"""Planners beside each other: figures with intervals, differences, displacement, cost."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from evaluation.benches.planning.comparison import Entry
from evaluation.benches.planning.planners import BY_A_MODEL, PLANNERS
from evaluation.measures.answer_figures import Row
from evaluation.measures.bootstrap import Interval, intervals
from evaluation.measures.figures import LEAST_SET, Figures, Report, mean_figures, mean_over_sets
from evaluation.report.workflow_report import by_set

BENCHMARK = "planners"
FLOOR = "extractive"
"""The planner that the others are measured against."""
HEADLINE = ("f1", "recall", "graph_f1")
"""The figures that get an interval."""
_BESIDE = ("accepted", "supported", "branching", "answered")


def report(
    entries: Sequence[Entry], config: Mapping[str, object], seconds: float, seed: int
) -> Report:
    """Every mean is over sets with n ≥ 5, every interval of 95 % from pairs drawn within sets."""
    return Report.model_validate(
        {
            "benchmark": BENCHMARK,
            "overall": {e.name: mean_over_sets(by_set(e.rows))["f1"] for e in entries},
            "sets": _figure_by_set(entries, "f1"),
            **_headline(entries, seed),
            "shares": _shares(entries),
            "displacement": _displacement(entries),
            "recall_by_set": _figure_by_set(entries, "recall"),
            "graph_f1_by_set": _figure_by_set(entries, "graph_f1"),
            "samples": _samples(entries),
            "cost_per_ticket": {e.name: _cost(e) for e in entries if e.costs},
            "config": config,
            "seconds": seconds,
        }
    )


def _figure_by_set(entries: Sequence[Entry], figure: str) -> dict[str, Figures]:
    """Rows are sets, columns are planners."""
    table: dict[str, Figures] = {}
    for entry in entries:
        for name, figures in by_set(entry.rows).items():
            table.setdefault(name, {"n": figures["n"]})[entry.name] = figures[figure]
    return table


def _headline(entries: Sequence[Entry], seed: int) -> dict[str, dict[str, Figures]]:
    """For each headline figure a section: planners with their interval and their difference."""
    floor = next((_by_pair(entry.rows) for entry in entries if entry.name == FLOOR), {})
    sections: dict[str, dict[str, Figures]] = {name: {} for name in HEADLINE}
    for entry in entries:
        pairs = _by_pair(entry.rows)
        apart = {key: pairs[key] - floor[key] for key in pairs if key in floor}
        whole = intervals(_strata(pairs), seed)
        differences = intervals(_strata(apart), seed) if entry.name != FLOOR else []
        for place, name in enumerate(HEADLINE):
            sections[name][entry.name] = (
                {"n": float(len(pairs))}
                | _ends("mean", whole[place : place + 1])
                | _ends("apart", differences[place : place + 1])
            )
    return sections


def _ends(name: str, bounds: Sequence[Interval]) -> Figures:
    """A mean, or the paired difference to the extractive planner, and the interval's ends."""
    return {
        key: round(value, 4)
        for one in bounds
        for key, value in ((name, one.mean), (f"{name}_low", one.low), (f"{name}_high", one.high))
    }


def _shares(entries: Sequence[Entry]) -> dict[str, Figures]:
    """Beside the headline: what else can be said of the answers, and how often F1 differs."""
    floor = next((_by_pair(entry.rows) for entry in entries if entry.name == FLOOR), {})
    shares = {}
    for entry in entries:
        overall = mean_over_sets(by_set(entry.rows))
        shares[entry.name] = {name: overall[name] for name in _BESIDE if name in overall}
        pairs = _by_pair(entry.rows)
        f1 = [pairs[key][0] - floor[key][0] for key in pairs if key in floor]
        if f1 and entry.name != FLOOR:
            shares[entry.name] |= {
                "f1_above_extractive": fmean(value > 0 for value in f1),
                "f1_below_extractive": fmean(value < 0 for value in f1),
            }
    return shares


def _displacement(entries: Sequence[Entry]) -> dict[str, Figures]:
    """How often a model's workflow stands where the extractive planner had one, and a worse one.

    Shares of all answers; worse is a lower F1. `filled`: the extractive planner had no answer.
    `best_candidate_f1` is what a scorer that knew the reference would have reached.
    """
    floor = next((entry for entry in entries if entry.name == FLOOR), None)
    if floor is None:
        return {}
    before = {(row.pair.id, row.form): row for row in floor.rows}
    return {
        entry.name: _displaced([(row, before[row.pair.id, row.form]) for row in entry.rows])
        for entry in entries
        if PLANNERS[entry.name].has_floor
    }


def _displaced(answers: Sequence[tuple[Row, Row]]) -> Figures:
    by_model = [(row, floor) for row, floor in answers if row.author == BY_A_MODEL]
    displaced = [(row, floor) for row, floor in by_model if floor.author]
    worse = [row for row, floor in displaced if row.figures["f1"] < floor.figures["f1"]]
    better = [row for row, floor in displaced if row.figures["f1"] > floor.figures["f1"]]
    return {"answers": float(len(answers))} | {
        "displaced": len(displaced) / len(answers),
        "by_a_better_one": len(better) / len(answers),
        "by_a_worse_one": len(worse) / len(answers),
        "filled": (len(by_model) - len(displaced)) / len(answers),
        "best_candidate_f1": fmean(row.diagnosis["best_candidate_f1"] for row, _ in answers),
    }


def _samples(entries: Sequence[Entry]) -> dict[str, Figures]:
    """Shares of the model's samples by outcome, for each part of the context, counted once."""
    counted: dict[str, Counter[str]] = {}
    for entry in entries:
        part = PLANNERS[entry.name].context.value
        if entry.costs and part not in counted:
            counted[part] = sum((Counter(cost.samples) for cost in entry.costs), Counter())
    outcomes = sorted({outcome for counts in counted.values() for outcome in counts})
    return {
        f"shown {part}": {"samples": float(counts.total())}
        | {outcome: counts[outcome] / counts.total() for outcome in outcomes}
        for part, counts in counted.items()
        if counts.total()
    }


def _cost(entry: Entry) -> Figures:
    """Means per ticket, scoring included; the failed calls are a count."""
    tickets = len(entry.rows)
    spent = entry.spent
    return {
        "calls": spent.calls / tickets,
        "tokens_in": spent.tokens_in / tickets,
        "tokens_out": spent.tokens_out / tickets,
        "model_seconds": spent.seconds / tickets,
        "of_it_scoring": entry.scoring.seconds / tickets,
        "failed_calls": float(spent.failures),
    }


_Key = tuple[str, str]
"""A set and a pair of it."""
_Values = dict[_Key, NDArray[np.float64]]


def _by_pair(rows: Iterable[Row]) -> _Values:
    """The headline figures of each pair, the mean of its forms."""
    forms: dict[_Key, list[Figures]] = {}
    for row in rows:
        forms.setdefault((row.pair.group, row.pair.id), []).append(row.figures)
    means = {key: mean_figures(figures) for key, figures in forms.items()}
    return {key: np.array([figures[name] for name in HEADLINE]) for key, figures in means.items()}


def _strata(pairs: _Values) -> list[NDArray[np.float64]]:
    """Sets with n ≥ 5, as in every mean over sets; all of them when none is as large."""
    sets: dict[str, list[NDArray[np.float64]]] = {}
    for (name, _), values in pairs.items():
        sets.setdefault(name, []).append(values)
    large = [np.array(of) for of in sets.values() if len(of) >= LEAST_SET]
    return large or [np.array(of) for of in sets.values()]
