"""What a person does about a ticket though no page tells it: a tool, a target, its arguments."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from services.contracts.execution import ChosenCall, Execution, StartByHand
from services.gateway.ports import Tickets
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.gateway.ui.runs.told import Told, arguments_of
from services.gateway.ui.templates import refused, render
from services.kit.access.needs import Need, needs
from services.kit.errors import FlowXpertError


def create_by_hand_pages(tickets: Tickets, execution: Execution) -> APIRouter:
    """The page with its form."""
    router = APIRouter(include_in_schema=False, prefix="/tickets/{ticket_id}/by-hand")

    @router.get("")
    @needs(Need.RUN)
    def by_hand_page(ticket_id: Id, tool: str = "") -> HTMLResponse:
        """The tools there are; `tool` shows what one needs."""
        try:
            ticket, tools = tickets.ticket(ticket_id), execution.tools()
            earlier = execution.runs(ticket_id)
        except FlowXpertError as error:
            return refused(error)
        chosen = next((each for each in tools if each.name == tool), None)
        return render(
            "runs/by_hand.html", ticket=ticket, tools=tools, chosen=chosen, earlier=earlier
        )

    @router.post("")
    @form()
    @needs(Need.RUN)
    def start_by_hand(ticket_id: Id, told: Told) -> Response:
        """Start the run, and show it."""
        call = ChosenCall(
            tool=told.get("tool", "")[:100],
            target=told.get("target", "")[:100],
            arguments=arguments_of(told),
        )
        run = execution.start_by_hand(StartByHand(ticket_id=ticket_id, calls=(call,)))
        return show("runs", run.id)

    return router
