"""What other pages and past tickets of a kind check, and the workflow of a ticket does not."""

from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.contracts.adoption import StepState
from services.contracts.completeness import (
    CheckSource,
    Completeness,
    SuggestedCheck,
    Suggestions,
)
from services.contracts.retrieval import PageReading, PeersQuery, Retrieval
from services.gateway.tables import MarkRow, TicketRow, WorkflowRow
from services.gateway.ticket.queries import no_ticket
from services.kit.errors import NotFoundError
from services.kit.sql.database import Database
from services.knowledge.ports import Embedder
from services.procedure.checks.check import Check, checks_of
from services.procedure.checks.completeness import (
    MOST_PEERS,
    NEAR_PEERS,
    MissingCheck,
    Peer,
    missing_checks,
    why_none,
)
from services.procedure.lowering import lower
from services.workflow.model import Workflow

_MOST_TICKETS = 20
"""Past tickets of the same alert that are looked at, the latest."""


class NothingShownError(NotFoundError):
    """The ticket shows no workflow that others could be held against."""


class CompletingService:
    """Implements `contracts.completeness.Completing`."""

    def __init__(self, database: Database, retrieval: Retrieval, embedder: Embedder) -> None:
        self._database = database
        self._retrieval = retrieval
        self._embedder = embedder

    def of_ticket(self, ticket_id: str) -> Completeness:
        """See `Completing.of_ticket`."""
        with self._database.session() as session:
            ticket = session.get(TicketRow, ticket_id)
            if ticket is None:
                raise no_ticket(ticket_id)
            row = session.get(WorkflowRow, ticket.workflow_id) if ticket.workflow_id else None
            if row is None:
                raise NothingShownError(f"ticket {ticket_id} shows no workflow")
            workflow = Workflow.model_validate_json(row.body)
            past = list(_past(session, ticket))
        own = [*checks_of(workflow), *(Check(text=step.text) for step in workflow.steps)]
        return Completeness(
            workflow_id=row.id,
            pages=self._told(own, self._pages(workflow)),
            tickets=self._told(own, past),
        )

    def _pages(self, workflow: Workflow) -> list[Peer]:
        documents = workflow.provenance.document_ids if workflow.provenance else ()
        if not documents:
            return []
        query = PeersQuery(document_id=documents[0], most=MOST_PEERS, least_meaning=NEAR_PEERS)
        try:
            found = self._retrieval.peers(query)
        except NotFoundError:  # the page was forgotten since
            return []
        pages = (page for page in found if page.document_id not in documents and not page.origin)
        return [peer for page in pages if (peer := _peer_of(page)).checks]

    def _told(self, own: Sequence[Check], peers: Sequence[Peer]) -> Suggestions:
        found = missing_checks(own, peers, self._embedder.embed)
        return Suggestions(
            checks=tuple(_suggested(each) for each in found),
            others=len(peers),
            why_none=why_none(peers, found),
        )


def _peer_of(page: PageReading) -> Peer:
    drawn = (lower(each, page.document_id) for each in page.served.reading.procedures[:1])
    return Peer(page.document_id, page.title, tuple(c for each in drawn for c in checks_of(each)))


def _past(session: Session, ticket: TicketRow) -> Iterable[Peer]:
    """What people did on past tickets of the same alert, of the steps that only look."""
    if not ticket.family:
        return
    alike = (TicketRow.family == ticket.family, TicketRow.id != ticket.id)
    statement = (
        select(TicketRow.id, TicketRow.title, WorkflowRow.body, MarkRow.step_id)
        .join(WorkflowRow, WorkflowRow.ticket_id == TicketRow.id)
        .join(
            MarkRow,
            MarkRow.candidate_id.in_((WorkflowRow.id, WorkflowRow.candidate_id)),
        )
        .where(*alike, MarkRow.state == StepState.DONE.value)
        .order_by(TicketRow.id.desc(), WorkflowRow.version.desc())
    )
    done: dict[str, tuple[str, dict[str, Workflow], set[str]]] = {}
    for id_, title, body, step in session.execute(statement).tuples():
        if id_ not in done and len(done) == _MOST_TICKETS:
            break
        _, bodies, steps = done.setdefault(id_, (title, {}, set()))
        bodies.setdefault(body, Workflow.model_validate_json(body))
        steps.add(step)
    for id_, (title, bodies, steps) in done.items():
        found = {c.text: c for each in bodies.values() for c in checks_of(_only(each, steps))}
        if found:
            yield Peer(f"ticket:{id_}", title, tuple(found.values()))


def _only(workflow: Workflow, steps: set[str]) -> Workflow:
    kept = tuple(step for step in workflow.steps if step.id in steps)
    return Workflow(title=workflow.title, steps=kept)


def _suggested(found: MissingCheck) -> SuggestedCheck:
    return SuggestedCheck(
        text=found.text,
        have=found.have,
        of=found.of,
        sources=tuple(_source(peer, check) for peer, check in found.sources),
    )


def _source(peer: Peer, check: Check) -> CheckSource:
    ticket, _, id_ = peer.id.partition("ticket:")
    if not ticket and id_:
        return CheckSource(ticket_id=id_, said=check.text)
    cited = check.citations[0] if check.citations else None
    return CheckSource(
        document_id=peer.id,
        start_line=cited.start_line if cited else 0,
        end_line=cited.end_line if cited else 0,
        said=check.text,
    )
