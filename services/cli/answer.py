"""`flowxpert answer`: answer the open question to a ticket's engineer."""

from typing import Annotated

import typer

from services.cli.options import DEFAULT_URL, AsJson, Url
from services.cli.platform_access import client_of, print_json


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
            client.post(
                f"{address}/clarifications/{question.id}/answers", _answer_body(text, unknown)
            )
        detail = TicketDetail.model_validate(client.get(address))
    if as_json:
        print_json(detail)
    else:
        show_questions(detail)


def _answer_body(text: str, unknown: bool) -> dict[str, object]:
    """Build the body of the request: a number is one of the choices."""
    if unknown:
        return {"unknown": True}
    return {"choice": int(text)} if text.strip().isdecimal() else {"text": text}
