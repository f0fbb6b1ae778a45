"""Where the figures of a benchmark go."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from evaluation.report.report import Report

_WIDTH_IN_FILES = 160
"""Characters a table may take where no terminal says how many there are."""


def finish(report: "Report", out: Path | None, *, as_json: bool) -> None:
    """Printed, as tables or as JSON, and written where a file was asked for."""
    from rich.console import Console  # noqa: PLC0415

    if out is not None:
        report.write(out)
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console = Console()
        wide = console if console.is_terminal else Console(width=_WIDTH_IN_FILES)
        for table in report.tables():
            wide.print(table)


def write_rows(path: Path | None, records: Iterable[Mapping[str, object]]) -> None:
    """As JSON Lines, where a file was asked for."""
    if path is not None:
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
