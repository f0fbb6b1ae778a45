"""Processes killed under load."""

from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import Out, Seed
from evaluation.commands.outcome import end_by, end_on_a_signal
from services.kit.files import require_folder

app = typer.Typer()

EXAMPLES = Path(__file__).parents[2] / "examples" / "documents"


@app.command()
def chaos(
    *,
    kills: Annotated[int, typer.Option(min=1, help="How often something is killed.")] = 200,
    rate: Annotated[float, typer.Option(min=0.1, help="Tickets per second meanwhile.")] = 3.0,
    pause: Annotated[float, typer.Option(min=0, help="Mean seconds between two kills.")] = 1.0,
    lease: Annotated[
        float, typer.Option(min=10, help="Seconds until a dead process' task goes to another.")
    ] = 10.0,
    within: Annotated[
        float, typer.Option(min=0, help="Kill nothing more after so many seconds; 0: no bound.")
    ] = 0,
    documents: Annotated[
        Path,
        typer.Option(
            help="Folder of documents that the tickets are about.", callback=require_folder
        ),
    ] = EXAMPLES,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Kill gateway, workers, Valkey and database connections under load, and count what is lost.

    Starts a PostgreSQL and a Valkey of its own. Prints JSON; the exit status is 1 when a ticket was
    lost, is not finished, or was done twice.
    """
    from evaluation.benches.load.chaos import ChaosPlan, run_chaos  # noqa: PLC0415

    end_on_a_signal()
    plan = ChaosPlan(
        kills=kills,
        documents=documents,
        rate=rate,
        pause_s=pause,
        lease_s=lease,
        within_s=within or float("inf"),
        seed=seed,
    )
    report = run_chaos(plan, lambda line: typer.echo(line, err=True))
    end_by(report, out)
