"""Tables of ingestion: jobs, syncs, documents and what belongs to them."""

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    false,
)
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base, Instant

MAX_ID_LENGTH = 1024
"""Longest id of a document."""


class JobRow(Base):
    """One ingestion or removal."""

    __tablename__ = "ingestion_job"
    __table_args__ = (Index("ix_ingestion_job_created_at", "created_at", "id"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    path: Mapped[str] = mapped_column(Text)
    """Path to read; for an upload the folder its files are kept in."""
    source: Mapped[str] = mapped_column(Text)
    """Root of the documents: pruning removes documents of the same source only."""
    is_upload: Mapped[bool]
    is_queued: Mapped[bool]
    """True if the outbox has it, so that it goes on after a restart by itself."""
    prune: Mapped[bool]
    status: Mapped[str] = mapped_column(String(20))
    total: Mapped[int] = mapped_column(Integer, default=0)
    added: Mapped[int] = mapped_column(Integer, default=0)
    changed: Mapped[int] = mapped_column(Integer, default=0)
    unchanged: Mapped[int] = mapped_column(Integer, default=0)
    deleted: Mapped[int] = mapped_column(Integer, default=0)
    skipped: Mapped[int] = mapped_column(Integer, default=0)
    chunks_embedded: Mapped[int] = mapped_column(Integer, default=0)
    approved_deleted: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    seconds_left: Mapped[float | None] = mapped_column(Float, default=None)
    """Seconds left as estimated at `updated_at`."""
    cut_off: Mapped[dict[str, int]] = mapped_column(JSON, default=dict, server_default="{}")
    """Number of times that the job's process ended while it read a document, by document id."""
    reason: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(Instant)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class FailureRow(Base):
    """Document that a job could not ingest."""

    __tablename__ = "ingestion_failure"

    job_id: Mapped[str] = mapped_column(
        ForeignKey("ingestion_job.id", ondelete="CASCADE"), primary_key=True
    )
    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    reason: Mapped[str] = mapped_column(Text)


class ChangeRow(Base):
    """Change that a job made to one document."""

    __tablename__ = "ingestion_change"

    job_id: Mapped[str] = mapped_column(
        ForeignKey("ingestion_job.id", ondelete="CASCADE"), primary_key=True
    )
    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    what: Mapped[str] = mapped_column(String(20), primary_key=True)
    """Kind of change: `added`, `changed`, `deleted` or `approval_lost`."""
    procedures: Mapped[list[Any]] = mapped_column(JSON, default=list)
    """Titles of the procedures whose approval was lost."""


class SyncSourceRow(Base):
    """Folder or repository that is synced on a schedule."""

    __tablename__ = "ingestion_sync_source"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    location: Mapped[str] = mapped_column(Text)
    branch: Mapped[str] = mapped_column(String(200))
    subfolder: Mapped[str] = mapped_column(String(500))
    every_minutes: Mapped[int]
    next_at: Mapped[datetime] = mapped_column(Instant, index=True)
    failures: Mapped[int] = mapped_column(default=0)
    commit_id: Mapped[str] = mapped_column(String(64), default="")
    """Commit of the last sync that was done."""


class SyncRow(Base):
    """One sync of a source."""

    __tablename__ = "ingestion_sync"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    source: Mapped[str] = mapped_column(
        ForeignKey("ingestion_sync_source.name", ondelete="CASCADE"), index=True
    )
    status: Mapped[str] = mapped_column(String(20))
    reason: Mapped[str] = mapped_column(Text, default="")
    began_at: Mapped[datetime] = mapped_column(Instant)
    ended_at: Mapped[datetime | None] = mapped_column(Instant)
    commit_before: Mapped[str] = mapped_column(String(64), default="")
    commit_after: Mapped[str] = mapped_column(String(64), default="")
    job_id: Mapped[str] = mapped_column(String(36), default="", index=True)
    told: Mapped[bool] = mapped_column(default=False)


class IngestedRow(Base):
    """Record of what the stores hold of one document, written before and after each change.

    While the stores are being changed `content_hash` is empty and the ids are those of the old and
    the new version together, so that whoever finds such a row knows everything there is to clean.
    """

    __tablename__ = "ingestion_document"

    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    source: Mapped[str] = mapped_column(Text)
    fingerprint: Mapped[str] = mapped_column(String(100))
    """Fingerprint that tells without reading whether the file is the one that was read."""
    content_hash: Mapped[str] = mapped_column(String(64))
    text_hash: Mapped[str] = mapped_column(String(64), default="", server_default="", index=True)
    """Hash of the text that lines are counted in; empty for rows of older versions."""
    pipeline: Mapped[str] = mapped_column(String(64))
    """Version of the code and model that made the chunks and nodes."""
    outcome: Mapped[str] = mapped_column(String(10))
    """Outcome of the job below: `added` or `changed`."""
    job_id: Mapped[str] = mapped_column(String(36))
    title: Mapped[str] = mapped_column(Text)
    media_type: Mapped[str] = mapped_column(String(200))
    chunk_ids: Mapped[list[Any]] = mapped_column(JSON)
    node_ids: Mapped[list[Any]] = mapped_column(JSON)
    updated_at: Mapped[datetime] = mapped_column(Instant)
    pictures_taken: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if its pictures were looked for; false for rows of older versions."""
    harm: Mapped[str] = mapped_column(String(10), default="", server_default="")
    """Effect of the text's most severe command, `none` if it has none; empty if not judged yet."""


class PictureRow(Base):
    """Picture that a document names, or the reason why it was refused."""

    __tablename__ = "ingestion_picture"

    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    path: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    """Path from the root of the documents."""
    fingerprint: Mapped[str] = mapped_column(String(100))
    """Fingerprint that tells without reading whether the file is the one that was read.

    Empty if there was no file; a word of its own if the document's file holds the picture itself.
    """
    content_hash: Mapped[str] = mapped_column(String(64))
    media_type: Mapped[str] = mapped_column(String(20))
    width: Mapped[int]
    height: Mapped[int]
    refusal: Mapped[str] = mapped_column(Text)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class OwnerRow(Base):
    """Team that looks after the documents of a root, of all roots, or of a part of them."""

    __tablename__ = "ingestion_owner"

    root: Mapped[str] = mapped_column(Text, primary_key=True)
    """Root of the documents; empty for all roots."""
    prefix: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    team: Mapped[str] = mapped_column(String(200))


class ReviewRow(Base):
    """Review of a document that its owner was asked for."""

    __tablename__ = "ingestion_review"

    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    due: Mapped[date] = mapped_column(Date)
    who: Mapped[str] = mapped_column(String(200))
    at: Mapped[datetime] = mapped_column(Instant)


class ApprovedBlocksRow(Base):
    """Blocks of the approved text that a changed text follows."""

    __tablename__ = "ingestion_approved_blocks"

    text_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Hash of the changed text."""
    keys: Mapped[list[str]] = mapped_column(JSON)
    """Keys of the approved text's blocks."""


class UnbuiltRow(Base):
    """Last failure of a model to build nodes of one version of a document's text."""

    __tablename__ = "ingestion_unbuilt"

    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    text_hash: Mapped[str] = mapped_column(String(64))
    recipe: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class UnreadRow(Base):
    """Last failure of a model to read a text."""

    __tablename__ = "ingestion_unread"

    text_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    recipe: Mapped[str] = mapped_column(String(400), primary_key=True)
    """Prompt and model."""
    reason: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class BuiltRow(Base):
    """Nodes that a model built of one version of a document's text."""

    __tablename__ = "ingestion_built"

    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    text_hash: Mapped[str] = mapped_column(String(64))
    """Hash (sha256) of the stored text; the lines in `nodes` are valid for it alone."""
    model: Mapped[str] = mapped_column(Text)
    recipe: Mapped[str] = mapped_column(String(32), index=True)
    """Hash of the model's name and of all that it is asked with."""
    nodes: Mapped[list[Any]] = mapped_column(JSON)
    tally: Mapped[dict[str, Any]] = mapped_column(JSON)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class ProposalRow(Base):
    """Proposed page with people's decision; an accepted one is a document too."""

    __tablename__ = "ingestion_proposal"
    __table_args__ = (Index("ix_ingestion_proposal_state", "state", "proposed_at"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    key: Mapped[str] = mapped_column(String(200), unique=True)
    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), unique=True)
    title: Mapped[str] = mapped_column(Text)
    origin: Mapped[str] = mapped_column(String(20))
    state: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(Text)
    text_hash: Mapped[str] = mapped_column(String(64))
    original: Mapped[str] = mapped_column(Text, default="")
    """Text as it was proposed, if it was edited on acceptance."""
    reading: Mapped[dict[str, Any]] = mapped_column(JSON)
    runs: Mapped[list[Any]] = mapped_column(JSON)
    proposed_by: Mapped[str] = mapped_column(String(200))
    proposed_by_id: Mapped[str] = mapped_column(String(400))
    proposed_at: Mapped[float] = mapped_column(Float)
    """Seconds since the epoch, like the other times."""
    decided_by: Mapped[str] = mapped_column(String(200), default="")
    decided_by_id: Mapped[str] = mapped_column(String(400), default="")
    decided_kind: Mapped[str] = mapped_column(String(20), default="")
    """Kind of the caller who decided: the audit log names it once the page is ingested."""
    decided_at: Mapped[float | None] = mapped_column(Float)
    why: Mapped[str] = mapped_column(Text, default="")
    validated_at: Mapped[float | None] = mapped_column(Float)
    kept_hash: Mapped[str] = mapped_column(String(64), default="")
    """Hash of the text whose reading may have been stored for it; empty if there is none."""
    is_vouched: Mapped[bool] = mapped_column(default=False)
    """True if that reading is approved."""


class SurveyedRow(Base):
    """Text of a document when it was last surveyed for mentions; removed documents stay."""

    __tablename__ = "ingestion_surveyed"

    document_id: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), primary_key=True)
    source: Mapped[str] = mapped_column(Text)
    text_hash: Mapped[str] = mapped_column(String(64), index=True)
    at: Mapped[datetime] = mapped_column(Instant)
    gone_at: Mapped[datetime | None] = mapped_column(Instant)


class MentionRow(Base):
    """Name or link that a document has, or had."""

    __tablename__ = "ingestion_mention"
    __table_args__ = (Index("ix_ingestion_mention_what", "kind", "what"),)

    document_id: Mapped[str] = mapped_column(
        ForeignKey("ingestion_surveyed.document_id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(String(10), primary_key=True)
    what: Mapped[str] = mapped_column(String(300), primary_key=True)
    line: Mapped[int] = mapped_column(Integer)
    said: Mapped[str] = mapped_column(Text)
    in_code: Mapped[bool] = mapped_column(Boolean)
    """True if a name stands in code, and not only in prose."""
    line_hash: Mapped[str] = mapped_column(String(16))
    """Hash of the line's text."""
    line_at: Mapped[datetime] = mapped_column(Instant)
    """Time since which the line has this text."""
    led_to: Mapped[str] = mapped_column(String(MAX_ID_LENGTH), default="", server_default="")
    """Document that the link led to when it last led to one."""
    led_until: Mapped[datetime | None] = mapped_column(Instant)
    """Time when it was seen not to lead there any more."""
    gone_at: Mapped[datetime | None] = mapped_column(Instant)
    """Time when the document was seen not to have it any more."""
