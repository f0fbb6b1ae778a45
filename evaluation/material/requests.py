"""What planner and scorer are asked: for a ticket as the platform asks, and for a row."""

from collections.abc import Callable, Sequence

from evaluation.material.gold_pages import PageOf, own_page
from evaluation.material.logic_rows import LogicRow
from services.contracts.planner import Candidate, PlanRequest
from services.contracts.retrieval import PageReading, Retrieval, RetrievedContext, RetrieveRequest
from services.contracts.scorer import ScoreRequest
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.knowledge.model import Chunk, RetrievedChunk, Span
from services.knowledge.screening.document import ScreenedDocument, hash_of
from services.runbook.ports import ReadingSource

RequestOf = Callable[[LogicRow], PlanRequest]


def plan_request(ticket: TicketDraft, context: RetrievedContext) -> PlanRequest:
    """What the planner is asked, as the platform asks it."""
    return PlanRequest(ticket=ticket, context=context, pages=context.pages)


def score_request(
    ticket: TicketDraft, context: RetrievedContext, candidates: Sequence[Candidate]
) -> ScoreRequest:
    """What the scorer is asked, as the platform asks it."""
    return ScoreRequest(
        ticket=ticket, context=context, pages=context.pages, candidates=tuple(candidates)
    )


def of_page(page_of: PageOf, readings: ReadingSource) -> RequestOf:
    """The row's page alone, with the reading that is kept of it."""

    def request(row: LogicRow) -> PlanRequest:
        document = ScreenedDocument(own_page(row) if row.text else page_of(row)).for_model()
        key = hash_of(document.text)
        page = PageReading(
            document_id=row.page,
            title=document.title,
            served=readings.served_many([key]).get(key),
            score=1.0,
            text=document.text,
        )
        return plan_request(row.draft, _context(page))

    return request


def of_walk(retrieval_for: Callable[[LogicRow], Retrieval]) -> RequestOf:
    """What retrieval finds for the ticket."""

    def request(row: LogicRow) -> PlanRequest:
        retrieve_request = RetrieveRequest.of_ticket(ScreenedTicket(row.draft))
        return plan_request(row.draft, retrieval_for(row).retrieve(retrieve_request))

    return request


def _context(page: PageReading) -> RetrievedContext:
    last = len(page.text.split("\n"))
    span = Span(document_id=page.document_id, start_line=1, end_line=last)
    chunk = Chunk(id=page.document_id, span=span, heading_path=(page.title,), text=page.text)
    chunks = (RetrievedChunk(chunk=chunk, score=1.0),)
    return RetrievedContext(chunks=chunks, confidence=1.0, pages=(page,))
