"""Would an on-call engineer follow what is shown? Texts for blind readers, and their verdicts."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from evaluation.commands.options import AsJson, CorpusDir, IdsHalf, Out, PairsFile
from evaluation.commands.outcome import finish, write_rows
from evaluation.commands.platform import embedder_of, open_platform
from evaluation.commands.progress import progress
from services.kit.files import (
    read_json_lines,
    require_file,
    require_folder,
    require_new_file,
    require_new_folder,
)

app = typer.Typer()


@app.command()
def acceptance(
    *,
    pairs: PairsFile,
    rows: Annotated[
        Path,
        typer.Option(help="Write what is shown there, as JSON Lines.", callback=require_new_file),
    ],
    show: Annotated[
        Literal["page", "bare", "today", "workflow", "found", "recorded"],
        typer.Option(
            help="The platform's page; the bare page; the page with a box at each item and at what "
            "ends with a colon; the workflow of a recorded reading; the first screen for the "
            "ticket alone; or texts of another commit. Rows without one are left out."
        ),
    ] = "page",
    corpus: CorpusDir = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Of `found`: folder of an embedded run, already ingested.", callback=require_folder
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Of `recorded`: JSON Lines of id and shown. Of `workflow`: recorded answers; "
            "those of a strong model that are kept here.",
            callback=require_file,
        ),
    ] = None,
    left_out: Annotated[
        bool,
        typer.Option("--left-out", help="Of `page`: boxes by a fit that left the page's set out."),
    ] = False,
    arm: Annotated[str, typer.Option(help="Name of the way in the rows; else as `--show`.")] = "",
    ids: IdsHalf = "all",
    skip: Annotated[int, typer.Option(min=0, help="Leave out so many of the first rows.")] = 0,
    first: Annotated[int, typer.Option(min=0, help="Only the first rows; 0 for all.")] = 0,
) -> None:
    """Write what is shown for each ticket, for readers who judge it blind."""
    from evaluation.benches.acceptance.setup import show_named  # noqa: PLC0415
    from evaluation.benches.acceptance.showing import shown_rows  # noqa: PLC0415
    from evaluation.benches.boxes import left_out_boxes  # noqa: PLC0415
    from evaluation.fitting.boxes import left_out_fits, page_rows  # noqa: PLC0415
    from evaluation.material.gold_pages import page_of_pairs  # noqa: PLC0415
    from evaluation.material.logic_rows import chosen_rows, read_rows  # noqa: PLC0415

    drawn = read_rows(pairs)
    chosen = chosen_rows(drawn, ids)[skip:]
    chosen = chosen[:first] if first else chosen
    page_of = page_of_pairs(pairs, corpus, None)
    boxes = left_out_boxes(left_out_fits(page_rows(drawn, page_of))) if left_out else None
    with open_platform(data_dir) if data_dir else nullcontext() as platform:
        embedder = embedder_of(platform)
        way = show_named(show, page_of, embedder, platform=platform, answers=answers, boxes=boxes)
        with progress("acceptance", len(chosen)) as advance:
            records = list(shown_rows(chosen, arm or show, page_of, way, advance))
    write_rows(rows, records)
    typer.echo(f"{len(records)} rows")


@app.command()
def acceptance_readers(
    files: Annotated[
        list[Path],
        typer.Argument(help="Rows of `bench acceptance --show found`.", callback=require_file),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the readers' folders and briefs.", callback=require_new_folder
        ),
    ],
    each: Annotated[int, typer.Option(min=1, help="Most files of a reader.")] = 7,
    seed: Annotated[int, typer.Option(help="Deals the files out.")] = 1,
) -> None:
    """Deal out first screens to readers, who see neither the way of showing nor the right page."""
    from evaluation.benches.acceptance.readers import ShownRecord, write_folders  # noqa: PLC0415

    records = [row for file in files for _place, row in read_json_lines(file, ShownRecord)]
    count = write_folders(records, out, each, seed)
    typer.echo(f"{len(records)} files for {count} readers")


@app.command()
def acceptance_count(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="Readers' folders, with their verdicts and the key.", callback=require_folder
        ),
    ],
    *,
    pairs: PairsFile,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Count what readers accept, and what they would do first against the drawn pages."""
    from evaluation.benches.acceptance.readers import counted  # noqa: PLC0415
    from evaluation.material.logic_rows import read_rows  # noqa: PLC0415

    started = time.perf_counter()
    answers = counted(folders, read_rows(pairs))
    seconds = round(time.perf_counter() - started, 1)
    finish(answers.report({"pairs": pairs.name}, seconds), out, as_json=as_json)
