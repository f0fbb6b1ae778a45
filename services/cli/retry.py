"""`flowxpert tickets retry` and `flowxpert dead-letters`: put stuck work back to the queue."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.options import DEFAULT_URL, AsJson, Url
from services.cli.platform_access import client_of, print_json

if TYPE_CHECKING:
    from services.kit.http.client import ServiceClient

app = typer.Typer(no_args_is_help=True)

_PAGE = 500


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


@app.command("list")
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


@app.command("retry")
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
