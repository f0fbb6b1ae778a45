"""The work on the workflow of a ticket: how far it is, and what is done."""

from services.contracts.adoption import (
    Acceptance,
    AcceptanceReport,
    EditRequest,
    Judgement,
    LeftBehind,
    PageBeside,
    PartOfMark,
    StepJudgement,
    StepMark,
    TakenQuery,
    TakenTicket,
    VersionChanges,
    Work,
)
from services.contracts.ingestion import Ingestion
from services.contracts.retrieval import Retrieval
from services.gateway.adoption.acceptance import AcceptanceCount
from services.gateway.adoption.beside.pages import PagesBeside
from services.gateway.adoption.lineage import lineage_of, stored_workflow
from services.gateway.adoption.marking import Marking
from services.gateway.adoption.not_applicable import with_nested
from services.gateway.adoption.records import done_of
from services.gateway.adoption.standing import left_behind, left_without, placing_of
from services.gateway.adoption.versions import Versions
from services.gateway.tables import AdoptionRow, TicketRow, moment
from services.gateway.ticket.queries import no_ticket
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.workflow.path import path_of


class AdoptionService:
    """Everything behind the addresses of adoption."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        retrieval: Retrieval,
        ingestion: Ingestion | None = None,
    ) -> None:
        """`ingestion` has the pages that others lead to; without it none is shown beside."""
        self._database = database
        self._beside = PagesBeside(database, ingestion)
        self._marking = Marking(database, outbox)
        self._versions = Versions(database, outbox, retrieval)
        self._acceptance = AcceptanceCount(database)

    def work(self, workflow_id: str) -> Work:
        """How far the work on a workflow is.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        with self._database.session() as session:
            line = lineage_of(session, workflow_id)
            workflow = stored_workflow(session, workflow_id)
            placing = placing_of(session, line, workflow)
            left = left_behind(session, line, workflow, placing)
            row = session.get(AdoptionRow, line.candidate_id) or AdoptionRow()
        works = with_nested(workflow, [said.work for said in placing.under.values()])
        steps = tuple(sorted(works, key=lambda work: work.step))
        path = path_of(workflow, done_of(workflow, steps))
        verdict = Judgement(row.verdict or "")
        return Work(
            workflow_id=workflow_id,
            ticket_id=line.ticket_id,
            candidate_id=line.candidate_id,
            latest_id=line.latest_id,
            steps=steps,
            left_behind=left,
            next=None if verdict is Judgement.REJECTED else path.next,
            again=path.again,
            left_aside=tuple(sorted(path.left_aside)),
            done=path.done,
            settled=path.settled,
            skipped=path.skipped,
            total=path.total,
            core=row.core or 0,
            used=row.used or 0,
            verdict=verdict,
            word=row.word or "",
            judged_by=row.judged_by or "",
            judged_at=moment(row.judged_at),
        )

    def left_behind(self, ticket_id: str) -> tuple[LeftBehind, ...]:
        """What people did and said on a ticket that its workflow does not show as a mark.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        with self._database.session() as session:
            row = session.get(TicketRow, ticket_id)
            if row is None:
                raise no_ticket(ticket_id)
            if row.workflow_id is None:
                return left_without(session, ticket_id)
        return self.work(row.workflow_id).left_behind

    def mark(self, workflow_id: str, step_id: str, mark: StepMark | PartOfMark) -> Work:
        """Take down what was done with a step; raises as `Marking.mark` does."""
        self._marking.mark(workflow_id, step_id, mark)
        return self.work(workflow_id)

    def beside(self, ticket_id: str, document_id: str, *, heading: str = "") -> PageBeside:
        """Return a page that the ticket's page leads to; raises as `PagesBeside.page` does."""
        return self._beside.page(ticket_id, document_id, heading=heading)

    def marked_beside(self, ticket_id: str) -> tuple[PageBeside, ...]:
        """Return those of which a box was marked; raises as `PagesBeside.marked` does."""
        return self._beside.marked(ticket_id)

    def mark_beside(
        self, ticket_id: str, document_id: str, box: str, mark: StepMark | PartOfMark
    ) -> PageBeside:
        """Take down what was done with a box of one; raises as `PagesBeside.mark` does."""
        return self._beside.mark(ticket_id, document_id, box, mark)

    def judge(self, workflow_id: str, step_id: str, judgement: StepJudgement) -> Work:
        """Take down what is thought of a step; raises as `Marking.mark` does."""
        self._marking.judge(workflow_id, step_id, judgement)
        return self.work(workflow_id)

    def accept(self, workflow_id: str, acceptance: Acceptance) -> Work:
        """Say that the workflow was the answer, or take it back; raises `WorkflowNotFoundError`."""
        self._marking.accept(workflow_id, acceptance)
        return self.work(workflow_id)

    def edit(self, workflow_id: str, request: EditRequest) -> str:
        """Make a version with these edits; raises as `Versions.edit` does."""
        return self._versions.edit(workflow_id, request)

    def changes(self, workflow_id: str) -> VersionChanges:
        """What a version changes; raises `WorkflowNotFoundError`."""
        return self._versions.changes(workflow_id)

    def report(self, weeks: int) -> AcceptanceReport:
        """The acceptance rate of so many weeks, the present one included."""
        return self._acceptance.report(weeks)

    def taken(self, query: TakenQuery) -> tuple[TakenTicket, ...]:
        """The tickets that a number of the report counts."""
        return self._acceptance.tickets(query)
