"""Boxes of pages against drawings."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evaluation.commands.options import AsJson, CorpusDir, IdsHalf, Out, PairsFile
from evaluation.commands.outcome import finish, write_rows
from services.kit.files import require_file, require_folder, require_new_file

if TYPE_CHECKING:
    from services.knowledge.page.box_fit import Habit

app = typer.Typer()


@app.command()
def boxes(
    *,
    pairs: PairsFile,
    corpus: CorpusDir = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Also write the blocks of each page with their boxes, as JSON Lines.",
            callback=require_new_file,
        ),
    ] = None,
    second: Annotated[
        Path | None,
        typer.Option(
            help="Pages drawn once more: what two readers agree on.", callback=require_file
        ),
    ] = None,
    predicate: Annotated[
        Literal["fitted", "left-out", "plain"],
        typer.Option(
            help="The product's boxes, those by a fit that left the page's set out, or one at each "
            "item and at what ends with a colon."
        ),
    ] = "fitted",
    learned: Annotated[
        Path | None,
        typer.Option(
            help="Data folder whose owners' words count in the product's boxes.",
            callback=require_folder,
        ),
    ] = None,
    ids: IdsHalf = "all",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Measure which blocks of a page are steps, against drawn pages."""
    from evaluation.benches.boxes import (  # noqa: PLC0415
        box_rows,
        fitted_boxes,
        left_out_boxes,
        plain_boxes,
        report,
    )
    from evaluation.fitting.boxes import left_out_fits, page_rows  # noqa: PLC0415
    from evaluation.material.gold_pages import page_of_pairs  # noqa: PLC0415
    from evaluation.material.logic_rows import chosen_rows, read_rows  # noqa: PLC0415

    started = time.perf_counter()
    drawn = [row for row in read_rows(pairs) if row.reference]
    chosen = chosen_rows(drawn, ids)
    again = read_rows(second) if second else []
    page_of = page_of_pairs(pairs, corpus, None)
    if predicate == "left-out":
        boxes_of = left_out_boxes(left_out_fits(page_rows(drawn, page_of)))
    elif predicate == "plain":
        boxes_of = plain_boxes
    else:
        boxes_of = fitted_boxes(_habit_of(learned) if learned else {})
    made = list(box_rows(chosen, page_of, boxes_of))
    write_rows(rows, made)
    config: dict[str, object] = {"pairs": pairs.name, "ids": ids, "predicate": predicate}
    config |= {"learned": learned.name} if learned else {}
    config |= {"second": second.name} if second else {}
    first, other = (
        {row.id: row.reference for row in some if row.reference} for some in (chosen, again)
    )
    seconds = round(time.perf_counter() - started, 1)
    finish(report(made, first, other, config, seconds), out, as_json=as_json)


def _habit_of(data_dir: Path) -> "Habit":
    """Return what serves on the platform of a folder, learned or its own."""
    from evaluation.commands.platform import settings_of  # noqa: PLC0415
    from services.kit.sql.database import Database  # noqa: PLC0415
    from services.knowledge.page.box_fit import BoxHabit  # noqa: PLC0415
    from services.runbook.store.sql_boxes import SqlBoxStore  # noqa: PLC0415

    database = Database(settings_of(data_dir).resolved_database_url)
    try:
        database.migrate("kit")
        return SqlBoxStore(database, BoxHabit.of_folder(data_dir)).habit()
    finally:
        database.close()
