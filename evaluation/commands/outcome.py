"""Where the figures of a benchmark go."""

import json
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from services.kit.files import write_text

if TYPE_CHECKING:
    from evaluation.measures.figures import Report

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


class Verdict(Protocol):
    """A report that says whether all went as it must."""

    @property
    def ok(self) -> bool:
        """Whether it did."""

    def model_dump_json(self, *, indent: int) -> str:
        """The whole as JSON."""


def end_by(report: "Verdict", out: Path | None) -> None:
    """Print the report as JSON, write it where asked, and end with 1 where something went wrong."""
    text = report.model_dump_json(indent=2)
    typer.echo(text)
    if out is not None:
        write_text(out, f"{text}\n")
    if not report.ok:
        raise typer.Exit(1)


def end_on_a_signal() -> None:
    """End what the benchmark has started with this process, however it is asked to stop."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def write_rows(path: Path | None, records: Iterable[Mapping[str, object]]) -> None:
    """As JSON Lines, where a file was asked for."""
    if path is not None:
        write_text(path, "".join(f"{json.dumps(record)}\n" for record in records))
