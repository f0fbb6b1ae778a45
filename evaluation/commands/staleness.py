"""Pages that are stale: found by evidence, or foretold from how they were edited."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, Out, Seed
from evaluation.commands.outcome import finish
from services.kit.files import require_file, require_folder

app = typer.Typer()


@app.command()
def stale(
    *,
    corpus: Annotated[Path, typer.Option(help="Folder of the pages.", callback=require_folder)],
    seed: Seed = 0,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Break 60 pages on purpose, and count what is found of them, and false alarms.

    A third each: a component that every other page calls otherwise by now, a link to a page that
    was moved away, a command that a target does not know. All pages are ingested, which takes
    minutes where FLOWXPERT_EMBEDDING_CACHE does not know them.
    """
    from evaluation.benches.staleness.stale import measure  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        report = measure(corpus, Path(folder), seed, lambda line: typer.echo(line, err=True))
    finish(report, out, as_json=as_json)


@app.command()
def foretell_edits(
    *,
    changes: Annotated[
        Path, typer.Option(help="JSON Lines, one change of a page each.", callback=require_file)
    ],
    seed: Seed = 0,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Does the log of changes foretell which pages will be edited within 90 days?

    Against the base rate, and against the days since the last change alone; intervals by page.
    """
    from evaluation.benches.staleness.edits import foretell  # noqa: PLC0415

    finish(foretell(changes, seed), out, as_json=as_json)
