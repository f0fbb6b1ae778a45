"""Versions that people make of a workflow; what is stored is never changed."""

import time

from sqlalchemy.orm import Session

from services.contracts.adoption import EditRequest, VersionChanges
from services.contracts.retrieval import Retrieval
from services.grounding.evidence import Evidence
from services.grounding.grounder import is_verbatim
from services.kit.access.caller import current_caller
from services.kit.errors import ConflictError, NotFoundError, UnavailableError
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.knowledge.model import Chunk, KnowledgeContext, RetrievedChunk, Span
from services.tickets.adoption.doubts import queue_doubt
from services.tickets.adoption.step_feedback import Lineage, lineage_of, next_rank, stored_workflow
from services.tickets.adoption.usage import recount
from services.tickets.tables import StoredVerdict, WorkflowRow
from services.tickets.ticket.citations import store_citations
from services.tickets.ticket.events import Note, add_events
from services.tickets.ticket.lifecycle import show_version
from services.workflow.editing.apply_edits import apply_edits
from services.workflow.editing.changes import ChangeKind, step_changes
from services.workflow.model import Provenance, Step, Workflow

BY_PERSON = "person"
"""Name of the planner of a version."""


class WorkflowChangedError(ConflictError):
    """The workflow was edited meanwhile: the version that was seen is not the latest."""


class Versions:
    """Editor of workflows: makes versions and compares them."""

    def __init__(self, database: Database, outbox: Outbox, retrieval: Retrieval) -> None:
        self._database = database
        self._outbox = outbox
        self._retrieval = retrieval

    def edit(self, workflow_id: str, request: EditRequest) -> str:
        """Store a version with these edits, which the ticket shows from now on; return its id.

        Edits that change nothing make none, and their base is shown.

        Raises:
            WorkflowNotFoundError: No such workflow.
            WorkflowChangedError: It is not the latest version.
            UnusableEditError: The workflow could not be followed any more.
        """
        with self._database.session() as session:
            _check_latest(lineage_of(session, workflow_id))
            base = stored_workflow(session, workflow_id)
        new = apply_edits(
            base,
            request.edits,
            new_id=lambda: f"own-{time_ordered_id()}",
            is_supported=self._is_verbatim,
        )
        if new == base:
            return workflow_id
        with self._database.session() as session:
            line = lineage_of(session, workflow_id, to_change=True)
            _check_latest(line)
            origin = new.provenance or Provenance(planner=BY_PERSON)
            written = origin.model_copy(update={"planner": BY_PERSON, "version": "", "model": ""})
            signed = new.model_copy(update={"provenance": written})
            return self._store(session, line, base, signed)

    def changes(self, workflow_id: str) -> VersionChanges:
        """Return the changes of a version since its base and since its candidate.

        Raises:
            WorkflowNotFoundError: No such workflow.
        """
        with self._database.session() as session:
            line = lineage_of(session, workflow_id)
            now = stored_workflow(session, workflow_id)
            base_id = session.get_one(WorkflowRow, workflow_id).base_id
            base = stored_workflow(session, base_id) if base_id else now
            candidate = stored_workflow(session, line.candidate_id)
        return VersionChanges(
            workflow_id=workflow_id,
            base_id=base_id,
            since_base=step_changes(base, now),
            since_candidate=step_changes(candidate, now),
        )

    def _store(self, session: Session, line: Lineage, base: Workflow, new: Workflow) -> str:
        row = session.get_one(WorkflowRow, line.workflow_id)
        new_id, now = time_ordered_id(), time.time()
        author = current_caller().name[:200]
        session.add(
            WorkflowRow(
                id=new_id,
                ticket_id=row.ticket_id,
                walk=row.walk,
                rank=next_rank(session, row),
                title=new.title,
                planner=BY_PERSON,
                steps=len(new.steps),
                body=new.model_dump_json(),
                **StoredVerdict.of(row).recount(new).values(),
                seconds={},
                created_at=now,
                candidate_id=line.candidate_id,
                base_id=row.id,
                version=row.version + 1,
                author=author,
            )
        )
        session.flush()
        store_citations(session, row.ticket_id, new_id, new)
        show_version(session, row, new_id, line.candidate_id, edited_by=author)
        later = lineage_of(session, new_id)
        recount(session, later)
        corrected = [c.step for c in step_changes(base, new) if c.kind is not ChangeKind.ADDED]
        for step_id in corrected:
            queue_doubt(session, self._outbox, later, step_id)
        facts: dict[str, object] = {
            "workflow_id": new_id,
            "version": row.version + 1,
            "by": current_caller().name,
        }
        add_events(session, row.ticket_id, [Note("edited", facts)])
        return new_id

    def _is_verbatim(self, step: Step) -> bool:
        """Return True if the lines a step cites say it word for word, commands included."""
        chunks = []
        for citation in step.citations:
            span = Span(**citation.model_dump())
            try:
                source = self._retrieval.source(span)
            except (NotFoundError, UnavailableError):
                return False
            place = f"{span.document_id}:{span.start_line}-{span.end_line}"
            chunk = Chunk(id=place, span=source.span, heading_path=(), text=source.text)
            chunks.append(RetrievedChunk(chunk=chunk, score=1.0))
        return is_verbatim(Evidence.of(KnowledgeContext(chunks=tuple(chunks))), step)


def _check_latest(line: Lineage) -> None:
    if line.latest_id != line.workflow_id:
        raise WorkflowChangedError(
            "somebody has edited this workflow meanwhile: look at the latest version, and edit that"
        )
