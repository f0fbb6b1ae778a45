"""`flowxpert audit`: show who changed what, where the database is."""

import json
from typing import Annotated

import typer

from services.cli.options import AsJson, DataDir
from services.cli.platform_access import open_database, read_settings


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
