"""The outcome of a benchmark: one shape for every command, as a table, JSON or Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from pydantic import BaseModel, ConfigDict, Field
from rich.table import Table

from services.kit.files import write_text

LEAST_SET = 5
"""Sets with fewer cases are shown and take no part in a mean over sets."""

Figures = dict[str, float]


class Report(BaseModel):
    """A benchmark's figures; a benchmark may add sections of its own beside these."""

    model_config = ConfigDict(extra="allow")

    benchmark: str
    overall: Figures
    """Mean over the sets with n ≥ 5, or over what `mean_over` names."""
    sets: dict[str, Figures]
    """By set and tier; `n` counts cases."""
    config: dict[str, object]
    seconds: float
    mean_over: str = Field(default="sets", exclude_if=lambda name: name == "sets")

    @property
    def mean_name(self) -> str:
        """What a table calls the overall figures."""
        return f"mean over {self.mean_over}"

    def write(self, path: Path) -> None:
        """As JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, self.model_dump_json(indent=2) + "\n")

    def tables(self) -> Iterator[Table]:
        """For people: the sets with the overall figures last, then each section of its own."""
        yield _table(self.benchmark, self.sets | {self.mean_name: self.overall}, last=1)
        for name, section in (self.model_extra or {}).items():
            rows = section_rows(name, section)
            if rows:
                yield _table(name.replace("_", " "), rows)

    def markdown(self) -> str:
        """The same tables for a document, under a heading with what was measured."""
        config = ", ".join(f"{name} {value}" for name, value in self.config.items())
        sets = self.sets | {f"**{self.mean_name}**": self.overall}
        parts = [
            f"## {self.benchmark}",
            f"{config}; {self.seconds:.0f} s.",
            markdown_table(sets, ""),
        ]
        for name, section in (self.model_extra or {}).items():
            rows = section_rows(name, section)
            if rows:
                parts += [f"### {name.replace('_', ' ')}", markdown_table(rows, "")]
        return "\n\n".join(part.rstrip() for part in parts) + "\n"


def mean_over_sets(sets: Mapping[str, Figures]) -> Figures:
    """The mean over sets with n ≥ 5, over all of them when none is as large.

    A figure that a set has not is left out of that figure's mean.
    """
    large = [figures for figures in sets.values() if figures.get("n", 0) >= LEAST_SET]
    chosen = large or list(sets.values())
    return mean_figures({k: v for k, v in figures.items() if k != "n"} for figures in chosen)


def mean_figures(rows: Iterable[Mapping[str, float]]) -> Figures:
    """The mean of each figure over the rows that have it."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return {name: round(fmean(column), 4) for name, column in values.items()}


def markdown_table(rows: Mapping[str, Mapping[str, float]], label: str) -> str:
    """Rows of figures under one header."""
    columns = _columns(list(rows.values()))
    lines = [
        f"| {label} | {' | '.join(columns)} |",
        f"|---|{'---:|' * len(columns)}",
        *(f"| {name} | {' | '.join(_cells(row, columns))} |" for name, row in rows.items()),
    ]
    return "\n".join(lines) + "\n"


def section_rows(name: str, section: object) -> dict[str, Figures]:
    """A section as rows of figures; sections of sections show their overall figures."""
    if not isinstance(section, dict) or not section:
        return {}
    if "overall" in section:
        return {name: section["overall"]}
    if all(isinstance(value, dict) for value in section.values()):
        rows = {key: value.get("overall", value) for key, value in section.items()}
        return rows if all(map(_is_flat, rows.values())) else {}
    return {}


def _is_flat(figures: Mapping[str, object]) -> bool:
    return all(isinstance(value, int | float) for value in figures.values())


def _table(title: str, rows: Mapping[str, Figures], *, last: int = 0) -> Table:
    """Rows of figures, the last ones under a line."""
    columns = _columns(list(rows.values()))
    table = Table("", title=title)
    for column in columns:
        table.add_column(column, justify="right")
    for place, (name, figures) in enumerate(rows.items()):
        if last and place == len(rows) - last:
            table.add_section()
        table.add_row(name, *_cells(figures, columns))
    return table


def _columns(rows: Sequence[Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _cells(figures: Mapping[str, float], columns: Iterable[str]) -> list[str]:
    return [_cell(figures.get(column)) for column in columns]


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    if float(value).is_integer():
        return str(int(value))
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}"
