"""How fast the platform is, without a model and beside one."""

from pathlib import Path
from typing import Annotated

import typer

from evaluation.commands.options import DataDir, Out, PairsFile
from evaluation.commands.platform import settings_of
from services.kit.files import require_file

app = typer.Typer()


@app.command()
def speed(
    *,
    data_dir: DataDir,
    seconds: Annotated[float, typer.Option(help="How long the load lasts.")] = 60,
    rate: Annotated[float, typer.Option(help="Deliveries per second.")] = 50,
    told: Annotated[
        int, typer.Option(min=1, help="How often each ticket of the load is delivered.")
    ] = 1,
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Take the tickets from these queries, not from titles.", callback=require_file
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Start, answers, retrieval and walks of the embedded run, on a copy of the data folder."""
    from evaluation.benches.load.speed import Load, measure_speed, show  # noqa: PLC0415

    report = measure_speed(
        data_dir, Load(rate=rate, seconds=seconds, deliveries_per_ticket=told), pairs
    )
    show(report)
    if out is not None:
        report.write(out)


@app.command()
def overhead(
    *,
    data_dir: DataDir,
    pairs: PairsFile,
    latency: Annotated[float, typer.Option(help="Seconds that a scripted call takes.")] = 2.0,
    tickets: Annotated[int, typer.Option(min=1, help="Tickets walked on each model.")] = 20,
    out: Out = None,
) -> None:
    """What the platform adds to the model's own time, on a scripted model and on the set one."""
    from evaluation.benches.load.overhead import measure_overhead, show  # noqa: PLC0415

    report = measure_overhead(
        settings_of(data_dir).data_dir,
        pairs,
        latency_s=latency,
        tickets=tickets,
        say=lambda line: typer.echo(line, err=True),
    )
    show(report)
    if out is not None:
        report.write(out)
