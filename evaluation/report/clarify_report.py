"""Rows of `bench clarify` put together: by set, and over all rows alike, for each way of asking."""

from collections.abc import Mapping, Sequence

from evaluation.measures.figures import Figures, Report, mean_figures

Rows = Sequence[tuple[str, str, Figures]]
"""Id, set and figures of each ticket."""


def report(
    ways: Mapping[str, Rows], config: Mapping[str, object], left_out: int, seconds: float
) -> Report:
    """The first of the ways is the one that is measured; the others stand beside it."""
    measured = next(iter(ways.values()))
    return Report.model_validate(
        {
            "benchmark": "clarify",
            "overall": _mean(measured),
            "sets": {
                name: _mean([row for row in measured if row[1] == name])
                for name in sorted({of for _, of, _ in measured})
            },
            "ways": {name: _mean(rows) for name, rows in ways.items()},
            "config": {**config, "nothing_hidden": left_out},
            "seconds": seconds,
            "mean_over": "rows",
            "rows": [{"id": id_, "set": of, **figures} for id_, of, figures in measured],
        }
    )


def _mean(rows: Rows) -> Figures:
    return {"n": len(rows)} | mean_figures(figures for _, _, figures in rows)
