"""Reading whole folders by rules."""

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
