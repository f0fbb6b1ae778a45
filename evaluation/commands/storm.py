"""Many alerts at a time."""

from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.chaos import EXAMPLES
from evaluation.commands.options import Out, Seed
from evaluation.commands.outcome import end_by, end_on_a_signal
from services.kit.files import require_folder

app = typer.Typer()


@app.command()
def storm(
    *,
    per_minute: Annotated[float, typer.Option(min=1, help="Alerts a minute.")] = 5000.0,
    new_per_minute: Annotated[
        float, typer.Option(min=1, help="Of these, alerts of faults that nobody saw before.")
    ] = 600.0,
    seconds: Annotated[float, typer.Option(min=1, help="How long they come.")] = 180.0,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that walk tickets beside the gateway.")
    ] = 1,
    documents: Annotated[
        Path,
        typer.Option(
            help="Folder of documents that the alerts are about.", callback=require_folder
        ),
    ] = EXAMPLES,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Alerts by the thousand on PostgreSQL and Valkey: latency, losses, doubles, memory, CPU.

    Starts the servers itself. Prints JSON; the exit status is 1 when an alert was refused or lost,
    or a ticket is double or not finished.
    """
    from evaluation.benches.load.storm import StormPlan, run_storm  # noqa: PLC0415

    end_on_a_signal()
    plan = StormPlan(
        documents=documents,
        per_minute=per_minute,
        new_per_minute=new_per_minute,
        seconds=seconds,
        workers=workers,
        seed=seed,
    )
    report = run_storm(plan, lambda line: typer.echo(line, err=True))
    end_by(report, out)
