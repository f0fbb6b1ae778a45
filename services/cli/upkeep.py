"""`flowxpert backup`, `restore` and `migrate`: all that a platform keeps, and its tables."""

from pathlib import Path
from typing import Annotated

import typer

from services.cli.platform_access import (
    AsJson,
    DataDir,
    open_database,
    print_json,
    read_settings,
    say,
)
from services.kit.files import require_file, require_new_file


def backup(
    path: Annotated[
        Path,
        typer.Argument(help="The file to make; it must not be there.", callback=require_new_file),
    ],
    *,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write everything that the platform keeps to one file, while it runs.

    The file holds tickets and documents: keep it as you keep them. Settings and their secrets are
    not in it.
    """
    from services.deployment.operations.backup import back_up  # noqa: PLC0415

    settings = read_settings(data_dir=data_dir)
    manifest = back_up(settings, path, lambda _part: None)
    if as_json:
        print_json(manifest)
    else:
        rows = sum(part.rows for part in manifest.parts.values())
        typer.echo(f"{path}: {manifest.documents} documents, {rows} rows")


def restore(
    path: Annotated[
        Path, typer.Argument(help="A file that `flowxpert backup` made.", callback=require_file)
    ],
    *,
    data_dir: DataDir = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take away what the platform holds.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a backup into the stores of the settings, also of other engines than it came from.

    Stop the platform first. Tables are migrated; vectors and graph are rebuilt.
    """
    from services.deployment.operations.restore import restore as bring_back  # noqa: PLC0415

    settings = read_settings(data_dir=data_dir)
    manifest = bring_back(
        settings, path, lambda part: say(part) if not as_json else None, replace=replace
    )
    if as_json:
        print_json(manifest)
    else:
        typer.echo(f"{manifest.documents} documents of {manifest.made_at:%Y-%m-%d %H:%M} UTC")


def migrate(*, data_dir: DataDir = None) -> None:
    """Bring the database's tables to this release; doing it again changes nothing.

    Every process does so when it starts, one after the other; this shows a failure before.
    """
    from services.kit.migrations import ROOMS  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)):
        typer.echo(f"the tables of {', '.join(ROOMS)} are up to date")
