"""Tables of the gateway. Times are seconds since the epoch."""

from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Self

from sqlalchemy import JSON, Boolean, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base
from services.workflow.model import Workflow, WorkflowKind

ID = String(36)


def to_datetime(seconds: float | None) -> datetime | None:
    """Convert a stored time to a datetime in UTC; None stays None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@dataclass(frozen=True)
class StoredVerdict:
    """Verdict on a workflow: columns of its own row, and of the ticket that shows it."""

    fit: str | None = None
    is_checked: bool = False
    """True if a person had approved each step's procedure; of a version, as of its candidate."""
    has_checked_boxes: bool = False
    """True if a person had approved at least the boxes of each."""
    conditions: int = 0
    """Number of steps that were judged; `doubtful` of them are in doubt."""
    doubtful: int = 0
    page_origin: str = ""
    """Origin of the page that the workflow follows, if nobody wrote that by hand."""
    kind: str = WorkflowKind.PROCEDURE.value
    against: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, row: Any) -> Self:  # noqa: ANN401 - of a ticket, of a workflow, or selected
        """Return the verdict that the row has."""
        return cls(**{each.name: getattr(row, each.name) for each in fields(cls)})

    @classmethod
    def columns(cls, table: type[Base]) -> tuple[Any, ...]:
        """Return the table's columns of the verdict."""
        return tuple(getattr(table, each.name) for each in fields(cls))

    @classmethod
    def cleared(cls) -> dict[str, Any]:
        """Return the columns of a ticket that shows no workflow."""
        shown = {"workflow_id": None, "overall": None, "edited_by": "", "better_page": ""}
        return cls().values() | shown

    def values(self) -> dict[str, Any]:
        """Return the values of the columns."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def recount(self, workflow: Workflow) -> Self:
        """Return the verdict with the judged and the doubtful steps of this workflow."""
        judged = workflow.judged
        return replace(
            self, conditions=len(judged), doubtful=sum(bool(step.doubt) for step in judged)
        )


class TicketRow(Base):
    """A ticket. Ids sort by time, so that lists need no other order."""

    __tablename__ = "gateway_ticket"
    __table_args__ = (
        Index("ix_gateway_ticket_fingerprint", "fingerprint", "id"),
        Index("ix_gateway_ticket_family", "family", "id"),
        Index("ix_gateway_ticket_service", "service", "id"),
        Index("ix_gateway_ticket_status", "status", "id"),
        Index("ix_gateway_ticket_source", "source", "id"),
        Index("ix_gateway_ticket_holder", "holder_id", "id"),
        # All that lists are filtered, sorted and counted by, in their order, without the texts.
        Index(
            "ix_gateway_ticket_list",
            "id",
            "status",
            "severity",
            "source",
            "service",
            "fit",
            "resolved_at",
        ),
    )

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    source: Mapped[str] = mapped_column(String(40))
    external_id: Mapped[str] = mapped_column(String(400))
    occurrence: Mapped[str] = mapped_column(String(100))
    title: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    labels: Mapped[dict[str, str]] = mapped_column(JSON)
    alert_name: Mapped[str] = mapped_column(Text)
    severity: Mapped[str] = mapped_column(Text)
    url: Mapped[str] = mapped_column(Text)
    runbook_url: Mapped[str] = mapped_column(Text, default="")
    service: Mapped[str] = mapped_column(Text, default="")
    teams: Mapped[list[str]] = mapped_column(JSON, default=list)
    status: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(Text, default="")
    nearest: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
    workflow_id: Mapped[str | None] = mapped_column(ID)
    overall: Mapped[float | None] = mapped_column(Float)
    """Score of the chosen workflow, repeated here so that the list reads one table."""
    fit: Mapped[str | None] = mapped_column(String(10))
    """Fit of the chosen workflow; `is_checked`, `has_checked_boxes` and `against` are that
    workflow's too.
    """
    is_checked: Mapped[bool] = mapped_column(Boolean, default=False)
    has_checked_boxes: Mapped[bool] = mapped_column(Boolean, default=False)
    conditions: Mapped[int] = mapped_column(Integer, default=0)
    doubtful: Mapped[int] = mapped_column(Integer, default=0)
    """Doubtful steps of the chosen workflow, as `conditions` counts its judged ones."""
    page_origin: Mapped[str] = mapped_column(String(100), default="")
    kind: Mapped[str] = mapped_column(String(20), default="procedure")
    edited_by: Mapped[str] = mapped_column(String(200), default="")
    """Author of the version that is shown; empty if a candidate is shown."""
    against: Mapped[list[str]] = mapped_column(JSON, default=list)
    walks: Mapped[int] = mapped_column(Integer, default=1)
    """Number of walks: 1, and one more each time a ticket with a workflow was walked again."""
    began_at: Mapped[float | None] = mapped_column(Float)
    """Time at which the latest walk was requested; None of the first walk."""
    better_page: Mapped[str] = mapped_column(Text, default="")
    """Another page that a model judged to fit better once somebody worked with the workflow."""
    degraded: Mapped[list[str]] = mapped_column(JSON, default=list)
    """Services that did not answer during the latest walk, which went on without them."""
    fingerprint: Mapped[str] = mapped_column(String(32), default="")
    """Key by which alerts are counted on one ticket: equal for the same alert; empty if none is."""
    family: Mapped[str] = mapped_column(String(32), default="")
    """Key of a family: equal for alerts that differ in numbers only."""
    alerts: Mapped[int] = mapped_column(Integer, default=1)
    """Number of alerts that the ticket stands for."""
    last_at: Mapped[float] = mapped_column(Float)
    """Time of the last of these alerts."""
    asks: Mapped[bool] = mapped_column(Boolean, default=True)
    """True if questions may be asked about it: until its engineer goes on without answering."""
    holder: Mapped[str | None] = mapped_column(String(200))
    """Name, at that time, of the person or key that works on it; None while nobody does."""
    holder_id: Mapped[str | None] = mapped_column(String(600))
    """Lasting id of that person or key; names may change, ids do not."""
    held_at: Mapped[float | None] = mapped_column(Float)
    """Time since which they hold it."""
    created_at: Mapped[float] = mapped_column(Float)
    updated_at: Mapped[float] = mapped_column(Float)
    resolved_at: Mapped[float | None] = mapped_column(Float)


class AlertRow(Base):
    """One occurrence of an alert, by its sender's ids, with the ticket that stands for it.

    Without a ticket it is the end of an alert whose beginning has not arrived yet.
    """

    __tablename__ = "gateway_alert"
    __table_args__ = (Index("ix_gateway_alert_ticket", "ticket_id"),)

    source: Mapped[str] = mapped_column(String(40), primary_key=True)
    external_id: Mapped[str] = mapped_column(String(400), primary_key=True)
    occurrence: Mapped[str] = mapped_column(String(100), primary_key=True)
    ticket_id: Mapped[str | None] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE", deferrable=True, initially="DEFERRED")
    )
    came_at: Mapped[float] = mapped_column(Float)
    over_at: Mapped[float | None] = mapped_column(Float)
    """Time at which its source said that it is over."""


class TicketTeamRow(Base):
    """A team that a ticket's source names: one of `TicketRow.teams`, indexed for filters."""

    __tablename__ = "gateway_ticket_team"
    __table_args__ = (Index("ix_gateway_ticket_team_team", "team", "ticket_id"),)

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    team: Mapped[str] = mapped_column(String(200), primary_key=True)


