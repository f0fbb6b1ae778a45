"""Reading whole folders by rules."""

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, Out
from evaluation.commands.outcome import finish
from evaluation.commands.progress import progress

app = typer.Typer()


@app.command()
def reading(
    folder: Annotated[Path, typer.Argument(help="Folder of documents.")],
    *,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Every page of a folder read by rules: exceptions, nested instructions kept, time."""
    from evaluation.benches.reading import pages_of, read_all, report  # noqa: PLC0415

    started = time.perf_counter()
    pages = pages_of(folder)
    with progress("reading", len(pages)) as advance:
        tallies = read_all(pages, advance)
    seconds = round(time.perf_counter() - started, 1)
    finish(report(tallies, {"folder": folder.name}, seconds), out, as_json=as_json)


@app.command()
def recorded_readings(
    folder: Annotated[Path, typer.Argument(help="Folder of the documents that were read.")],
    *,
    out: Annotated[Path, typer.Option(help="JSON Lines for `flowxpert readings import`.")],
    answers: Annotated[
        Path | None, typer.Option(help="Recorded answers; those that are kept here.")
    ] = None,
) -> None:
    """The readings that the recorded answers of a strong model come to."""
    from evaluation.benches.reading import pages_of  # noqa: PLC0415
    from evaluation.material.recorded_answers import (  # noqa: PLC0415
        RECORDED,
        read_answers,
        reading_rows,
    )

    rows = list(reading_rows(pages_of(folder), read_answers(answers or RECORDED)))
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    typer.echo(f"{len(rows)} readings")
