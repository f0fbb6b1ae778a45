"""Composing from instructions, and edits in words."""

import time
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, Out, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.platform import embedder_of
from evaluation.commands.progress import progress
from services.kit.files import require_file, require_folder, require_new_folder

app = typer.Typer()


@app.command()
def compose(
    *,
    tools: Annotated[
        Path,
        typer.Option(
            help="Folder that holds `seal-tools` and `keep-workflows`.", callback=require_folder
        ),
    ],
    flows: Annotated[Path, typer.Option(help="Folder of flow-bench.", callback=require_folder)],
    seal: Annotated[int, typer.Option(min=0, help="Instructions of Seal-Tools; 0 for all.")] = 40,
    keep: Annotated[int, typer.Option(min=0, help="Workflows of Keep; 0 for all.")] = 30,
    seed: Seed = 7,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Write what a model is asked there: a folder for each arm, no figures.",
            callback=require_new_folder,
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Take answers from there, the folder of --prompts, and keep them.",
            callback=require_folder,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Recorded compositions; those that are kept here.", callback=require_file
        ),
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Instructions into calls of components: a team, less of it, one model, and none.

    On Seal-Tools and Keep all that is called with all values (exact), the order of components
    (sequence) and values alone; on flow-bench the order and what stands under which condition.
    """
    from evaluation.benches.composing import bench  # noqa: PLC0415
    from evaluation.benches.composing.arms import MODEL_ARMS, Posing  # noqa: PLC0415
    from evaluation.benches.composing.prompt_files import write_prompts  # noqa: PLC0415
    from evaluation.material.composing.recorded_compositions import RECORDED_COMPOSITIONS  # noqa: PLC0415
    from evaluation.measures.figures import Report  # noqa: PLC0415

    started = time.perf_counter()
    kept = answers or RECORDED_COMPOSITIONS
    sets = bench.read_sets(tools, flows, seal, keep, seed)
    posing = Posing(embedder_of(None))
    with progress("instructions", sum(len(each) for each, _ in sets)) as advance:
        posed = bench.pose(posing, sets, advance)
    if prompts is not None:
        for arm in MODEL_ARMS:
            for path in write_prompts(arm, posed, prompts / arm.value):
                typer.echo(str(path))
        return
    if record is not None:
        for arm in MODEL_ARMS:
            taken = bench.record(arm, record / arm.value, posed, kept)
            typer.echo(f"{arm.value}: {taken} answers")
    scores = bench.measure(posed, posing, kept)
    report = Report.model_validate(
        {
            "benchmark": "compose",
            "overall": {"n": float(len(posed))},
            "sets": bench.figures(scores, posed),
            "config": {"seal": seal, "keep": keep, "seed": seed, "embedder": "of the settings"},
            "seconds": round(time.perf_counter() - started, 1),
            "mean_over": "instructions",
        }
    )
    finish(report, out, as_json=as_json)


@app.command()
def edits(
    *,
    rows: Annotated[
        Path,
        typer.Option(
            help="JSON Lines of document, instruction and expected procedure.",
            callback=require_file,
        ),
    ],
    pages: Annotated[
        Path, typer.Option(help="Folder of the documents.", callback=require_folder)
    ] = Path("examples/documents"),
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Embedded run whose stored readings are changed.", callback=require_folder
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help="Write what a model is asked there, no figures.", callback=require_new_folder
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            help="Take answers from there, the folder of --prompts, and keep them.",
            callback=require_folder,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(help="Recorded edits; those that are kept here.", callback=require_file),
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Edits in words: the program that comes of a sentence, and whether anything else changed.

    Exact: the same program but for ids and lines. Shape: the same but for words. Nothing else: all
    nodes that should stay are as they were, their lines with them; bindings: those of their steps
    go on to hold.
    """
    from contextlib import nullcontext  # noqa: PLC0415

    from evaluation.benches.composing import edits as bench  # noqa: PLC0415
    from evaluation.commands.platform import open_platform  # noqa: PLC0415
    from evaluation.material.composing.edit_rows import (  # noqa: PLC0415
        RECORDED_EDITS,
        posed,
        read_edits,
    )
    from evaluation.measures.figures import Report  # noqa: PLC0415

    started, kept = time.perf_counter(), answers or RECORDED_EDITS
    with open_platform(data_dir) if data_dir else nullcontext() as platform:
        stored = bench.stored_in(platform) if platform else None
        posed_edits = [posed(row, pages, stored) for row in read_edits(rows)]
    if prompts is not None:
        for path in bench.write_prompts(posed_edits, prompts):
            typer.echo(str(path))
        return
    if record is not None:
        typer.echo(f"{bench.record(posed_edits, record, kept)} answers")
    figures = {name: bench.figures(of) for name, of in bench.measured(posed_edits, kept).items()}
    finish(
        Report.model_validate(
            {
                "benchmark": "edits",
                "overall": {"n": float(len(posed_edits))},
                "sets": figures,
                "config": {"rows": rows.name},
                "seconds": round(time.perf_counter() - started, 1),
                "mean_over": "sentences",
            }
        ),
        out,
        as_json=as_json,
    )
