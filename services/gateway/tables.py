"""Tables of the gateway. Times are seconds since the epoch."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Boolean, Float, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base

ID = String(36)


def moment(seconds: float | None) -> datetime | None:
    """A stored time as people read it, in UTC."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


class TicketRow(Base):
    """A ticket. Ids sort by time, so the list needs no other order."""

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
    """The chosen workflow's score, here too so that the list reads one table."""
    fit: Mapped[str | None] = mapped_column(String(10))
    """The chosen workflow's, and so are `is_checked` and `against`."""
    is_checked: Mapped[bool] = mapped_column(Boolean, default=False)
    conditions: Mapped[int] = mapped_column(Integer, default=0)
    doubtful: Mapped[int] = mapped_column(Integer, default=0)
    """The chosen workflow's."""
    page_origin: Mapped[str] = mapped_column(String(100), default="")
    kind: Mapped[str] = mapped_column(String(20), default="procedure")
    edited_by: Mapped[str] = mapped_column(String(200), default="")
    """Who made the version that is shown; empty where it is a candidate."""
    against: Mapped[list[str]] = mapped_column(JSON, default=list)
    walks: Mapped[int] = mapped_column(Integer, default=1)
    """1, and one more for each time that a ticket with a workflow was walked again."""
    began_at: Mapped[float | None] = mapped_column(Float)
    """When its latest walk was asked for; None of the first."""
    better_page: Mapped[str] = mapped_column(Text, default="")
    """Another page that a model found to fit better once somebody worked with the workflow."""
    degraded: Mapped[list[str]] = mapped_column(JSON, default=list)
    """What did not answer while it was last walked, so that the walk went on without."""
    fingerprint: Mapped[str] = mapped_column(String(32), default="")
    """Equal for alerts that are counted on one ticket; empty: none is."""
    family: Mapped[str] = mapped_column(String(32), default="")
    """Equal for alerts that differ in numbers only."""
    alerts: Mapped[int] = mapped_column(Integer, default=1)
    """How many alerts the ticket stands for."""
    last_at: Mapped[float] = mapped_column(Float)
    """When the last of them came."""
    asks: Mapped[bool] = mapped_column(Boolean, default=True)
    """Whether questions may be asked about it; not once its engineer went on without."""
    holder: Mapped[str | None] = mapped_column(String(200))
    """Who works on it, as they were called then; None while nobody does."""
    holder_id: Mapped[str | None] = mapped_column(String(600))
    """Of that person or key; names may change, this does not."""
    held_at: Mapped[float | None] = mapped_column(Float)
    """Since when."""
    created_at: Mapped[float] = mapped_column(Float)
    updated_at: Mapped[float] = mapped_column(Float)
    resolved_at: Mapped[float | None] = mapped_column(Float)


class AlertRow(Base):
    """One time that something broke, by its sender's names, and the ticket that stands for it.

    Without a ticket it is the end of an alert whose beginning has not come.
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
    """When its source said that it is over."""


class TicketTeamRow(Base):
    """A team that a ticket's source names: one of `TicketRow.teams`, to be found by."""

    __tablename__ = "gateway_ticket_team"
    __table_args__ = (Index("ix_gateway_ticket_team_team", "team", "ticket_id"),)

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    team: Mapped[str] = mapped_column(String(200), primary_key=True)


class TeamRow(Base):
    """A team that was declared by the API."""

    __tablename__ = "gateway_team"

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    description: Mapped[str] = mapped_column(Text)


class TriageRow(Base):
    """Which team a ticket went to."""

    __tablename__ = "gateway_triage"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    team: Mapped[str | None] = mapped_column(String(200))
    by: Mapped[str] = mapped_column(String(10))
    body: Mapped[str] = mapped_column(Text)
    """The `TriageDecision` as JSON."""


