"""`flowxpert migrate`: the database alone, before the processes of a new release start."""

import typer

from services.cli.opening import open_database, read_settings
from services.cli.options import DataDir


def migrate(*, data_dir: DataDir = None) -> None:
    """Bring the database's tables to this release; doing it again changes nothing.

    Every process does so when it starts, one after the other; with this a failure is seen before.
    """
    from services.kit.migrations import ROOMS  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)):
        typer.echo(f"the tables of {', '.join(ROOMS)} are up to date")
