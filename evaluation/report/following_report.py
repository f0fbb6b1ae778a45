"""Rows of `bench follow` put together: a row for each form, as FlowBench has them."""

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.measures.bootstrap import intervals
from evaluation.measures.figures import Figures, Report, mean_figures
from evaluation.measures.following import values_of

Rows = Sequence[tuple[str, Mapping[str, float]]]
"""Sessions and their figures."""

_WITH_INTERVAL = (
    "success",
    "progress",
    "tool_f1",
    "parameter_f1",
    "node",
    "off_procedure",
)


def report(
    forms: Mapping[str, Rows],
    failures: Mapping[str, Mapping[str, float]],
    config: Mapping[str, object],
    seconds: float,
    seed: int,
) -> Report:
    """Means over sessions, each counted the same; `failures` are shares of sessions by their kind.

    The intervals are of the same means, from sessions drawn anew.
    """
    sets = {form: _means(rows) for form, rows in forms.items() if rows}
    return Report.model_validate(
        {
            "benchmark": "follow",
            "overall": mean_figures(sets.values()),
            "sets": sets,
            "intervals": {form: _intervals(rows, seed) for form, rows in forms.items() if rows},
            "failures": {form: dict(shares) for form, shares in failures.items()},
            "config": dict(config),
            "seconds": seconds,
            "mean_over": "forms",
            "rows": [
                {"form": form, "session": session, **figures}
                for form, rows in forms.items()
                for session, figures in rows
            ],
        }
    )


def _means(rows: Rows) -> Figures:
    return {"n": len(rows)} | mean_figures(figures for _, figures in rows)


def _intervals(rows: Rows, seed: int) -> Figures:
    """Low and high end of those figures that forms are compared by."""
    ends: Figures = {}
    figures = [each for _, each in rows]
    for name in _WITH_INTERVAL:
        values = np.array(values_of(figures, name), dtype=np.float64).reshape(-1, 1)
        for interval in intervals([values], seed):
            ends |= {f"{name}_low": round(interval.low, 4), f"{name}_high": round(interval.high, 4)}
    return ends
