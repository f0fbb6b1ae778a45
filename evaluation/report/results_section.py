"""A section of the results page: prose, tables and pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.measures.figures import Figures, Report, markdown_table, section_rows

_TITLES = {
    "retrieval": "Finding the right page",
    "workflows": "Every pair, through the whole walk",
    "logic": "The logic of workflows",
    "judge": "Whether the scorer tells right from wrong",
    "best-of-n": "Best of n: a strong model's samples beside the reading",
    "duels": "A drawing against one worse workflow",
    "scorer": "Whether the score falls as workflows get worse",
    "graph": "The knowledge graph",
    "follow": "Following a workflow over turns",
    "speed": "Speed of the embedded run",
    "overhead": "What the platform adds to the model's time",
}
_TELLING = ("reader", "given", "page", "judge", "level")
"""Settings by which several reports of one benchmark differ."""
_WITHOUT_DATA = frozenset({"follow"})
"""Benchmarks that take no folder of an embedded run."""
_OPTIONS = (
    "level",
    "answers",
    "ids",
    "reader",
    "judge",
    "planner",
    "pairs",
    "sample",
    "forms",
    "draws",
    "seed",
    "tickets",
    "rate",
)
"""Settings that were options of the command."""


@dataclass(frozen=True)
class Section:
    """Text under a heading of its own, with the pictures it shows by file name."""

    title: str
    blocks: Sequence[str]
    pictures: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """As Markdown."""
        return "\n\n".join([f"## {self.title}", *(block.strip() for block in self.blocks)])


def plain_section(report: Report) -> Section:
    """Every figure of a report, table by table."""
    extra: dict[str, Any] = report.model_extra or {}
    tables = {name: section_rows(name, figures) for name, figures in extra.items()}
    sets = report.sets | {f"**{report.mean_name}**" if report.sets else "all": report.overall}
    blocks = [how_made(report), spelled_table(sets)]
    for name, rows in tables.items():
        if rows:
            blocks += [f"### {spelled(name).capitalize()}", spelled_table(rows)]
    return Section(_title(report), blocks)


def _title(report: Report) -> str:
    """With what was given, where that is what tells two sections apart."""
    title = _TITLES.get(report.benchmark, spelled(report.benchmark).capitalize())
    details = [f"{name} {report.config[name]}" for name in _TELLING if name in report.config]
    return f"{title} ({', '.join(details)})" if details else title


def how_made(report: Report) -> str:
    """The command and what else was set, without paths of the machine it ran on."""
    config = {name: value for name, value in report.config.items() if not isinstance(value, dict)}
    options = [f"--{name} {config[name]}" for name in _OPTIONS if name in config]
    beside = [f"{spelled(name)} {value}" for name, value in config.items() if name not in _OPTIONS]
    data = [] if report.benchmark in _WITHOUT_DATA else ["--data-dir DATA"]
    command = " ".join(["flowxpert bench", report.benchmark, *data, *options])
    details = f"; {', '.join(beside)}" if beside else ""
    return f"Measured by `{command}` in {report.seconds:.0f} s{details}."


def spelled_table(rows: Mapping[str, Figures]) -> str:
    """Figures as a table whose names are words."""
    return markdown_table(
        {
            spelled(name): {spelled(figure): value for figure, value in figures.items()}
            for name, figures in rows.items()
        },
        label="",
    )


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Texts as a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def spelled(name: str) -> str:
    """A name of a figure in words."""
    return name.replace("_", " ").replace("f1", "F1")
