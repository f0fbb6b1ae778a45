"""Rows of `bench logic` put together: by set, and over all rows alike."""

from collections.abc import Mapping, Sequence

from evaluation.benches.logic.bench import LogicResult
from evaluation.measures.figures import Figures, Report
from evaluation.measures.logic import mean_percent


def report(
    results: Sequence[LogicResult],
    conditions: Mapping[str, Figures],
    approval: Figures,
    config: Mapping[str, object],
    seconds: float,
) -> Report:
    """Means in percent; every row counts the same, whatever its set.

    `conditions` tells what marks on single conditions are worth, `approval` how many operations
    lead from a reading to its drawing.
    """
    return Report.model_validate(
        {
            "benchmark": "logic",
            "overall": mean_percent([each.figures for each in results]),
            "sets": _by_set([(each.set, each.figures) for each in results]),
            "walk": _walks(results),
            "conditions": dict(conditions),
            "operations": {"from a reading to its drawing": approval} if approval else {},
            "config": dict(config),
            "seconds": seconds,
            "mean_over": "rows",
            "rows": [each.record() for each in results],
        }
    )


def _walks(results: Sequence[LogicResult]) -> dict[str, Figures]:
    """By set and over all rows; nothing where no ticket was walked."""
    walks = [(each.set, each.walk) for each in results if each.walk]
    overall = {"all rows": mean_percent([figures for _, figures in walks])} if walks else {}
    return _by_set(walks) | overall


def _by_set(rows: Sequence[tuple[str, Figures]]) -> dict[str, Figures]:
    """Means of rows, each given with its set."""
    return {
        name: mean_percent([figures for of, figures in rows if of == name])
        for name in sorted({of for of, _ in rows})
    }
