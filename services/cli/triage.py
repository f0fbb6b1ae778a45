"""`flowxpert teams …` and `flowxpert triage …`: declared teams, and the team of a ticket."""

from pathlib import Path
from typing import Annotated, Any

import typer

from services.cli.platform_access import DEFAULT_URL, AsJson, Url, client_of, print_json
from services.kit.batches import batches
from services.kit.errors import InvalidInputError
from services.kit.files import read_json_lines, require_file

teams_app = typer.Typer(no_args_is_help=True, help="Teams that tickets are handed over to.")
triage_app = typer.Typer(no_args_is_help=True, help="Which team a ticket is for.")

_BATCH = 500


class PastTicketsError(InvalidInputError):
    """A line of a file of past tickets is invalid."""


Lines = Annotated[Path, typer.Argument(help="JSON Lines.", callback=require_file)]
TicketId = Annotated[str, typer.Argument()]


@teams_app.command("list")
def list_teams(*, url: Url = DEFAULT_URL) -> None:
    """List the declared teams and what they look after."""
    from services.cli.terminal import show_line  # noqa: PLC0415

    with client_of(url) as client:
        for team in client.get("/v1/teams"):
            show_line(f"{team['name']}: {team['description']}".rstrip(": "))


@teams_app.command("put")
def put_teams(
    file: Annotated[
        Path, typer.Argument(help="YAML list with `name` and `description`.", callback=require_file)
    ],
    *,
    url: Url = DEFAULT_URL,
) -> None:
    """Declare the teams of a file, or describe them anew."""
    from services.tickets.triage.teams import read_teams  # noqa: PLC0415

    teams = read_teams(file)
    with client_of(url) as client:
        for team in teams:
            client.post("/v1/teams", team)
    typer.echo(f"{len(teams)} teams")


@triage_app.command()
def learn(
    file: Lines,
    *,
    label: Annotated[str, typer.Option(help="The field that names the team.")] = "team",
    url: Url = DEFAULT_URL,
) -> None:
    """Learn from past tickets, oldest first: rows of `text` (or title and description) and team."""
    from services.contracts.triage import PastTickets  # noqa: PLC0415

    lines = read_json_lines(file, dict[str, Any])
    rows = (_past(row, label, place) for place, row in lines)
    learned = 0
    with client_of(url) as client:
        for batch in batches(rows, _BATCH):
            past = PastTickets.model_validate({"tickets": batch})
            learned += client.post("/v1/triage/cases", past)["tickets"]
    typer.echo(f"{learned} past tickets taken in")


@triage_app.command()
def reject(
    ticket_id: TicketId,
    *,
    reason: Annotated[str, typer.Option(help="Why the workflow is not the answer.")] = "",
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Reject the workflow and hand the ticket over to the likeliest team."""
    from services.contracts.triage import Rejection  # noqa: PLC0415

    with client_of(url) as client:
        answer = client.post(f"/v1/tickets/{ticket_id}/triage", Rejection(reason=reason))
    _show(answer, as_json=as_json)


@triage_app.command()
def assign(
    ticket_id: TicketId, team: str, *, url: Url = DEFAULT_URL, as_json: AsJson = False
) -> None:
    """Assign the ticket to a team; triage learns from it."""
    from services.contracts.triage import Assignment  # noqa: PLC0415

    with client_of(url) as client:
        answer = client.put(f"/v1/tickets/{ticket_id}/team", Assignment(team=team))
    _show(answer, as_json=as_json)


def _show(answer: object, *, as_json: bool) -> None:
    from services.cli.terminal import show_triage  # noqa: PLC0415
    from services.contracts.triage import TriageDecision  # noqa: PLC0415

    decision = TriageDecision.model_validate(answer)
    if as_json:
        print_json(decision)
    else:
        show_triage(decision)


def _past(row: dict[str, Any], label: str, place: str) -> dict[str, Any]:
    if not isinstance(row.get(label), str):
        raise PastTicketsError(f"{place}: expected an object with the team as text in {label!r}")
    return {
        "id": str(row.get("id") or place),
        "title": row.get("title") or "",
        "description": row.get("description") or row.get("text") or "",
        "team": row.get(label),
    }
