"""`flowxpert tickets`: list the latest ones of a running FlowXpert, and delete old ones."""

from typing import Annotated

import typer

from services.cli.options import DEFAULT_URL, AsJson, DataDir, Url
from services.cli.platform_access import client_of, open_database, print_json, read_settings

app = typer.Typer(invoke_without_command=True)


@app.callback()
def tickets(
    context: typer.Context, *, url: Url = DEFAULT_URL, limit: int = 20, as_json: AsJson = False
) -> None:
    """List the latest tickets of a running FlowXpert, retry them, or delete old ones."""
    if context.invoked_subcommand is not None:
        return
    from services.cli.terminal import show_tickets  # noqa: PLC0415
    from services.contracts.gateway import TicketPage  # noqa: PLC0415

    with client_of(url) as client:
        page = TicketPage.model_validate(client.get("/v1/tickets", limit=limit))
    if as_json:
        print_json(page)
    else:
        show_tickets(page.tickets)


@app.command()
def purge(
    *,
    days: Annotated[
        float | None,
        typer.Option(min=0, help="Keep so many days; FLOWXPERT_GATEWAY_KEEP_DAYS."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry", help="Only count.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Delete tickets that are kept long enough, with all that hangs on them.

    The audit log keeps a line of each, without content.
    """
    from services.tickets.settings import GatewaySettings  # noqa: PLC0415
    from services.tickets.ticket.retention import NoKeepDaysError, Retention  # noqa: PLC0415

    settings = read_settings(data_dir=data_dir)
    kept = days if days is not None else GatewaySettings().keep_days
    if kept is None:
        raise NoKeepDaysError(
            "tickets are kept for ever: set FLOWXPERT_GATEWAY_KEEP_DAYS, or say --days"
        )
    with open_database(settings) as database:
        done = Retention(database, kept).purge(dry=dry)
    if as_json:
        print_json(done)
    else:
        typer.echo(f"{done.tickets} tickets {'would go' if dry else 'are deleted'}")