class TeamRow(Base):
    """A team that was declared through the API."""

    __tablename__ = "gateway_team"

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    description: Mapped[str] = mapped_column(Text)


class TriageRow(Base):
    """The triage decision of a ticket: the team that it went to."""

    __tablename__ = "gateway_triage"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    team: Mapped[str | None] = mapped_column(String(200))
    by: Mapped[str] = mapped_column(String(10))
    body: Mapped[str] = mapped_column(Text)
    """The `TriageDecision` as JSON."""


class WorkflowRow(Base):
    """A candidate workflow, or a version that a person made of one.

    The ticket names the one that is shown. Candidates of a walk are ranked from 1; versions follow
    in the order in which they were made.
    """

    __tablename__ = "gateway_workflow"
    __table_args__ = (Index("ix_gateway_workflow_rank", "ticket_id", "walk", "rank", unique=True),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    walk: Mapped[int] = mapped_column(Integer, default=1)
    """Number of the walk of its ticket that made it; workflows of earlier walks are kept."""
    rank: Mapped[int] = mapped_column(Integer)
    title: Mapped[str] = mapped_column(Text)
    planner: Mapped[str] = mapped_column(String(100))
    steps: Mapped[int] = mapped_column(Integer)
    body: Mapped[str] = mapped_column(Text)
    """The `Workflow` as JSON."""
    fit: Mapped[str] = mapped_column(String(10))
    is_checked: Mapped[bool] = mapped_column(Boolean, default=False)
    """True if a person had approved each step's procedure; of a version, as of its candidate."""
    has_checked_boxes: Mapped[bool] = mapped_column(Boolean, default=False)
    """True if a person had approved at least the boxes of each."""
    conditions: Mapped[int] = mapped_column(Integer, default=0)
    """Number of steps that were judged; `doubtful` of them are in doubt."""
    doubtful: Mapped[int] = mapped_column(Integer, default=0)
    page_origin: Mapped[str] = mapped_column(String(100), default="")
    """Origin of the page that it follows, if nobody wrote that by hand."""
    kind: Mapped[str] = mapped_column(String(20), default="procedure")
    """The `WorkflowKind`."""
    against: Mapped[list[str]] = mapped_column(JSON)
    seconds: Mapped[dict[str, float]] = mapped_column(JSON)
    created_at: Mapped[float] = mapped_column(Float)
    candidate_id: Mapped[str | None] = mapped_column(ID)
    """The candidate that a version goes back to, whose scores it has; None of a candidate."""
    base_id: Mapped[str | None] = mapped_column(ID)
    """The workflow that was edited."""
    version: Mapped[int] = mapped_column(Integer, default=1)
    author: Mapped[str] = mapped_column(String(200), default="")
    """The person who edited it."""


class PageChoiceRow(Base):
    """A model's choice of the page, keyed by all that the model was shown."""

    __tablename__ = "gateway_page_choice"
    __table_args__ = (Index("ix_gateway_page_choice_chosen_at", "model", "chosen_at"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    model: Mapped[str] = mapped_column(String(200))
    """Name of the model, with the label of its prompt."""
    page: Mapped[str] = mapped_column(Text)
    """The id of a document; empty for none of those shown."""
    stated: Mapped[float] = mapped_column(Float)
    """Probability that the choice is right, as the model states it."""
    place: Mapped[int] = mapped_column(Integer)
    """Rank of the page among those shown, from 1; 0 for none."""
    chosen_at: Mapped[float] = mapped_column(Float)


class PageWordRow(Base):
    """One person's verdict on a page for the tickets of one family: accepted or refused."""

    __tablename__ = "gateway_page_word"
    __table_args__ = (Index("ix_gateway_page_word_family", "family"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Hash of family, document and person: of two verdicts the later one counts."""
    family: Mapped[str] = mapped_column(String(32))
    document_id: Mapped[str] = mapped_column(String(1024))
    text_hash: Mapped[str] = mapped_column(String(64))
    """Hash of the page's text; a verdict on another text no longer counts."""
    person: Mapped[str] = mapped_column(String(200))
    """Name of the person at that time."""
    is_taken: Mapped[bool] = mapped_column(Boolean)
    at: Mapped[float] = mapped_column(Float)


class ServedRow(Base):
    """Retrieval features of the pages at a ticket's first walk, kept as training data."""

    __tablename__ = "gateway_served"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    is_alert: Mapped[bool] = mapped_column(Boolean)
    pages: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """The `PageSigns` of each page, best first."""
    at: Mapped[float] = mapped_column(Float)


class LessonRow(Base):
    """Lesson of a purged ticket: numbers, ids of pages and keys, and no word of anybody."""

    __tablename__ = "gateway_lesson"
    __table_args__ = (Index("ix_gateway_lesson_at", "at"),)

    source_id: Mapped[str] = mapped_column(ID, primary_key=True)
    """Id of the ticket, which is gone."""
    at: Mapped[float] = mapped_column(Float)
    """Time of the last work on it."""
    body: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The `Lesson` as JSON."""


class MarkRow(Base):
    """An engineer's mark on a step and judgement of it, for a candidate and all its versions."""

    __tablename__ = "gateway_mark"

    candidate_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_workflow.id", ondelete="CASCADE"), primary_key=True
    )
    step_id: Mapped[str] = mapped_column(String(400), primary_key=True)
    state: Mapped[str] = mapped_column(String(20), default="open")
    why: Mapped[str] = mapped_column(Text, default="")
    """Reason why it was skipped."""
    seen: Mapped[str] = mapped_column(Text, default="")
    """Note of what the engineer observed at the step."""
    seen_by: Mapped[str | None] = mapped_column(String(200))
    """Author of that note; None if it is the one who marked the step."""
    branch: Mapped[str | None] = mapped_column(Text)
    """The condition of the exit that was followed."""
    marked_by: Mapped[str] = mapped_column(String(200), default="")
    marked_at: Mapped[float | None] = mapped_column(Float)
    verdict: Mapped[str] = mapped_column(String(10), default="")
    word: Mapped[str] = mapped_column(Text, default="")
    """Reason why it was accepted or rejected."""
    judged_by: Mapped[str] = mapped_column(String(200), default="")
    judged_at: Mapped[float | None] = mapped_column(Float)
    told: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    """Snapshot of the step at the time of the mark; None: as the candidate has it."""
    from_candidate: Mapped[str | None] = mapped_column(ID)
    """The candidate of an earlier walk whose mark was carried over to this one."""
    from_step: Mapped[str | None] = mapped_column(String(400))
    from_at: Mapped[float | None] = mapped_column(Float)
    """Time of that mark when it was carried over; later changes to it are not in this one."""


class LinkedMarkRow(Base):
    """An engineer's mark on a box of a page that the ticket's page links to."""

    __tablename__ = "gateway_linked_mark"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    document_id: Mapped[str] = mapped_column(String(1024), primary_key=True)
    box: Mapped[str] = mapped_column(String(40), primary_key=True)
    """The key of the box's block."""
    state: Mapped[str] = mapped_column(String(20), default="open")
    why: Mapped[str] = mapped_column(Text, default="")
    """Reason why it was skipped."""
    seen: Mapped[str] = mapped_column(Text, default="")
    """Note of what the engineer observed at the box."""
    seen_by: Mapped[str] = mapped_column(String(200), default="")
    marked_by: Mapped[str] = mapped_column(String(200), default="")
    marked_at: Mapped[float | None] = mapped_column(Float)
    told: Mapped[dict[str, Any]] = mapped_column(JSON)
    """Snapshot of the box at the time of the mark."""


class OrphanedFeedbackRow(Base):
    """Feedback on a step or a workflow, kept when something else took its place."""

    __tablename__ = "gateway_left_behind"
    __table_args__ = (Index("ix_gateway_left_behind_ticket", "ticket_id", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    told: Mapped[dict[str, Any]] = mapped_column(JSON)
    """Snapshot of the step at the time of the feedback."""
    body: Mapped[str] = mapped_column(Text)
    """The `LeftBehind` as JSON."""


class AdoptionRow(Base):
    """Use of a candidate on its ticket: the figures behind the acceptance rate."""

    __tablename__ = "gateway_adoption"
    __table_args__ = (Index("ix_gateway_adoption_worked_at", "worked_at"),)

    candidate_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_workflow.id", ondelete="CASCADE"), primary_key=True
    )
    verdict: Mapped[str] = mapped_column(String(10), default="")
    """Verdict on the workflow as a whole."""
    word: Mapped[str] = mapped_column(Text, default="")
    judged_by: Mapped[str] = mapped_column(String(200), default="")
    judged_at: Mapped[float | None] = mapped_column(Float)
    core: Mapped[int] = mapped_column(Integer, default=0)
    """Core steps on the path that was followed."""
    used: Mapped[int] = mapped_column(Integer, default=0)
    """Core steps that were done."""
    did: Mapped[int | None] = mapped_column(Integer)
    """All actions that were done, those added by hand too; None if not counted.

    Work older than this count has None: there `used` holds what an acceptance of the whole counted
    as used.
    """
    had: Mapped[int | None] = mapped_column(Integer)
    """Actions done that the candidate had."""
    documents: Mapped[list[str]] = mapped_column(JSON, default=list)
    """Documents that the candidate was made from."""
    worked_at: Mapped[float] = mapped_column(Float)
    """Time of the last work with it."""


class CitationRow(Base):
    """Lines of a document that a ticket's workflow rests on, or that came near the ticket."""

    __tablename__ = "gateway_citation"
    __table_args__ = (
        Index("ix_gateway_citation_document", "document_id", "ticket_id"),
        Index("ix_gateway_citation_ticket", "ticket_id"),
        Index("ix_gateway_citation_workflow", "workflow_id"),
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    workflow_id: Mapped[str | None] = mapped_column(
        ForeignKey("gateway_workflow.id", ondelete="CASCADE")
    )
    """The workflow that cites the lines; None if they only came near: of a refused ticket, or as a
    choice of the question which page applies.
    """
    document_id: Mapped[str] = mapped_column(String(1024))
    start_line: Mapped[int] = mapped_column(Integer)
    end_line: Mapped[int] = mapped_column(Integer)


class ScoreRow(Base):
    """The five scores of a candidate, each a column for queries, and the score with its reasons."""

    __tablename__ = "gateway_score"

    workflow_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_workflow.id", ondelete="CASCADE"), primary_key=True
    )
    overall: Mapped[float] = mapped_column(Float)
    relevance: Mapped[float] = mapped_column(Float)
    coverage: Mapped[float] = mapped_column(Float)
    accuracy: Mapped[float] = mapped_column(Float)
    coherence: Mapped[float] = mapped_column(Float)
    conciseness: Mapped[float] = mapped_column(Float)
    body: Mapped[str] = mapped_column(Text)
    """The `Score` as JSON."""
    findings: Mapped[list[str]] = mapped_column(JSON)


class IdempotencyRow(Base):
    """The answer to a request with an `Idempotency-Key`."""

    __tablename__ = "gateway_idempotency"

    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_hash: Mapped[str] = mapped_column(String(64))
    answer: Mapped[str] = mapped_column(Text)
    """The `Accepted` message as JSON."""
    created_at: Mapped[float] = mapped_column(Float)


class EventRow(Base):
    """An event in the log of a ticket."""

    __tablename__ = "gateway_event"
    __table_args__ = (
        Index("ix_gateway_event_ticket", "ticket_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(40))
    facts: Mapped[dict[str, Any]] = mapped_column(JSON)
    at: Mapped[float] = mapped_column(Float)


class ClarificationRow(Base):
    """A question about a ticket with its answer; only the last of a ticket may be open."""

    __tablename__ = "gateway_clarification"
    __table_args__ = (Index("ix_gateway_clarification_turn", "ticket_id", "turn", unique=True),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    turn: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(10))
    wording: Mapped[str] = mapped_column(Text)
    """The question as the engineer reads it."""
    worded_by: Mapped[str] = mapped_column(Text)
    question: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The question with its choices and what each of them settles."""
    others: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Other questions that were worth asking, the best first."""
    terms: Mapped[list[str]] = mapped_column(JSON, default=list)
    """Domain terms of the ticket, as a model extracted them."""
    choice: Mapped[int | None] = mapped_column(Integer)
    """Index of the chosen answer, from 0."""
    answer: Mapped[str] = mapped_column(Text)
    answered_by: Mapped[str] = mapped_column(String(200), default="")
    said: Mapped[list[str]] = mapped_column(JSON, default=list)
    """Free-text answers that did not settle the question, in their order."""
    asked_at: Mapped[float] = mapped_column(Float)
    answered_at: Mapped[float | None] = mapped_column(Float)


class WriteBackRow(Base):
    """State of the write-back of a ticket to one system."""

    __tablename__ = "gateway_told"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    target: Mapped[str] = mapped_column(String(40), primary_key=True)
    times: Mapped[int] = mapped_column(Integer)
    digests: Mapped[dict[str, str]] = mapped_column(JSON)
    """Digest of each topic as it was last sent."""
    question_id: Mapped[str] = mapped_column(String(36))
    """The question that was sent last; empty before any."""


class DismissalRow(Base):
    """A finding of a page that somebody dismissed as all right."""

    __tablename__ = "gateway_dismissed"

    key: Mapped[str] = mapped_column(String(40), primary_key=True)
    """See `coverage.evidence.Evidence.key`."""
    document_id: Mapped[str] = mapped_column(String(1024))
    why: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(String(200))
    at: Mapped[float] = mapped_column(Float)


class DigestRow(Base):
    """A week whose digest was sent to a target, or is about to be."""

    __tablename__ = "gateway_digest"

    week: Mapped[str] = mapped_column(String(10), primary_key=True)
    target: Mapped[str] = mapped_column(String(40), primary_key=True)
    at: Mapped[float] = mapped_column(Float)
    told: Mapped[str] = mapped_column(Text, default="")
    """Keys of the findings in the digest, a line each; empty if nothing was sent."""


class CommentRow(Base):
    """A comment on a ticket in its own system; the same comment is stored once."""

    __tablename__ = "gateway_comment"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(String(100), primary_key=True)
    source: Mapped[str] = mapped_column(String(40))
    author: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    at: Mapped[float] = mapped_column(Float)
    """Time at which it was received."""
    turn: Mapped[int | None] = mapped_column(Integer)
    """Number of the question that it answered."""
    caller: Mapped[str] = mapped_column(String(200), default="", server_default="")
    """Name of the caller who brought it; empty for one from before that was recorded."""
    caller_id: Mapped[str] = mapped_column(String(400), default="", server_default="")
    caller_kind: Mapped[str] = mapped_column(String(20), default="", server_default="")
