"""Figures of benchmarks for people to read."""

from pathlib import Path
from typing import Annotated

import typer

from services.kit.files import read_json, read_text, require_file, require_new_file

app = typer.Typer()


@app.command()
def results(
    files: Annotated[
        list[Path],
        typer.Argument(help="Figures that benchmarks wrote as JSON.", callback=require_file),
    ],
    *,
    notes: Annotated[
        Path | None,
        typer.Option(
            help="Markdown that says what is learned from the figures.", callback=require_file
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a page there, its pictures in images/ beside it.", callback=require_new_file
        ),
    ] = None,
) -> None:
    """Print figures as Markdown, or write a page with pictures."""
    from evaluation.measures.figures import Report  # noqa: PLC0415
    from evaluation.report.results_page import results_page  # noqa: PLC0415

    reports = [read_json(file, Report) for file in files]
    if out is None:
        for report in reports:
            typer.echo(report.markdown())
        return
    words = ["flowxpert bench results", *map(str, files)]
    words += [f"--notes {notes}"] if notes else []
    notes_text = read_text(notes) if notes else ""
    results_page(reports, " ".join([*words, f"--out {out}"]), notes_text).write(out)
