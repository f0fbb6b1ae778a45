"""Composing from instructions, and edits in words."""

import time
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import AsJson, Out, Seed
from evaluation.commands.outcome import finish
from evaluation.commands.platform import embedder_of
from evaluation.commands.progress import progress

app = typer.Typer()


@app.command()
def compose(
    *,
    tools: Annotated[
        Path, typer.Option(help="Folder that holds `seal-tools` and `keep-workflows`.")
    ],
    flows: Annotated[Path, typer.Option(help="Folder of flow-bench.")],
    seal: Annotated[int, typer.Option(min=0, help="Instructions of Seal-Tools; 0 for all.")] = 40,
    keep: Annotated[int, typer.Option(min=0, help="Workflows of Keep; 0 for all.")] = 30,
    seed: Seed = 7,
    prompts: Annotated[
        Path | None,
        typer.Option(help="Write what a model is asked there: a folder for each arm, no figures."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Take answers from there, the folder of --prompts, and keep them."),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="Recorded compositions; those that are kept here.")
    ] = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Instructions into calls of components: a team, less of it, one model, and none.

    On Seal-Tools and Keep all that is called with all values (exact), the order of components
    (sequence) and values alone; on flow-bench the order and what stands under which condition.
    """
    from evaluation.benches.composing import bench  # noqa: PLC0415
    from evaluation.benches.composing.arms import ASKED, Posing  # noqa: PLC0415
    from evaluation.benches.composing.prompt_files import write_prompts  # noqa: PLC0415
    from evaluation.material.recorded_compositions import RECORDED_COMPOSITIONS  # noqa: PLC0415
    from evaluation.measures.figures import Report  # noqa: PLC0415

    started = time.perf_counter()
    kept = answers or RECORDED_COMPOSITIONS
    sets = bench.given(tools, flows, seal, keep, seed)
    posing = Posing(embedder_of(None))
    with progress("instructions", sum(len(each) for each, _ in sets)) as advance:
        posed = bench.pose(posing, sets, advance)
    if prompts is not None:
        for arm in ASKED:
            for path in write_prompts(arm, posed, prompts / arm.value):
                typer.echo(str(path))
        return
    if record is not None:
        for arm in ASKED:
            taken = bench.record(arm, record / arm.value, posed, kept)
            typer.echo(f"{arm.value}: {taken} answers")
    scores = bench.measure(posed, posing, kept)
    told = Report.model_validate(
        {
            "benchmark": "compose",
            "overall": {"n": float(len(posed))},
            "sets": bench.figures(scores, posed),
            "config": {"seal": seal, "keep": keep, "seed": seed, "embedder": "of the settings"},
            "seconds": round(time.perf_counter() - started, 1),
            "mean_over": "instructions",
        }
    )
    finish(told, out, as_json=as_json)
