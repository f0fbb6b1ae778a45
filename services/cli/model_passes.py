"""`flowxpert build-graph` and `flowxpert read`: passes of a model over the documents."""

from typing import Annotated

import typer
from pydantic import BaseModel

from services.cli.platform_access import AsJson, DataDir, open_platform, print_json, read_settings

Dry = Annotated[bool, typer.Option("--dry", help="Only say what it would cost.")]


def build_graph(
    *,
    data_dir: DataDir = None,
    documents: Annotated[str, typer.Option(help="Shell pattern of the documents' ids.")] = "*",
    limit: Annotated[int, typer.Option(min=0, help="Most documents to build; 0 for all.")] = 0,
    tokens: Annotated[
        int, typer.Option(min=0, help="Begin no document once so many are spent; 0 for no bound.")
    ] = 0,
    dry: Dry = False,
    as_json: AsJson = False,
) -> None:
    """Let the model add to the graph what it finds in the ingested documents.

    Only documents that are new or changed since the last run are read; a broken-off run goes on.
    """
    from services.cli.terminal import estimate_line, pass_progress, show_build  # noqa: PLC0415
    from services.ingestion.graph_build.build_pass import ChosenDocuments  # noqa: PLC0415

    chosen = ChosenDocuments(pattern=documents, limit=limit, tokens=tokens)
    with open_platform(read_settings(data_dir=data_dir)) as platform:
        model_pass = platform.ingestion.build_pass(platform.model)
        expected = model_pass.estimate(chosen)
        _print_estimate(expected, estimate_line(expected), dry=dry, as_json=as_json)
        if dry:
            return
        with pass_progress("graph", expected.documents) as on_progress:
            report = model_pass.run(chosen, on_progress)
    if as_json:
        print_json(report)
    else:
        show_build(report)


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
    dry: Dry = False,
    as_json: AsJson = False,
) -> None:
    """Let the model read the procedures of the ingested pages.

    Only pages that it has not read yet are read; a broken-off run goes on. Approved readings
    are still served.
    """
    from services.cli.reading_view import read_estimate_line, show_read  # noqa: PLC0415
    from services.cli.terminal import pass_progress  # noqa: PLC0415
    from services.ingestion.readings.reading_pass import ChosenPages  # noqa: PLC0415

    with open_platform(read_settings(data_dir=data_dir)) as platform:
        path = platform.ingestion.root_here(root).path if root is not None else None
        chosen = ChosenPages(root=path, limit=limit, tokens=tokens)
        model_pass = platform.ingestion.reading_pass(platform.model)
        expected = model_pass.estimate(chosen)
        _print_estimate(expected, read_estimate_line(expected), dry=dry, as_json=as_json)
        if dry:
            return
        with pass_progress("pages", expected.pages) as on_progress:
            report = model_pass.run(chosen, on_progress)
    if as_json:
        print_json(report)
    else:
        show_read(report)


def _print_estimate(expected: BaseModel, line: str, *, dry: bool, as_json: bool) -> None:
    """Print the cost of a pass: the answer of a dry run, else a remark beside the answer."""
    typer.echo(expected.model_dump_json(indent=2) if dry and as_json else line, err=not dry)
