"""Whether a model is asked for a ticket at all: a page that somebody checked needs no rival."""

from services.contracts.planner import PlanRequest
from services.planner.generation.question import ticket_text
from services.planner.settings import AskModel
from services.procedure.choose import ranked_procedures
from services.procedure.ports import ReadingState


def is_asked(when: AskModel, request: PlanRequest) -> bool:
    """Whether this ticket is one of them."""
    match when:
        case AskModel.NEVER:
            return False
        case AskModel.UNREAD:
            return not _is_read(request)
        case AskModel.UNCHECKED:
            return not _is_approved(request)
        case AskModel.ALWAYS:
            return True


def _is_read(request: PlanRequest) -> bool:
    return any(page.is_read for page in request.pages[:1])


def _is_approved(request: PlanRequest) -> bool:
    """The procedure of the best page that treats the fault, not another one beside it."""
    ticket = ticket_text(request.ticket)
    return any(
        page.served.state(place) is ReadingState.APPROVED
        for page in request.pages[:1]
        if page.served
        for place, _ in ranked_procedures(page.procedures, ticket)[:1]
    )
