"""Numbers by which the steps of a page are told."""

import json
from typing import Annotated

import typer

from evaluation.commands.options import CorpusDir, PairsFile

app = typer.Typer()


@app.command("fit-boxes")
def fit_boxes(
    *,
    pairs: PairsFile,
    corpus: CorpusDir = None,
    write: Annotated[bool, typer.Option("--write", help="Make the result the one in use.")] = False,
) -> None:
    """Fit which blocks of a page are steps; figures are of fits that left a page's set out."""
    from evaluation.fitting.boxes import fit_boxes, page_rows  # noqa: PLC0415
    from evaluation.material.gold_pages import page_of_pairs  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415

    pages = page_rows(read_rows(pairs), page_of_pairs(pairs, corpus, None))
    provenance = f"flowxpert bench fit-boxes on {pairs.name}: {len(pages)} pages"
    fitted = fit_boxes(pages, provenance)
    if write:
        fitted.write()
    typer.echo(json.dumps({"threshold": fitted.threshold, "figures": fitted.figures}, indent=1))
