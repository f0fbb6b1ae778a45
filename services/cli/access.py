"""`flowxpert keys`, `sessions` and `audit`: who may call, who is signed in, and who changed what.

They work on the database itself, also while access is on.
"""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.platform_access import (
    AsJson,
    DataDir,
    open_database,
    print_json,
    read_settings,
)

if TYPE_CHECKING:
    from services.kit.access.sessions.sessions import Sessions
    from services.kit.sql.database import Database

keys_app = typer.Typer(no_args_is_help=True)
sessions_app = typer.Typer(no_args_is_help=True)
people_app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The key's name.")]
Owner = Annotated[
    str, typer.Option(help="The person who holds it: their subject at the issuer, or their name.")
]
Days = Annotated[
    float | None, typer.Option("--expires", min=0.001, help="Days until it ends; never.")
]


@keys_app.command()
def create(
    name: Name,
    *,
    scope: Annotated[
        list[str],
        typer.Option(help="`read`, `ingest`, `operate`, `run` or `admin`; again for more."),
    ],
    expires: Days = None,
    owner: Owner = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and show it, once; `admin` includes the other scopes.

    All keys of one person count as that person where the platform learns, and all that nobody
    holds count together as one.
    """
    from services.kit.access.keys import Keys  # noqa: PLC0415
    from services.kit.access.scopes import KEY_SCOPES, Scope  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    for each in scope:
        if each not in KEY_SCOPES:
            raise InvalidInputError(
                f"expected --scope read, ingest, operate, run or admin, got {each!r}"
            )
    with open_database(read_settings(data_dir=data_dir)) as database:
        scopes = frozenset(map(Scope, scope))
        key = Keys(database).create(name, scopes, days=expires, owner=owner)
    _show_once(name, key, as_json=as_json)


@keys_app.command()
def rotate(
    name: Name, *, expires: Days = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Make a new key of that name and show it, once; the old one ends now."""
    from services.kit.access.keys import Keys  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        key = Keys(database).rotate(name, days=expires)
    _show_once(name, key, as_json=as_json)


@keys_app.command("owner")
def set_owner(
    name: Name,
    owner: Annotated[
        str,
        typer.Argument(help="The person's subject at the issuer, or their name; '' for nobody."),
    ],
    *,
    data_dir: DataDir = None,
) -> None:
    """Name the person who holds a key; what it taught is theirs, too."""
    from services.kit.access.keys import Keys  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        Keys(database).set_owner(name, owner)
    typer.echo(f"{name} is held by {owner or 'nobody'}", err=True)


@keys_app.command()
def revoke(name: Name, *, data_dir: DataDir = None) -> None:
    """End a key for good."""
    from services.kit.access.keys import Keys  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        Keys(database).revoke(name)
    typer.echo(f"{name} is revoked", err=True)


@keys_app.command("list")
def list_keys(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List all keys there ever were, with their scopes and their last use."""
    from services.cli.terminal import show_keys  # noqa: PLC0415
    from services.kit.access.keys import Keys  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        infos = Keys(database).list()
    if as_json:
        rows = [{**asdict(each), "state": each.state} for each in infos]
        typer.echo(json.dumps(rows, indent=2, default=str))
    else:
        show_keys(infos)


def _show_once(name: str, key: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"name": name, "key": key}))
        return
    typer.echo(f"{name}: keep it now, it is not shown again", err=True)
    typer.echo(key)


@sessions_app.command("list")
def list_sessions(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List who is signed in, since when, and their last activity."""
    from services.cli.terminal import show_sessions  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database:
        infos = _sessions(database).all()
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in infos], indent=2, default=str))
    else:
        show_sessions(infos)


@sessions_app.command()
def end(
    name: Annotated[str, typer.Argument(help="As the list has it, such as `key night-desk`.")],
    *,
    data_dir: DataDir = None,
) -> None:
    """Sign a person or a key out of all browsers."""
    with open_database(read_settings(data_dir=data_dir)) as database:
        count = _sessions(database).end_all_of(name)
    typer.echo(f"{name}: {count} session{'' if count == 1 else 's'} ended", err=True)


@people_app.callback()
def people() -> None:
    """People who signed in and wrote."""


@people_app.command()
def forget(
    name: Annotated[str, typer.Argument(help="As `flowxpert audit` has it.")],
    *,
    dry: Annotated[bool, typer.Option("--dry", help="Only count.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Put a pseudonym in the place of a person's name, and delete the words that they wrote.

    Tickets that they brought in themselves are purged. A reading or an approval of a page that
    rests on their words goes; documents stay, whoever wrote them.
    """
    from services.deployment.operations.people import PersonErasure  # noqa: PLC0415
    from services.kit.access.caller import LOCAL, acting_as  # noqa: PLC0415

    with open_database(read_settings(data_dir=data_dir)) as database, acting_as(LOCAL):
        erasure = PersonErasure(database)
        erased = erasure.count(name) if dry else erasure.erase(name)
        if not dry:
            database.wipe(rewrites=True)
    if as_json:
        print_json(erased)
        return
    would = "would go" if dry else f"are deleted; {erased.pseudonym} stands for the name"
    typer.echo(
        f"{erased.words} texts, {erased.tickets} tickets, and readings or approvals of"
        f" {erased.readings} pages {would}"
    )


def _sessions(database: "Database") -> "Sessions":
    from services.kit.access.keys import Keys  # noqa: PLC0415
    from services.kit.access.sessions.sessions import Sessions  # noqa: PLC0415

    return Sessions(database, Keys(database))


def audit(
    *,
    who: Annotated[str, typer.Option(help="Only what this caller did.")] = "",
    action: Annotated[str, typer.Option(help="Such as `reading.approved`, or `reading`.")] = "",
    subject: Annotated[str, typer.Option(help="Such as `ticket <id>`.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Most lines.")] = 100,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show who changed what, when, and what it was before, the latest first."""
    from services.cli.terminal import show_audit  # noqa: PLC0415
    from services.kit.access.audit import AuditFilter, AuditLog  # noqa: PLC0415

    wanted = AuditFilter(who=who, action=action, subject=subject)
    with open_database(read_settings(data_dir=data_dir)) as database:
        lines = AuditLog(database).lines(wanted, limit=limit)
    if as_json:
        typer.echo(json.dumps(lines, indent=2, default=str))
    else:
        show_audit(lines)
