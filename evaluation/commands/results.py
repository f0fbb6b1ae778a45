"""Figures of benchmarks for people to read."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def results(
    files: Annotated[list[Path], typer.Argument(help="Figures that benchmarks wrote as JSON.")],
    *,
    notes: Annotated[
        Path | None, typer.Option(help="Markdown that says what is learned from the figures.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a page there, its pictures in images/ beside it.")
    ] = None,
) -> None:
    """Print figures as Markdown, or write a page with pictures."""
    from evaluation.measures.figures import Report  # noqa: PLC0415
    from evaluation.report.results_page import results_page  # noqa: PLC0415

    reports = [Report.model_validate_json(file.read_text(encoding="utf-8")) for file in files]
    if out is None:
        for report in reports:
            typer.echo(report.markdown())
        return
    words = ["flowxpert bench results", *map(str, files)]
    words += [f"--notes {notes}"] if notes else []
    notes_text = notes.read_text(encoding="utf-8") if notes else ""
    results_page(reports, " ".join([*words, f"--out {out}"]), notes_text).write(out)
