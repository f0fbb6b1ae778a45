"""Workflows carried out on the simulated network."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import Out
from services.kit.files import require_file, require_folder, write_text

app = typer.Typer()


@app.command()
def execute(
    *,
    fault: Annotated[list[str] | None, typer.Option(help="Kinds of faults; all.")] = None,
    each: Annotated[int, typer.Option(min=1, max=5, help="Variants of each.")] = 5,
    speed: Annotated[float, typer.Option(min=1, help="How fast the clock runs.")] = 20.0,
    team: Annotated[
        Path | None,
        typer.Option(
            help="Folder of what a team wrote in the place of the network's pages: `pages/`,"
            " `tools/*.yaml`, `readings.jsonl`, `bindings.jsonl`.",
            callback=require_folder,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="What is right by them, as in evaluation/material.", callback=require_file
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Faults of the simulated network, each with an alert, a workflow and a supervised run.

    A scripted person approves what is proposed and asked, does what only hands can do, and hands
    over whatever else is asked.
    """
    from evaluation.benches.execution import (  # noqa: PLC0415
        GOLD,
        Team,
        report_of,
        rights,
        run_faults,
        world_in,
    )

    right, team_setup = rights(gold or GOLD), Team.of_folder(team) if team else Team()
    with (
        tempfile.TemporaryDirectory() as folder,
        world_in(Path(folder), speed, team_setup) as world,
    ):
        ran = run_faults(world, right, fault or [], each, lambda s: typer.echo(s, err=True))
    report = report_of(ran)
    for name, figure in report.figures.items():
        typer.echo(f"{name}: {figure:.3g}")
    if out is not None:
        write_text(out, report.model_dump_json(indent=2) + "\n")


@app.command()
def incidents(
    *,
    recorded: Annotated[
        Path,
        typer.Option(
            help="Folder of recorded incidents, with the outputs of tools.", callback=require_folder
        ),
    ],
    corpus: Annotated[Path, typer.Option(help="Folder of the pages.", callback=require_folder)],
    all_orders: Annotated[
        bool, typer.Option("--all-orders", help="Commands also in other orders of their words.")
    ] = False,
    out: Out = None,
) -> None:
    """Recorded incidents with a page named like their alert: what would a run's looks ask for?

    The catalogue is made of the commands that were recorded; nothing is run.
    """
    from evaluation.benches.incidents import measure  # noqa: PLC0415

    report = measure(recorded, corpus, all_orders=all_orders)
    for each in report.looked:
        summary = f"{each.asked} of {each.recorded} outputs, {each.bound} of {each.steps} steps"
        typer.echo(f"{each.incident}, {each.page}: {summary}", err=True)
    for name, figure in report.figures.items():
        typer.echo(f"{name}: {figure:.3g}")
    if out is not None:
        write_text(out, report.model_dump_json(indent=2) + "\n")
