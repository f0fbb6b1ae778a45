"""Tables of the readings. A text is identified by its hash, not by its documents."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base, Instant

HASH_LENGTH = 64
DOCUMENT_ID_LENGTH = 1024


class TextRow(Base):
    """A text that was read, with the numbers of what is served of it."""

    __tablename__ = "procedure_text"

    text_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    reader: Mapped[str] = mapped_column(String(20))
    """The reader of what is served beside approved procedures; empty if nothing is left."""
    procedures: Mapped[int] = mapped_column(Integer)
    approved: Mapped[int] = mapped_column(Integer)
    """The number of approved procedures."""
    checklists: Mapped[int] = mapped_column(Integer, server_default="0")
    """The number of these that are approved as a checklist alone."""
    doubts: Mapped[int] = mapped_column(Integer)
    was_approved: Mapped[bool]
    """True if an earlier text of the page was approved, and this one not as a whole."""
    updated_at: Mapped[datetime] = mapped_column(Instant)
    prepared: Mapped[str | None] = mapped_column(String(16))
    """The version that prepared what is served now; None since it last changed."""


class BoxRow(Base):
    """A person's correction of a block of a page: that it is a step, or none."""

    __tablename__ = "procedure_box"

    document_id: Mapped[str] = mapped_column(String(DOCUMENT_ID_LENGTH), primary_key=True)
    key: Mapped[str] = mapped_column(String(40), primary_key=True)
    """The block's key, which stays while the block does."""
    is_step: Mapped[bool]
    who: Mapped[str] = mapped_column(String(200))
    updated_at: Mapped[datetime] = mapped_column(Instant)
    words: Mapped[str] = mapped_column(String(200), server_default="")
    """The block's first words, to find it when it has moved; empty for old corrections."""
    headings: Mapped[list[str]] = mapped_column(JSON, server_default="[]")
    """The headings above the block."""
    was_step: Mapped[bool | None]
    """True if its form made it a step until then; None for old corrections."""


class ReadingRow(Base):
    """The reading of a text by one kind of reader."""

    __tablename__ = "procedure_reading"
    __table_args__ = (Index("ix_procedure_reading_made_by", "reader", "version", "model"),)

    text_hash: Mapped[str] = mapped_column(
        ForeignKey("procedure_text.text_hash", ondelete="CASCADE"), primary_key=True
    )
    reader: Mapped[str] = mapped_column(String(20), primary_key=True)
    version: Mapped[str] = mapped_column(String(200))
    model: Mapped[str] = mapped_column(String(200))
    reading: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The `Reading` in its short form."""
    updated_at: Mapped[datetime] = mapped_column(Instant)


class ApprovalRow(Base):
    """A procedure that a person has checked, as it was then."""

    __tablename__ = "procedure_approval"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    text_hash: Mapped[str] = mapped_column(
        ForeignKey("procedure_text.text_hash", ondelete="CASCADE"), index=True
    )
    procedure: Mapped[dict[str, Any]] = mapped_column(JSON)
    who: Mapped[str] = mapped_column(String(200))
    at: Mapped[datetime] = mapped_column(Instant)
    kind: Mapped[str] = mapped_column(String(20), server_default="workflow")
    """The `ApprovalKind`."""


class HistoryRow(Base):
    """One event in the history of a text's readings."""

    __tablename__ = "procedure_history"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    text_hash: Mapped[str] = mapped_column(
        ForeignKey("procedure_text.text_hash", ondelete="CASCADE"), index=True
    )
    at: Mapped[datetime] = mapped_column(Instant)
    who: Mapped[str] = mapped_column(String(200))
    what: Mapped[str] = mapped_column(String(20))
    detail: Mapped[str] = mapped_column(Text)
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    """People's readings and approvals before the event; None if it cannot be undone."""
    undone: Mapped[bool]


class TicketDoubtRow(Base):
    """A fault that an engineer found in a text while working on a ticket."""

    __tablename__ = "procedure_ticket_doubt"

    ticket: Mapped[str] = mapped_column(String(64), primary_key=True)
    step: Mapped[str] = mapped_column(String(400), primary_key=True)
    text_hash: Mapped[str] = mapped_column(
        ForeignKey("procedure_text.text_hash", ondelete="CASCADE"), index=True
    )
    node: Mapped[str] = mapped_column(String(400))
    text: Mapped[str] = mapped_column(Text)
    instead: Mapped[str] = mapped_column(Text)
    word: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(String(200))
    at: Mapped[datetime] = mapped_column(Instant)
    settled: Mapped[bool]


class AnsweredQuestionRow(Base):
    """A question about a text that a person has answered: what stands at its block is right."""

    __tablename__ = "procedure_answered_question"

    text_hash: Mapped[str] = mapped_column(
        ForeignKey("procedure_text.text_hash", ondelete="CASCADE"), primary_key=True
    )
    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    block: Mapped[str] = mapped_column(String(80))


class AnswerRow(Base):
    """A model's answer about lines of a text; the text need not have been read."""

    __tablename__ = "procedure_answer"

    key: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    text_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), index=True)
    chances: Mapped[list[float]] = mapped_column(JSON)
    updated_at: Mapped[datetime] = mapped_column(Instant)


class PreparedRow(Base):
    """The part of a workflow's scores that depends only on its one page."""

    __tablename__ = "procedure_prepared"

    key: Mapped[str] = mapped_column(String(HASH_LENGTH), primary_key=True)
    text_hash: Mapped[str] = mapped_column(String(HASH_LENGTH), index=True)
    version: Mapped[str] = mapped_column(String(16))
    """The version that made the record."""
    record: Mapped[str] = mapped_column(Text)
