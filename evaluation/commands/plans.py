"""The planner's prompts out, the answers in."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import CorpusDir, IdsHalf, PairsFile
from evaluation.commands.platform import open_platform
from evaluation.commands.progress import progress
from services.kit.files import require_folder, require_new_file, require_new_folder

app = typer.Typer()


@app.command()
def plan_prompts(
    *,
    pairs: PairsFile,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the prompts, and of the answers.", callback=require_new_folder
        ),
    ],
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder of an embedded run, already ingested.", callback=require_folder),
    ] = None,
    page_given: Annotated[
        bool, typer.Option("--page-given", help="Show the row's page alone, without retrieval.")
    ] = False,
    corpus: CorpusDir = None,
    ids: IdsHalf = "all",
    first: Annotated[int, typer.Option(min=0, help="Only the first rows; 0 for all.")] = 0,
) -> None:
    """What the planner asks a model for each ticket, a file each.

    Where answers are there already (NAME.answer-1.json, …), also what it says of them.
    """
    from evaluation.benches.logic.prompt_files import plans, write_prompts  # noqa: PLC0415
    from evaluation.benches.logic.setup import Way  # noqa: PLC0415
    from evaluation.material.logic_rows import chosen_rows, read_rows  # noqa: PLC0415

    rows = chosen_rows(read_rows(pairs), ids, first=first)
    with open_platform(data_dir) if data_dir else nullcontext() as platform:
        request_of = Way(platform, pairs, corpus=corpus).requests(alone=page_given)
        with progress("prompts", len(rows)) as advance:
            write_prompts(rows, plans(request_of), out, advance)
    typer.echo(f"{len(rows)} prompts")


@app.command()
def record_plans(
    folder: Annotated[
        Path, typer.Argument(help="Folder of the prompts and the answers.", callback=require_folder)
    ],
    *,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Where answers are kept; that of the strong model.", callback=require_new_file
        ),
    ] = None,
) -> None:
    """Keep the answers to prompts, without the text of pages, for `bench logic --reader plans`."""
    from evaluation.benches.logic.prompt_files import collected  # noqa: PLC0415
    from evaluation.material.recorded_plans import (  # noqa: PLC0415
        RECORDED_PLANS,
        read_plans,
        write_plans,
    )

    path = record or RECORDED_PLANS
    answered = {row.id: row for row in collected(folder)}
    write_plans(path, (read_plans(path) | answered).values())
    typer.echo(f"{len(answered)} tickets")
