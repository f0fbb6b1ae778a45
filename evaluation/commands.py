"""`flowxpert bench …`. What a benchmark needs is imported when it runs."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True)

DataDir = Annotated[Path, typer.Option(help="Folder of an embedded run, already ingested.")]
Out = Annotated[Path | None, typer.Option(help="Also write the figures there, as JSON.")]


@app.command()
def speed(
    *,
    data_dir: DataDir,
    seconds: Annotated[float, typer.Option(help="How long the load lasts.")] = 60,
    rate: Annotated[float, typer.Option(help="Tickets per second.")] = 50,
    out: Out = None,
) -> None:
    """Start, answers, retrieval and walks of the embedded run, on a copy of the data folder."""
    from evaluation.speed import Load, measure_speed, show  # noqa: PLC0415

    report = measure_speed(data_dir, Load(rate=rate, seconds=seconds))
    show(report)
    if out is not None:
        report.write(out)
