"""What was done about a ticket, written down as a page that can be proposed."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from services.contracts.execution import Execution
from services.contracts.summaries import Summaries, SummaryRequest
from services.gateway.ticket.addresses import Id
from services.gateway.ui.forms import form, show
from services.gateway.ui.templates import refused, render
from services.kit.access.caller import current_caller
from services.kit.access.needs import Need, needs
from services.kit.access.scopes import Scope
from services.kit.errors import FlowXpertError

LONGEST_TITLE = 300


def create_summary_pages(execution: Execution, summaries: Summaries) -> APIRouter:
    """The page of a summary, and the forms that lead there and on."""
    router = APIRouter(include_in_schema=False)

    @router.post("/runs/{run_id}/summary")
    @form()
    @needs(Need.RUN)
    def summarise_run(run_id: Id) -> Response:
        """Write down what was done about the run's ticket, searches and other runs included."""
        run = execution.run(run_id)
        title = run.ticket_title[:LONGEST_TITLE]
        asked = SummaryRequest(run_ids=(run_id,), ticket_ids=(run.ticket_id,), title=title)
        return show("summaries", summaries.summarise(asked).key)

    @router.get("/summaries/{key}")
    @needs(Need.READ)
    def summary_page(key: Id) -> HTMLResponse:
        """What was learned, and how it does on the traces that it was learned from."""
        try:
            summary = summaries.summary(key)
        except FlowXpertError as error:
            return refused(error)
        return render("runs/summary.html", summary=summary, may_run=current_caller().may(Scope.RUN))

    @router.post("/summaries/{key}/proposal")
    @form()
    @needs(Need.RUN)
    def propose_summary(key: Id) -> Response:
        """Have its pages proposed: somebody else accepts them."""
        summaries.propose(key)
        return show("summaries", key)

    return router
