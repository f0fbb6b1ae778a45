"""The work on the workflow of a ticket: how far it is, and what is done."""

from services.contracts.adoption import (
    Acceptance,
    AcceptanceReport,
    EditRequest,
    Judgement,
    PartOfMark,
    StepJudgement,
    StepMark,
    VersionChanges,
    Work,
)
from services.contracts.retrieval import Retrieval
from services.gateway.adoption.acceptance import AcceptanceCount
from services.gateway.adoption.lineage import lineage_of, stored_workflow
from services.gateway.adoption.marking import Marking
from services.gateway.adoption.records import done_of, steps_of
from services.gateway.adoption.versions import Versions
from services.gateway.tables import AdoptionRow, moment
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.workflow.path import path_of


class AdoptionService:
    """Everything behind the addresses of adoption."""

    def __init__(self, database: Database, outbox: Outbox, retrieval: Retrieval) -> None:
        self._database = database
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
            steps = steps_of(session, line.candidate_id)
            row = session.get(AdoptionRow, line.candidate_id) or AdoptionRow()
        path = path_of(workflow, done_of(steps))
        verdict = Judgement(row.verdict or "")
        return Work(
            workflow_id=workflow_id,
            ticket_id=line.ticket_id,
            candidate_id=line.candidate_id,
            latest_id=line.latest_id,
            steps=steps,
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

    def mark(self, workflow_id: str, step_id: str, mark: StepMark | PartOfMark) -> Work:
        """Take down what was done with a step; raises as `Marking.mark` does."""
        self._marking.mark(workflow_id, step_id, mark)
        return self.work(workflow_id)

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
