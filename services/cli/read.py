"""`flowxpert read`: the model reads what the pages tell to do."""

from typing import Annotated

import typer

from services.cli.opening import open_platform, print_json, read_settings
from services.cli.options import AsJson, DataDir


def read(
    root: Annotated[
        str | None, typer.Argument(help="A root that `flowxpert roots` lists; all without it.")
    ] = None,
    *,
    data_dir: DataDir = None,
    limit: Annotated[int, typer.Option(min=0, help="Most pages to read; 0 for all.")] = 0,
    tokens: Annotated[
        int, typer.Option(min=0, help="Begin no page once so many are spent; 0 for no bound.")
    ] = 0,
    dry: Annotated[bool, typer.Option("--dry", help="Only say what it would cost.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let the model read which procedures the ingested pages tell.

    Only pages that it has not read yet are read; a broken-off run goes on. What people approved
    stays what is served.
    """
    from services.cli.readings_shown import (  # noqa: PLC0415
        read_estimate_line,
        read_progress,
        show_read,
    )
    from services.ingestion.readings.model_run import ChosenPages  # noqa: PLC0415

    with open_platform(read_settings(data_dir=data_dir)) as platform:
        path = platform.ingestion.root_here(root).path if root is not None else None
        chosen = ChosenPages(root=path, limit=limit, tokens=tokens)
        run = platform.ingestion.model_run(platform.model)
        expected = run.estimate(chosen)
        if dry:
            typer.echo(
                expected.model_dump_json(indent=2) if as_json else read_estimate_line(expected)
            )
            return
        typer.echo(read_estimate_line(expected), err=True)
        with read_progress(expected.pages) as on_progress:
            report = run.run(chosen, on_progress)
    if as_json:
        print_json(report)
    else:
        show_read(report)
