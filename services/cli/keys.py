"""`flowxpert keys`: create, list, rotate and revoke keys where the database is."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.options import AsJson, DataDir
from services.cli.platform_access import open_database, read_settings

if TYPE_CHECKING:
    from services.kit.access.scopes import Scope

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The key's name.")]
Days = Annotated[
    float | None, typer.Option("--expires", min=0.001, help="Days until it ends; never.")
]


@app.command()
def create(
    name: Name,
    *,
    scope: Annotated[
        list[str], typer.Option(help="`read`, `ingest`, `operate` or `admin`; again for more.")
    ],
    expires: Days = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and show it, once; `admin` includes the other scopes."""
    from services.kit.access.keys import Keys  # noqa: PLC0415

    scopes = frozenset(map(_scope, scope))
    with open_database(read_settings(data_dir=data_dir)) as database:
        key = Keys(database).create(name, scopes, days=expires)
    _show_once(name, key, as_json=as_json)


@app.command()
def rotate(
    name: Name, *, expires: Days = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Make a new key of that name and show it, once; the old one ends now."""
    from services.kit.access.keys import Keys  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        key = Keys(database).rotate(name, days=expires)
    _show_once(name, key, as_json=as_json)


@app.command()
def revoke(name: Name, *, data_dir: DataDir = None) -> None:
    """End a key for good."""
    from services.kit.access.keys import Keys  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        Keys(database).revoke(name)
    typer.echo(f"{name} is revoked", err=True)


@app.command("list")
def list_keys(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List all keys there ever were, with their scopes and their last use."""
    from dataclasses import asdict  # noqa: PLC0415

    from services.cli.terminal import show_keys  # noqa: PLC0415
    from services.kit.access.keys import Keys  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        infos = Keys(database).list()
    if as_json:
        rows = [{**asdict(each), "state": each.state} for each in infos]
        typer.echo(json.dumps(rows, indent=2, default=str))
    else:
        show_keys(infos)


def _scope(name: str) -> "Scope":
    from services.kit.access.scopes import KEY_SCOPES, Scope  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    if name not in {scope.value for scope in KEY_SCOPES}:
        raise InvalidInputError(f"expected --scope read, ingest, operate or admin, got {name!r}")
    return Scope(name)


def _show_once(name: str, key: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"name": name, "key": key}))
        return
    typer.echo(f"{name}: keep it now, it is not shown again", err=True)
    typer.echo(key)
