"""What other pages and past tickets of a kind check, and the workflow of a ticket does not."""

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from services.contracts.adoption import StepState
from services.contracts.completeness import (
    CheckSource,
    Completeness,
    SuggestedCheck,
    Suggestions,
)
from services.contracts.readings import ReadingDetail
from services.contracts.retrieval import Retrieval
from services.gateway.completeness.peers import pages_of_a_kind
from services.gateway.tables import CitationRow, MarkRow, TicketRow, WorkflowRow
from services.gateway.ticket.queries import no_ticket
from services.kit.errors import NotFoundError
from services.kit.sql.database import Database
from services.knowledge.ports import Embedder
from services.procedure.checks.check import Check, checks_of
from services.procedure.checks.completeness import (
    MissingCheck,
    Peer,
    missing_checks,
    why_none,
)
from services.procedure.lowering import lower
from services.workflow.looking import sentences_of
from services.workflow.model import Workflow

_MOST_TICKETS = 20
"""Past tickets that are looked at, the latest."""


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
            alike = TicketRow.family == ticket.family
            past = list(_past(session, alike, ticket.id)) if ticket.family else []
        documents = workflow.provenance.document_ids if workflow.provenance else ()
        own = all_of(workflow)
        return Completeness(
            workflow_id=row.id,
            pages=self._told(own, pages_of_a_kind(self._retrieval, documents)),
            tickets=self._told(own, past),
        )

    def of_page(self, page: ReadingDetail) -> Completeness:
        """See `Completing.of_page`."""
        answered = select(CitationRow.ticket_id).where(
            CitationRow.document_id.in_(page.documents), CitationRow.workflow_id.is_not(None)
        )
        with self._database.session() as session:
            past = list(_past(session, TicketRow.id.in_(answered)))
        drawn = (lower(each, page.text_hash) for each in page.reading.procedures)
        own = [check for workflow in drawn for check in all_of(workflow)]
        return Completeness(
            pages=self._told(own, pages_of_a_kind(self._retrieval, page.documents)),
            tickets=self._told(own, past),
        )

    def _told(self, own: Sequence[Check], peers: Sequence[Peer]) -> Suggestions:
        found = missing_checks(own, peers, self._embedder.embed)
        return Suggestions(
            checks=tuple(_suggested(each) for each in found),
            others=len(peers),
            why_none=why_none(peers, found),
        )


def all_of(workflow: Workflow) -> list[Check]:
    """What is not told again: its checks, and whatever its other steps say, a box in full."""
    own = (
        Check(text=text, commands=step.commands)
        for step in workflow.steps
        for text in dict.fromkeys((step.text, *sentences_of(step.block)))
    )
    return [*checks_of(workflow), *own]


def _past(session: Session, alike: ColumnElement[bool], but: str = "") -> Iterable[Peer]:
    """What people did on past tickets like that, of the steps that only look."""
    statement = (
        select(TicketRow.id, TicketRow.title, WorkflowRow.body, MarkRow.step_id)
        .join(WorkflowRow, WorkflowRow.ticket_id == TicketRow.id)
        .join(
            MarkRow,
            MarkRow.candidate_id.in_((WorkflowRow.id, WorkflowRow.candidate_id)),
        )
        .where(alike, TicketRow.id != but, MarkRow.state == StepState.DONE.value)
        .order_by(TicketRow.id.desc(), WorkflowRow.version.desc())
    )
    titles: dict[str, str] = {}
    done: dict[str, dict[str, set[str]]] = {}
    for id_, title, body, step in session.execute(statement).tuples():
        if id_ not in done and len(done) == _MOST_TICKETS:
            break
        titles[id_] = title
        done.setdefault(id_, {}).setdefault(body, set()).add(step)
    for id_, bodies in done.items():
        found = {
            check.text: check for body, steps in bodies.items() for check in _done(body, steps)
        }
        yield Peer(f"ticket:{id_}", titles[id_], tuple(found.values()))


def _done(body: str, steps: set[str]) -> list[Check]:
    workflow = Workflow.model_validate_json(body)
    kept = tuple(step for step in workflow.steps if step.id in steps)
    return checks_of(Workflow(title=workflow.title, steps=kept))


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
        return CheckSource(ticket_id=id_, said=check.text, commands=check.commands)
    cited = check.citations[0] if check.citations else None
    return CheckSource(
        document_id=peer.id,
        start_line=cited.start_line if cited else 0,
        end_line=cited.end_line if cited else 0,
        said=check.text,
        commands=check.commands,
    )
