"""`flowxpert sessions`: list signed-in browsers, and sign them out."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.options import AsJson, DataDir
from services.cli.platform_access import open_database, read_settings

if TYPE_CHECKING:
    from services.kit.access.sessions.sessions import Sessions
    from services.kit.sql.database import Database

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_sessions(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List who is signed in, since when, and their last activity."""
    from dataclasses import asdict  # noqa: PLC0415

    from services.cli.terminal import show_sessions  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        infos = _sessions(database).all()
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in infos], indent=2, default=str))
    else:
        show_sessions(infos)


@app.command()
def end(
    name: Annotated[str, typer.Argument(help="As the list has it, such as `key night-desk`.")],
    *,
    data_dir: DataDir = None,
) -> None:
    """Sign a person or a key out of all browsers."""
    with open_database(read_settings(data_dir=data_dir)) as database:
        count = _sessions(database).end_all_of(name)
    typer.echo(f"{name}: {count} session{'' if count == 1 else 's'} ended", err=True)


def _sessions(database: "Database") -> "Sessions":
    from services.kit.access.keys import Keys  # noqa: PLC0415
    from services.kit.access.sessions.sessions import Sessions  # noqa: PLC0415

    return Sessions(database, Keys(database))
