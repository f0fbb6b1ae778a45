"""The work on the workflow of a ticket: how far it is, and what is done."""

from services.contracts.adoption import (
    Acceptance,
    Judgement,
    LeftBehind,
    MarkPatch,
    StepJudgement,
    StepMark,
    Work,
)
from services.contracts.ingestion import Ingestion
from services.contracts.retrieval import Retrieval
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.tickets.adoption.acceptance import AcceptanceCount
from services.tickets.adoption.feedback_recorder import put_judgement, put_mark, record_verdict
from services.tickets.adoption.linked_pages import LinkedPageFeedback
from services.tickets.adoption.step_feedback import (
    lineage_of,
    list_left_behind,
    list_left_without_workflow,
    placement_of,
    stored_workflow,
    with_nested,
)
from services.tickets.adoption.usage import done_of
from services.tickets.adoption.versions import Versions
from services.tickets.tables import AdoptionRow, TicketRow, to_datetime
from services.tickets.ticket.queries import no_ticket
from services.workflow.path import progress_of


class AdoptionService:
    """Facade over the work on workflows, called by the HTTP routes and the web pages."""

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        retrieval: Retrieval,
        ingestion: Ingestion | None = None,
    ) -> None:
        """Create the service; without `ingestion`, which has them, no linked page is shown."""
        self._database = database
        self.linked_pages = LinkedPageFeedback(database, ingestion)
        self._outbox = outbox
        self.versions = Versions(database, outbox, retrieval)
        self.acceptance = AcceptanceCount(database)

    def work(self, workflow_id: str) -> Work:
        """Return the progress on a workflow.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        with self._database.session() as session:
            line = lineage_of(session, workflow_id)
            workflow = stored_workflow(session, workflow_id)
            placement = placement_of(session, line, workflow)
            left = list_left_behind(session, line, workflow, placement)
            row = session.get(AdoptionRow, line.candidate_id) or AdoptionRow()
        works = with_nested(workflow, [feedback.work for feedback in placement.by_step.values()])
        steps = tuple(sorted(works, key=lambda work: work.step))
        path = progress_of(workflow, done_of(workflow, steps))
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
            judged_at=to_datetime(row.judged_at),
        )

    def left_behind(self, ticket_id: str) -> tuple[LeftBehind, ...]:
        """List the feedback on a ticket that its workflow does not show as a mark.

        Raises:
            TicketNotFoundError: No such ticket.
        """
        with self._database.session() as session:
            row = session.get(TicketRow, ticket_id)
            if row is None:
                raise no_ticket(ticket_id)
            if row.workflow_id is None:
                return list_left_without_workflow(session, ticket_id)
        return self.work(row.workflow_id).left_behind

    def mark(self, workflow_id: str, step_id: str, mark: StepMark | MarkPatch) -> Work:
        """Record the mark of a step; raises as `put_mark` does."""
        with self._database.session() as session:
            put_mark(session, workflow_id, step_id, mark)
        return self.work(workflow_id)

    def judge(self, workflow_id: str, step_id: str, judgement: StepJudgement) -> Work:
        """Record the judgement of a step; raises as `put_judgement` does."""
        with self._database.session() as session:
            put_judgement(session, self._outbox, workflow_id, step_id, judgement)
        return self.work(workflow_id)

    def accept(self, workflow_id: str, acceptance: Acceptance) -> Work:
        """Accept the workflow as a whole, or undo that; raises `WorkflowNotFoundError`."""
        verdict = Judgement.ACCEPTED if acceptance.accepted else Judgement.NONE
        with self._database.session() as session:
            record_verdict(session, workflow_id, verdict, acceptance.word)
        return self.work(workflow_id)
