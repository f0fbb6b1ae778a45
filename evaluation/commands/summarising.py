"""What was done becomes workflows, which are carried out on fresh faults."""

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import Out
from services.kit.files import require_file, require_new_file, require_new_folder, write_text

app = typer.Typer()

ANSWERED_WITHIN_S = 3600.0


@app.command()
def summarize(
    *,
    fault: Annotated[list[str] | None, typer.Option(help="Kinds of faults; all.")] = None,
    count: Annotated[
        list[int] | None, typer.Option(min=1, max=20, help="Traces of each; 1, 3 and 5.")
    ] = None,
    seed: Annotated[list[int] | None, typer.Option(help="Draws variants and detours; 0.")] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            help="JSON Lines of traces, their ids beginning with `FAULT-`.", callback=require_file
        ),
    ] = None,
    ssh: Annotated[bool, typer.Option(help="Over SSH, not in this process.")] = False,
    speed: Annotated[float, typer.Option(min=1, help="How fast the clock runs, over SSH.")] = 20.0,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="A model draws: its prompts are written there, its answers read.",
            callback=require_new_folder,
        ),
    ] = None,
    replay: Annotated[bool, typer.Option(help="Only answers that are there already.")] = False,
    keep: Annotated[
        Path | None,
        typer.Option(
            help="Write the traces that a scripted solver left there.", callback=require_new_file
        ),
    ] = None,
    out: Out = None,
) -> None:
    """A scripted solver mends faults of the simulated network; its traces become workflows.

    Each workflow is then carried out on other variants of its fault, where nothing is wrong, and on
    other faults with the same alert. A scripted person gives leave and hands over what is asked.
    The exit status is 1 when a device was sent a change that is not right.
    """
    from evaluation.benches.answered_by_file import FileChatModel  # noqa: PLC0415
    from evaluation.benches.summarising import (  # noqa: PLC0415
        Bench,
        Summarise,
        by_the_model,
        direct_network,
        read_traces,
        report_of,
        ssh_network,
        summarise_faults,
    )
    from services.investigation.summary.summarise import summarise_traces  # noqa: PLC0415

    recorded_traces = read_traces(traces) if traces else []
    way: Summarise = summarise_traces
    if answers is not None:
        way = by_the_model(FileChatModel(answers, waits_s=0 if replay else ANSWERED_WITHIN_S))
    with (
        tempfile.TemporaryDirectory() as folder,
        ssh_network(Path(folder), speed) if ssh else nullcontext(direct_network()) as network,
    ):
        bench = Bench(network, lambda line: typer.echo(line, err=True))
        cases = summarise_faults(
            bench,
            counts=count or [1, 3, 5],
            kinds=fault or [],
            seeds=seed or [0],
            recorded_traces=recorded_traces,
            summarise=way,
        )
    report = report_of(cases)
    for name, figures in report.figures.items():
        summary = ", ".join(f"{what} {figure:.3g}" for what, figure in figures.items())
        typer.echo(f"{name}: {summary}")
    if keep is not None:
        write_text(keep, "".join(f"{each.model_dump_json()}\n" for each in bench.made))
    if out is not None:
        write_text(out, report.model_dump_json(indent=2) + "\n")
    has_wrong = any(test.wrong_changes for case in cases for test in case.tests)
    raise typer.Exit(1 if has_wrong else 0)
