"""`flowxpert tickets`, `dead-letters` and `answer`: list, retry, delete and answer tickets."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.platform_access import (
    DEFAULT_URL,
    AsJson,
    DataDir,
    Url,
    client_of,
    open_database,
    print_json,
    read_settings,
)

if TYPE_CHECKING:
    from services.kit.http.client import ServiceClient

app = typer.Typer(invoke_without_command=True)
dead_letters_app = typer.Typer(no_args_is_help=True)

_PAGE = 500


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
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="These tickets, of whatever age.")
    ] = None,
    *,
    days: Annotated[
        float | None,
        typer.Option(min=0, help="Keep so many days; FLOWXPERT_GATEWAY_KEEP_DAYS."),
    ] = None,
    dry: Annotated[bool, typer.Option("--dry", help="Only count.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Delete tickets that are kept long enough, or those named, with all that hangs on them.

    The audit log keeps a line of each, and what it taught stays as numbers, both without content.
    A running platform deletes runs, searches and learned cases at once; one that is stopped, after
    its next start.
    """
    from services.kit.errors import InvalidInputError  # noqa: PLC0415
    from services.tickets.retention import NoKeepDaysError, Purged, Retention  # noqa: PLC0415
    from services.tickets.settings import GatewaySettings  # noqa: PLC0415

    settings = read_settings(data_dir=data_dir)
    kept = days if days is not None else GatewaySettings().keep_days
    if ids and days is not None:
        raise InvalidInputError("expected either the IDs of tickets or --days")
    if kept is None and not ids:
        raise NoKeepDaysError(
            "tickets are kept for ever: set FLOWXPERT_GATEWAY_KEEP_DAYS, or say --days"
        )
    with open_database(settings) as database:
        retention = Retention(database, kept or 0.0)
        if not ids:
            done = retention.purge(dry=dry)
        else:
            done = Purged(tickets=len(set(ids))) if dry else retention.forget(ids)
        if not dry:
            database.wipe(rewrites=True)
    if as_json:
        print_json(done)
    else:
        typer.echo(f"{done.tickets} tickets {'would go' if dry else 'are deleted'}")


@app.command("retry")
def retry_tickets(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="The tickets.")] = None,
    *,
    all_failed: Annotated[bool, typer.Option("--all-failed", help="All that failed.")] = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Walk failed tickets again. The exit status is 1 when one of those named had not failed."""
    from services.kit.errors import ConflictError, InvalidInputError, NotFoundError  # noqa: PLC0415

    if bool(ids) == all_failed:
        raise InvalidInputError("expected either the IDs of tickets or --all-failed")
    retried, refused = list[str](), dict[str, str]()
    with client_of(url) as client:
        for ticket_id in _failed_ids(client) if all_failed else ids or ():
            try:
                client.post(f"/v1/tickets/{ticket_id}/retry", {})
                retried.append(ticket_id)
            except (ConflictError, NotFoundError) as error:
                refused[ticket_id] = str(error)
    if as_json:
        typer.echo(json.dumps({"retried": retried, "refused": refused}, indent=2))
    else:
        typer.echo(f"{len(retried)} tickets are walked again")
        for ticket_id, reason in refused.items():
            typer.echo(f"{ticket_id}: {reason}", err=True)
    if refused and not all_failed:
        raise typer.Exit(1)


def _failed_ids(client: "ServiceClient") -> Iterator[str]:
    """Yield the ids of all failed tickets, the newest first."""
    from services.contracts.gateway import TicketPage  # noqa: PLC0415

    cursor: dict[str, str] | None = {}
    while cursor is not None:
        payload = client.get("/v1/tickets", status="failed", limit=_PAGE, **cursor)
        page = TicketPage.model_validate(payload)
        yield from (ticket.id for ticket in page.tickets)
        cursor = {"cursor": page.next_cursor} if page.next_cursor else None


@dead_letters_app.command("list")
def list_letters(
    *,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most of them.")] = 100,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """List tasks that the queue has given up, with the reason, the oldest first."""
    from services.cli.terminal import show_dead_letters  # noqa: PLC0415
    from services.contracts.dead_letters import DeadLetters  # noqa: PLC0415

    with client_of(url) as client:
        letters = DeadLetters.model_validate(client.get("/v1/dead-letters", limit=limit))
    if as_json:
        print_json(letters)
    else:
        show_dead_letters(letters)


@dead_letters_app.command("retry")
def retry_letters(
    keys: Annotated[list[str] | None, typer.Argument(metavar="KEY...")] = None,
    *,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Retry dead letters. The exit status is 1 when one of those named is no dead letter."""
    from services.contracts.dead_letters import RetriedLetters  # noqa: PLC0415

    with client_of(url) as client:
        answer = client.post("/v1/dead-letters/retry", {"keys": keys or [], "all": all_})
    done = RetriedLetters.model_validate(answer)
    if as_json:
        print_json(done)
    else:
        typer.echo(f"{len(done.retried)} tasks are back at work")
    if set(keys or ()) - set(done.retried):
        raise typer.Exit(1)


def answer(
    ticket_id: Annotated[str, typer.Argument(metavar="TICKET")],
    text: Annotated[
        str, typer.Argument(metavar="TEXT|N", help="Own words, or the number of a choice.")
    ] = "",
    *,
    unknown: Annotated[bool, typer.Option("--unknown", help="You do not know.")] = False,
    go_on: Annotated[bool, typer.Option("--go-on", help="No more questions.")] = False,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Answer the open question of a TICKET; it is walked again with what was learned.

    Where none is open, the number of a page takes that one instead of the page chosen before.
    Without an answer the questions are shown.
    """
    from services.cli.terminal import show_questions  # noqa: PLC0415
    from services.contracts.gateway import TicketDetail  # noqa: PLC0415
    from services.kit.errors import InvalidInputError  # noqa: PLC0415

    if bool(text.strip()) + unknown + go_on > 1:
        raise InvalidInputError("expected one of TEXT, --unknown and --go-on")
    address = f"/v1/tickets/{ticket_id}"
    with client_of(url) as client:
        detail = TicketDetail.model_validate(client.get(address))
        question = detail.open_question or detail.page_question
        if go_on:
            client.post(f"{address}/clarifications/dismissals", {})
        elif unknown or text.strip():
            if question is None:
                raise InvalidInputError("no question about this ticket is open")
            reply: dict[str, object] = {"text": text}
            if unknown:
                reply = {"unknown": True}
            elif text.strip().isdecimal():  # one of the choices
                reply = {"choice": int(text)}
            client.post(f"{address}/clarifications/{question.id}/answers", reply)
        detail = TicketDetail.model_validate(client.get(address))
    if as_json:
        print_json(detail)
    else:
        show_questions(detail)
