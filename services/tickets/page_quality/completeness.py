"""Checks that other pages and past tickets of a kind make, and a ticket's workflow does not."""

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
from services.contracts.retrieval import PeersQuery, Retrieval
from services.kit.errors import NotFoundError
from services.kit.sql.database import Database
from services.kit.teaching.ledger import load_teachers, ticket_subject
from services.knowledge.ports import Embedder
from services.runbook.checking.approvals import ApprovalUse
from services.runbook.inspections import (
    MOST_PEERS,
    NEAR_PEERS,
    Check,
    Peer,
    checks_of,
    missing_checks,
    reason_for_none,
)
from services.runbook.lowering import lower
from services.tickets.page_texts import PageTexts
from services.tickets.parameters import TicketValues
from services.tickets.tables import CitationRow, MarkRow, TicketRow, WorkflowRow
from services.tickets.ticket.queries import no_ticket
from services.workflow.model import Workflow
from services.workflow.read_only import sentences_of

_MOST_TICKETS = 20
"""Past tickets that are looked at, the latest."""


class NothingShownError(NotFoundError):
    """The ticket shows no workflow that could be compared with others."""


class CompletenessService:
    """Implementation of `contracts.completeness.Completing`."""

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
            pages = PageTexts(self._retrieval)
            past = list(_past_tickets(session, pages, alike, ticket.id)) if ticket.family else []
        documents = workflow.provenance.document_ids if workflow.provenance else ()
        own = own_checks(workflow)
        return Completeness(
            workflow_id=row.id,
            pages=self._suggest(own, pages_of_a_kind(self._retrieval, documents)),
            tickets=self._suggest(own, past),
        )

    def of_page(self, page: ReadingDetail) -> Completeness:
        """See `Completing.of_page`."""
        answered = select(CitationRow.ticket_id).where(
            CitationRow.document_id.in_(page.documents), CitationRow.workflow_id.is_not(None)
        )
        with self._database.session() as session:
            pages = PageTexts(self._retrieval)
            past = list(_past_tickets(session, pages, TicketRow.id.in_(answered)))
        drawn = (lower(each, page.text_hash) for each in page.reading.procedures)
        own = [check for workflow in drawn for check in own_checks(workflow)]
        return Completeness(
            pages=self._suggest(own, pages_of_a_kind(self._retrieval, page.documents)),
            tickets=self._suggest(own, past),
        )

    def _suggest(self, own: Sequence[Check], peers: Sequence[Peer]) -> Suggestions:
        missing = missing_checks(own, peers, self._embedder.embed)
        return Suggestions(
            checks=tuple(
                SuggestedCheck(
                    text=each.text,
                    have=each.have,
                    of=each.of,
                    sources=tuple(_source(peer, check) for peer, check in each.sources),
                )
                for each in missing
            ),
            others=len(peers),
            why_none=reason_for_none(peers, missing),
        )


def own_checks(workflow: Workflow) -> list[Check]:
    """Return what is not suggested again: its checks, and all else that its steps say.

    A box counts with each of its sentences.
    """
    own = (
        Check(text=text, commands=step.commands)
        for step in workflow.steps
        for text in dict.fromkeys((step.text, *sentences_of(step.block)))
    )
    return [*checks_of(workflow), *own]


def _past_tickets(
    session: Session, pages: PageTexts, alike: ColumnElement[bool], but: str = ""
) -> Iterable[Peer]:
    """Yield past tickets like that, with the checks that people did on them."""
    statement = (
        select(TicketRow, WorkflowRow.body, MarkRow.step_id, MarkRow.marked_by)
        .join(WorkflowRow, WorkflowRow.ticket_id == TicketRow.id)
        .join(
            MarkRow,
            MarkRow.candidate_id.in_((WorkflowRow.id, WorkflowRow.candidate_id)),
        )
        .where(alike, TicketRow.id != but, MarkRow.state == StepState.DONE.value)
        .order_by(TicketRow.id.desc(), WorkflowRow.version.desc())
    )
    tickets: dict[str, TicketRow] = {}
    done: dict[str, dict[str, dict[str, str]]] = {}
    for ticket, body, step_id, by in session.execute(statement).tuples():
        if ticket.id not in done and len(done) == _MOST_TICKETS:
            break
        tickets[ticket.id] = ticket
        done.setdefault(ticket.id, {}).setdefault(body, {})[step_id] = by
    teachers = load_teachers(session, [ticket_subject(id_) for id_ in done])
    for id_, bodies in done.items():
        ticket = tickets[id_]
        checks: dict[str, Check] = {}
        for body, steps in bodies.items():
            workflow = Workflow.model_validate_json(body)
            documents = workflow.provenance.document_ids if workflow.provenance else ()
            values = TicketValues.of(ticket, pages.of(documents))
            for step in workflow.steps:
                teacher = teachers.of(ticket_subject(id_), steps.get(step.id, ""))
                for check in checks_of(Workflow(title=workflow.title, steps=(step,))):
                    if teacher:
                        checks[check.text] = _without_values(check, values, teacher)
        yield Peer(f"ticket:{id_}", ticket.title, tuple(checks.values()))


def _without_values(check: Check, values: TicketValues, teacher: str) -> Check:
    """Return a check for any ticket: the values of its own become parameters."""
    commands = tuple(map(values.parameterise, check.commands))
    text = values.parameterise(check.text)
    return check.model_copy(update={"text": text, "commands": commands, "teacher": teacher})


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


def pages_of_a_kind(retrieval: Retrieval, documents: Sequence[str]) -> list[Peer]:
    """Return pages like the first document that have a procedure, even one without any check.

    Pages that the platform wrote itself are left out: they repeat what it has seen.

    Raises:
        UnavailableError: Retrieval did not answer.
    """
    if not documents:
        return []
    query = PeersQuery(document_id=documents[0], most=MOST_PEERS, least_meaning=NEAR_PEERS)
    try:
        pages = retrieval.peers(query)
    except NotFoundError:  # the page was forgotten since
        return []
    return [
        Peer(
            page.document_id,
            page.title,
            tuple(
                check
                for each in page.approved_for(ApprovalUse.COMPLETENESS)
                for check in checks_of(lower(each, page.document_id))
            ),
        )
        for page in pages
        if page.document_id not in documents and not page.origin and page.procedures
    ]
