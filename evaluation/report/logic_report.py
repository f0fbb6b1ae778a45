"""Rows of `bench logic` put together: by set, and over all rows alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.measures.logic import mean_percent
from evaluation.report.report import Figures, Report


@dataclass(frozen=True)
class LogicResult:
    """The figures of one row, as shares; what is not defined for it is missing."""

    id: str
    set: str
    figures: Figures

    def record(self) -> dict[str, object]:
        """As JSON for looking into single rows."""
        return {"id": self.id, "set": self.set, **self.figures}


def report(results: Sequence[LogicResult], config: Mapping[str, object], seconds: float) -> Report:
    """Means in percent; every row counts the same, whatever its set."""
    sets = {name: [each for each in results if each.set == name] for name in _names(results)}
    return Report.model_validate(
        {
            "benchmark": "logic",
            "overall": _mean(results),
            "sets": {name: _mean(found) for name, found in sets.items()},
            "config": dict(config),
            "seconds": seconds,
            "mean_over": "rows",
            "rows": [each.record() for each in results],
        }
    )


def _names(results: Sequence[LogicResult]) -> list[str]:
    return sorted({each.set for each in results})


def _mean(results: Sequence[LogicResult]) -> Figures:
    return mean_percent([each.figures for each in results])
