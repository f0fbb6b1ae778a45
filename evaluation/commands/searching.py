"""Searches for causes on the simulated network, with a model that is played by hand."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import Out
from services.kit.files import require_folder, require_new_folder, write_text

app = typer.Typer()


@app.command()
def search(
    *,
    fault: Annotated[str, typer.Option(help="Kind of the fault; `list` names all.")],
    answers: Annotated[
        Path,
        typer.Option(
            help="Prompts are written there, NNN.prompt.txt; answers are awaited.",
            callback=require_new_folder,
        ),
    ],
    arm: Annotated[str, typer.Option(help="`oce`, `loop` or `direct`.")] = "oce",
    variant: Annotated[int, typer.Option(min=0, max=4, help="Where it breaks.")] = 0,
    replay: Annotated[
        Path | None,
        typer.Option(
            help="Folder of an earlier play: the same prompts' answers.", callback=require_folder
        ),
    ] = None,
    wait_s: Annotated[float, typer.Option(min=1, help="Longest wait for one answer.")] = 900.0,
    out: Out = None,
) -> None:
    """Break the simulated network, hide the fault's page, and search for the cause.

    For each question of the search a file NNN.prompt.txt appears in the folder; write the JSON that
    it asks for into NNN.answer.json beside it, and the next one appears. Of an unanswered question
    the search waits, asks again, and ends as not found.
    """
    from evaluation.benches.searching import (  # noqa: PLC0415
        Arm,
        fault_of,
        scene_in,
        search_in,
        to_yaml,
    )
    from evaluation.material.hand_played import HandPlayedModel  # noqa: PLC0415
    from services.simulator.faults import kinds  # noqa: PLC0415

    if fault == "list":
        typer.echo("\n".join(kinds()))
        return
    if fault not in kinds():
        raise typer.BadParameter(f"one of {', '.join(kinds())}", param_hint="--fault")
    if arm not in {each.value for each in Arm}:
        raise typer.BadParameter(f"one of {', '.join(Arm)}", param_hint="--arm")
    model = HandPlayedModel(answers, within_s=wait_s, replay=replay)
    with (
        tempfile.TemporaryDirectory() as folder,
        scene_in(Path(folder), fault_of(fault, variant)) as scene,
    ):
        record = search_in(
            scene,
            Arm(arm),
            model,
            answer_within_s=wait_s,
            say=lambda line: typer.echo(line, err=True),
        )
    typer.echo(to_yaml(record))
    typer.echo(
        f"questions answered from earlier plays: {model.replayed} of {model.prompt_count}", err=True
    )
    if out is not None:
        write_text(out, record.model_dump_json(indent=2) + "\n")
