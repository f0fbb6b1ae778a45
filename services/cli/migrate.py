"""`flowxpert migrate`: migrate the database alone, before a new release's processes start."""

import typer

from services.cli.options import DataDir
from services.cli.platform_access import open_database, read_settings


def migrate(*, data_dir: DataDir = None) -> None:
    """Bring the database's tables to this release; doing it again changes nothing.

    Every process does so when it starts, one after the other; this shows a failure before.
    """
    from services.kit.migrations import ROOMS  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)):
        typer.echo(f"the tables of {', '.join(ROOMS)} are up to date")
