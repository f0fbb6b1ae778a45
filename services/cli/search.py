"""`flowxpert search`: the cause of a ticket that no workflow fits."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.opening import client_of, print_json
from services.cli.options import DEFAULT_URL, AsJson, Url
from services.contracts.searching import SearchPhase

if TYPE_CHECKING:
    from services.contracts.searching import SearchDetail, SearchingClient

_LOOKED_EVERY_S = 1.0


def search(
    ticket_id: Annotated[str, typer.Argument(help="The ticket whose cause is searched for.")],
    *,
    wait: Annotated[bool, typer.Option(help="Follow it until it is over.")] = True,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Search for the cause of a ticket: experts look with tools that change nothing.

    It goes on in the platform, whether it is followed here or not.
    """
    from services.contracts.searching import SearchingClient, StartSearch  # noqa: PLC0415

    with client_of(url) as client:
        searching = SearchingClient(client)
        found = searching.start(StartSearch(ticket_id=ticket_id))
        if wait:
            found = _follow(searching, found, says=not as_json)
    if as_json:
        print_json(found)
    else:
        typer.echo(f"\n{found.report}" if found.report else f"/searches/{found.id}")


def _follow(searching: "SearchingClient", found: "SearchDetail", *, says: bool) -> "SearchDetail":
    """Look until it is over; each node is told once it is settled."""
    told: set[int] = set()
    while True:
        for node in found.nodes:
            if says and node.id not in told and node.state.value != "open":
                told.add(node.id)
                indent = "  " * (node.depth - 1)
                looked = f": {node.shown}" if node.shown else ""
                typer.echo(f"{indent}{node.id} {node.expert}, {node.subtask}{looked}")
                for finding in node.findings:
                    typer.echo(f"{indent}    {'struck: ' if finding.struck else ''}{finding.text}")
                typer.echo(f"{indent}    {node.state.value}")
        if found.phase is SearchPhase.ENDED:
            return found
        time.sleep(_LOOKED_EVERY_S)
        found = searching.search(found.id)
