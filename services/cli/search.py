"""`flowxpert search`: search for the cause of a ticket that no workflow fits."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.options import DEFAULT_URL, AsJson, Url
from services.cli.platform_access import client_of, print_json
from services.contracts.searching import SearchPhase

if TYPE_CHECKING:
    from services.contracts.searching import SearchDetail, SearchesClient

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
    from services.contracts.searching import SearchesClient, StartSearch  # noqa: PLC0415

    with client_of(url) as client:
        searching = SearchesClient(client)
        detail = searching.start(StartSearch(ticket_id=ticket_id))
        if wait:
            detail = _follow(searching, detail, says=not as_json)
    if as_json:
        print_json(detail)
    else:
        typer.echo(f"\n{detail.report}" if detail.report else f"/searches/{detail.id}")


def _follow(searching: "SearchesClient", detail: "SearchDetail", *, says: bool) -> "SearchDetail":
    """Poll the search until it ends, printing each node once it is settled."""
    printed: set[int] = set()
    while True:
        for node in detail.nodes:
            if says and node.id not in printed and node.state.value != "open":
                printed.add(node.id)
                indent = "  " * (node.depth - 1)
                looked = f": {node.shown}" if node.shown else ""
                typer.echo(f"{indent}{node.id} {node.expert}, {node.subtask}{looked}")
                for finding in node.findings:
                    typer.echo(f"{indent}    {'struck: ' if finding.struck else ''}{finding.text}")
                typer.echo(f"{indent}    {node.state.value}")
        if detail.phase is SearchPhase.ENDED:
            return detail
        time.sleep(_LOOKED_EVERY_S)
        detail = searching.search(detail.id)
