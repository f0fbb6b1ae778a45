"""Questions about tickets, answered by simulated users."""

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from evaluation.commands.options import AsJson, Out, PairsFile, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.platform import embedder_of, open_platform
from evaluation.commands.progress import progress
from services.kit.files import require_folder

app = typer.Typer()


@app.command()
def clarify(
    *,
    pairs: PairsFile,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Walk the tickets in this embedded run; else the row's page is given.",
            callback=require_folder,
        ),
    ] = None,
    reader: Annotated[
        Literal["recorded", "drawn"],
        typer.Option(
            help="Who reads a page that is given: a model whose answers were recorded (rows that "
            "were not are left out); or nobody, and the drawing is the workflow."
        ),
    ] = "recorded",
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the pages; `corpus` beside the folder of the pairs.",
            callback=require_folder,
        ),
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, help="Questions of a ticket; those of the settings.")
    ] = None,
    ids: Annotated[
        Literal["even", "odd", "all"], typer.Option(help="Rows by the sha256 of their id.")
    ] = "odd",
    limit_per_set: Annotated[int, typer.Option(min=0, help="Most rows of a set; 0 for all.")] = 0,
    first: Annotated[int, typer.Option(min=0, help="Only the first rows; 0 for all.")] = 0,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """What questions bring to light that a ticket does not say.

    A path through each drawn page is drawn by the seed. Its hidden branch facts are the answers to
    those of its decisions that come before anything is changed and that the ticket does not name.
    """
    from evaluation.benches.clarify.bench import measure  # noqa: PLC0415
    from evaluation.benches.clarify.setup import Setting, ways  # noqa: PLC0415
    from evaluation.material.logic_rows import chosen_rows, read_rows  # noqa: PLC0415
    from evaluation.report.clarify_report import report  # noqa: PLC0415

    started = time.perf_counter()
    config: dict[str, object] = {"pairs": pairs.name, "ids": ids, "seed": seed}
    with open_platform(data_dir) if data_dir else nullcontext() as platform:
        embedder = embedder_of(platform)
        setting = Setting(platform, pairs, reader, corpus)
        rows = setting.rows(chosen_rows(read_rows(pairs), ids, limit_per_set, first))
        asking = ways(setting, most)
        with progress("clarify", len(rows) * len(asking)) as advance:
            see, results = setting.see(), {}
            for name, ask in asking.items():
                results[name] = measure(rows, see, ask, embedder, seed, advance)
    rows_by_way = {
        name: [(row.id, row.set, figures) for row, figures in each if figures]
        for name, each in results.items()
    }
    left_out = len(rows) - len(next(iter(rows_by_way.values())))
    seconds = round(time.perf_counter() - started, 1)
    finish(report(rows_by_way, config | setting.config(), left_out, seconds), out, as_json=as_json)