class WorkflowRow(Base):
    """A candidate workflow, or what a person made of one. The ticket names the one that is shown.

    Candidates of a walk are ranked from 1; versions come behind, in the order of their making.
    """

    __tablename__ = "gateway_workflow"
    __table_args__ = (Index("ix_gateway_workflow_rank", "ticket_id", "walk", "rank", unique=True),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    walk: Mapped[int] = mapped_column(Integer, default=1)
    """Which walk of its ticket made it; those of earlier ones are kept."""
    rank: Mapped[int] = mapped_column(Integer)
    title: Mapped[str] = mapped_column(Text)
    planner: Mapped[str] = mapped_column(String(100))
    steps: Mapped[int] = mapped_column(Integer)
    body: Mapped[str] = mapped_column(Text)
    """The `Workflow` as JSON."""
    fit: Mapped[str] = mapped_column(String(10))
    is_checked: Mapped[bool] = mapped_column(Boolean, default=False)
    """Of a version: whether its candidate was."""
    conditions: Mapped[int] = mapped_column(Integer, default=0)
    """Steps that were judged, and `doubtful` of them."""
    doubtful: Mapped[int] = mapped_column(Integer, default=0)
    page_origin: Mapped[str] = mapped_column(String(100), default="")
    """How a page that it follows came about, where nobody wrote it by hand."""
    kind: Mapped[str] = mapped_column(String(20), default="procedure")
    """Its `WorkflowKind`."""
    against: Mapped[list[str]] = mapped_column(JSON)
    seconds: Mapped[dict[str, float]] = mapped_column(JSON)
    created_at: Mapped[float] = mapped_column(Float)
    candidate_id: Mapped[str | None] = mapped_column(ID)
    """The candidate that it goes back to, whose scores it has; None of a candidate itself."""
    base_id: Mapped[str | None] = mapped_column(ID)
    """What was edited."""
    version: Mapped[int] = mapped_column(Integer, default=1)
    author: Mapped[str] = mapped_column(String(200), default="")
    """Who edited it."""


class PageChoiceRow(Base):
    """Which page a model chose, by all that it was shown."""

    __tablename__ = "gateway_page_choice"
    __table_args__ = (Index("ix_gateway_page_choice_chosen_at", "model", "chosen_at"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    model: Mapped[str] = mapped_column(String(200))
    """With the label of its prompt."""
    page: Mapped[str] = mapped_column(Text)
    """The id of a document; empty: none of them."""
    stated: Mapped[float] = mapped_column(Float)
    """How likely that is right, as the model says."""
    place: Mapped[int] = mapped_column(Integer)
    """Where the page stood among those shown, from 1; 0 for none."""
    chosen_at: Mapped[float] = mapped_column(Float)


class PageWordRow(Base):
    """One person's word on a page for the tickets of one family: it was taken, or refused."""

    __tablename__ = "gateway_page_word"
    __table_args__ = (Index("ix_gateway_page_word_family", "family"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Hash of family, document and person: of two words the later counts."""
    family: Mapped[str] = mapped_column(String(32))
    document_id: Mapped[str] = mapped_column(String(1024))
    text_hash: Mapped[str] = mapped_column(String(64))
    """Of the page's text; a word on another text counts no more."""
    person: Mapped[str] = mapped_column(String(200))
    """As they were called then."""
    is_taken: Mapped[bool] = mapped_column(Boolean)
    at: Mapped[float] = mapped_column(Float)


class ServedRow(Base):
    """What spoke for which page when a ticket was first walked: numbers that are learned from."""

    __tablename__ = "gateway_served"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    is_alert: Mapped[bool] = mapped_column(Boolean)
    pages: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """`PageSigns`, best first."""
    at: Mapped[float] = mapped_column(Float)


class MarkRow(Base):
    """What an engineer did with a step, and thinks of it: of a candidate and all its versions."""

    __tablename__ = "gateway_mark"

    candidate_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_workflow.id", ondelete="CASCADE"), primary_key=True
    )
    step_id: Mapped[str] = mapped_column(String(400), primary_key=True)
    state: Mapped[str] = mapped_column(String(20), default="open")
    why: Mapped[str] = mapped_column(Text, default="")
    """Why it was skipped."""
    seen: Mapped[str] = mapped_column(Text, default="")
    """What was seen at it."""
    seen_by: Mapped[str | None] = mapped_column(String(200))
    """Who saw it; None: who marked it."""
    branch: Mapped[str | None] = mapped_column(Text)
    """The condition of the exit that was followed."""
    marked_by: Mapped[str] = mapped_column(String(200), default="")
    marked_at: Mapped[float | None] = mapped_column(Float)
    verdict: Mapped[str] = mapped_column(String(10), default="")
    word: Mapped[str] = mapped_column(Text, default="")
    """Why it was accepted or rejected."""
    judged_by: Mapped[str] = mapped_column(String(200), default="")
    judged_at: Mapped[float | None] = mapped_column(Float)
    told: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    """What the step said when this was said of it; None: as the candidate has it."""
    from_candidate: Mapped[str | None] = mapped_column(ID)
    """The candidate of an earlier walk whose mark this goes on with."""
    from_step: Mapped[str | None] = mapped_column(String(400))
    from_at: Mapped[float | None] = mapped_column(Float)
    """How old that mark was by then: what is said there later is not in this one."""


class LinkedMarkRow(Base):
    """What an engineer did with a box of a page that the page of a ticket links to."""

    __tablename__ = "gateway_linked_mark"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    document_id: Mapped[str] = mapped_column(String(1024), primary_key=True)
    box: Mapped[str] = mapped_column(String(40), primary_key=True)
    """The key of its block."""
    state: Mapped[str] = mapped_column(String(20), default="open")
    why: Mapped[str] = mapped_column(Text, default="")
    """Why it was skipped."""
    seen: Mapped[str] = mapped_column(Text, default="")
    """What was seen at it."""
    seen_by: Mapped[str] = mapped_column(String(200), default="")
    marked_by: Mapped[str] = mapped_column(String(200), default="")
    marked_at: Mapped[float | None] = mapped_column(Float)
    told: Mapped[dict[str, Any]] = mapped_column(JSON)
    """What the box said when it was marked."""


class LeftBehindRow(Base):
    """What somebody said of a step or of a workflow, before something else took its place."""

    __tablename__ = "gateway_left_behind"
    __table_args__ = (Index("ix_gateway_left_behind_ticket", "ticket_id", "id"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    told: Mapped[dict[str, Any]] = mapped_column(JSON)
    """What the step said."""
    body: Mapped[str] = mapped_column(Text)
    """The `LeftBehind` as JSON."""


class AdoptionRow(Base):
    """How far a candidate was used on its ticket: what the acceptance rate is counted from."""

    __tablename__ = "gateway_adoption"
    __table_args__ = (Index("ix_gateway_adoption_worked_at", "worked_at"),)

    candidate_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_workflow.id", ondelete="CASCADE"), primary_key=True
    )
    verdict: Mapped[str] = mapped_column(String(10), default="")
    """What was said of the workflow as a whole."""
    word: Mapped[str] = mapped_column(Text, default="")
    judged_by: Mapped[str] = mapped_column(String(200), default="")
    judged_at: Mapped[float | None] = mapped_column(Float)
    core: Mapped[int] = mapped_column(Integer, default=0)
    """Core steps on the path that was followed."""
    used: Mapped[int] = mapped_column(Integer, default=0)
    """Of them, those that were done."""
    did: Mapped[int | None] = mapped_column(Integer)
    """All actions that were done, those added by hand too; None of what was worked with before this
    was counted, for which `used` holds what an acceptance of the whole counted as used."""
    had: Mapped[int | None] = mapped_column(Integer)
    """Of these, those that the candidate had."""
    documents: Mapped[list[str]] = mapped_column(JSON, default=list)
    """What the candidate was made from."""
    worked_at: Mapped[float] = mapped_column(Float)
    """When it was last worked with."""


class CitationRow(Base):
    """Lines of a document that a ticket's workflow rests on, or that came near a refused ticket."""

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
    """None where no workflow was made of the document: it came near, and no more."""
    document_id: Mapped[str] = mapped_column(String(1024))
    start_line: Mapped[int] = mapped_column(Integer)
    end_line: Mapped[int] = mapped_column(Integer)


class ScoreRow(Base):
    """The five scores of a candidate, each a column to ask about, and whole with its reasons."""

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
    """What was answered to an `Idempotency-Key`."""

    __tablename__ = "gateway_idempotency"

    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_hash: Mapped[str] = mapped_column(String(64))
    answer: Mapped[str] = mapped_column(Text)
    """The `Accepted` message as JSON."""
    created_at: Mapped[float] = mapped_column(Float)


class EventRow(Base):
    """Something that happened to a ticket."""

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
    """A question about a ticket and what was answered; the last of a ticket may be open."""

    __tablename__ = "gateway_clarification"
    __table_args__ = (Index("ix_gateway_clarification_turn", "ticket_id", "turn", unique=True),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    ticket_id: Mapped[str] = mapped_column(ForeignKey("gateway_ticket.id", ondelete="CASCADE"))
    turn: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(10))
    wording: Mapped[str] = mapped_column(Text)
    """The question as it is asked."""
    worded_by: Mapped[str] = mapped_column(Text)
    question: Mapped[dict[str, Any]] = mapped_column(JSON)
    """With its choices and what each of them settles."""
    others: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Questions that were worth asking too, the best first."""
    terms: Mapped[list[str]] = mapped_column(JSON, default=list)
    """Domain terms of the ticket, as a model found them."""
    choice: Mapped[int | None] = mapped_column(Integer)
    """Place of the chosen answer, from 0."""
    answer: Mapped[str] = mapped_column(Text)
    answered_by: Mapped[str] = mapped_column(String(200), default="")
    said: Mapped[list[str]] = mapped_column(JSON, default=list)
    """Answers in own words that did not settle it, in their order."""
    asked_at: Mapped[float] = mapped_column(Float)
    answered_at: Mapped[float | None] = mapped_column(Float)


class ToldRow(Base):
    """What a system was told of a ticket."""

    __tablename__ = "gateway_told"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    target: Mapped[str] = mapped_column(String(40), primary_key=True)
    times: Mapped[int] = mapped_column(Integer)
    digests: Mapped[dict[str, str]] = mapped_column(JSON)
    """Of each topic, what it was when it was told last."""
    question_id: Mapped[str] = mapped_column(String(36))
    """The question that was told last; empty before any."""


class DismissedRow(Base):
    """A finding of a page that somebody said is all right."""

    __tablename__ = "gateway_dismissed"

    key: Mapped[str] = mapped_column(String(40), primary_key=True)
    """See `coverage.evidence.Evidence.key`."""
    document_id: Mapped[str] = mapped_column(String(1024))
    why: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(String(200))
    at: Mapped[float] = mapped_column(Float)


class DigestRow(Base):
    """A week of which a target was sent a digest, or is about to be."""

    __tablename__ = "gateway_digest"

    week: Mapped[str] = mapped_column(String(10), primary_key=True)
    target: Mapped[str] = mapped_column(String(40), primary_key=True)
    at: Mapped[float] = mapped_column(Float)
    told: Mapped[str] = mapped_column(Text, default="")
    """Keys of the findings that it told, a line each; empty where nothing was sent."""


class CommentRow(Base):
    """What somebody said about a ticket in its own system; the same comment comes once."""

    __tablename__ = "gateway_comment"

    ticket_id: Mapped[str] = mapped_column(
        ForeignKey("gateway_ticket.id", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(String(100), primary_key=True)
    source: Mapped[str] = mapped_column(String(40))
    author: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    at: Mapped[float] = mapped_column(Float)
    """When it came here."""
    turn: Mapped[int | None] = mapped_column(Integer)
    """The question that it answered."""
