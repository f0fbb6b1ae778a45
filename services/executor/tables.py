"""Tables of the executor."""

from typing import Any

from sqlalchemy import JSON, Float, ForeignKey, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base


class DrivenColumns:
    """Of what one worker at a time carries on. Times are seconds since the epoch."""

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    ticket_id: Mapped[str] = mapped_column(String(200))
    phase: Mapped[str] = mapped_column(String(20), index=True)
    """Of its latest event, for lists; what counts are the events."""
    outcome: Mapped[str | None] = mapped_column(String(20))
    waits_until: Mapped[float | None] = mapped_column(Float)
    """Until when nothing is to be done, by the executor's clock."""
    waits_for: Mapped[str] = mapped_column(Text, default="")
    """What it waits for; of one that is over, why it ended so."""
    driver: Mapped[str | None] = mapped_column(String(40))
    """Which worker drives it; nobody else adds what follows from its events."""
    driven_until: Mapped[float] = mapped_column(Float, default=0.0)
    """When that worker counts as gone, by the clock of the machines."""
    created_at: Mapped[float] = mapped_column(Float)
    ended_at: Mapped[float | None] = mapped_column(Float)


class EventColumns:
    """Of what happened in it. Rows are added and never changed; they go with what they are of."""

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    seq: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(String(20))
    at: Mapped[float] = mapped_column(Float)
    by: Mapped[str] = mapped_column(String(200))
    facts: Mapped[dict[str, Any]] = mapped_column(JSON)


class RunRow(DrivenColumns, Base):
    """A run as it was started, and where it stands."""

    __tablename__ = "executor_run"
    __table_args__ = (Index("ix_executor_run_ticket", "ticket_id", "created_at"),)

    run: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The `Run`."""


class RunEventRow(EventColumns, Base):
    """An event of a run."""

    __tablename__ = "executor_event"
    __table_args__ = (UniqueConstraint("run_id", "seq", name="uq_executor_event_seq"),)

    run_id: Mapped[str] = mapped_column(ForeignKey("executor_run.id", ondelete="CASCADE"))
    step: Mapped[str] = mapped_column(String(200))
    visit: Mapped[int] = mapped_column(Integer)


class SearchRow(DrivenColumns, Base):
    """A search for the cause of a ticket as it was started, and where it stands."""

    __tablename__ = "executor_search"
    __table_args__ = (
        Index("ix_executor_search_ticket", "ticket_id", "created_at"),
        Index(
            "uq_executor_search_under_way",
            "ticket_id",
            unique=True,
            sqlite_where=text("outcome IS NULL"),
            postgresql_where=text("outcome IS NULL"),
        ),
    )

    search: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The `Search`."""
    cause: Mapped[str] = mapped_column(Text, default="")
    """What it found, for lists."""


class SearchEventRow(EventColumns, Base):
    """An event of a search."""

    __tablename__ = "executor_search_event"
    __table_args__ = (UniqueConstraint("search_id", "seq", name="uq_executor_search_event_seq"),)

    search_id: Mapped[str] = mapped_column(ForeignKey("executor_search.id", ondelete="CASCADE"))
    node: Mapped[int] = mapped_column(Integer)


class IntentRow(Base):
    """A change that is sent once: `prepared`, `sent`, then `observed`, `not sent` or `unknown`."""

    __tablename__ = "executor_intent"

    run_id: Mapped[str] = mapped_column(
        ForeignKey("executor_run.id", ondelete="CASCADE"), primary_key=True
    )
    step: Mapped[str] = mapped_column(String(200), primary_key=True)
    visit: Mapped[int] = mapped_column(Integer, primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    target: Mapped[str] = mapped_column(String(100), index=True)
    state: Mapped[str] = mapped_column(String(20))
    at: Mapped[float] = mapped_column(Float)


class TargetLockRow(Base):
    """A target that a run changes; no other run does meanwhile."""

    __tablename__ = "executor_lock"

    target: Mapped[str] = mapped_column(String(100), primary_key=True)
    run_id: Mapped[str] = mapped_column(
        ForeignKey("executor_run.id", ondelete="CASCADE"), index=True
    )
    at: Mapped[float] = mapped_column(Float)


class SuspensionRow(Base):
    """There is at most one: while it is there, no run goes on."""

    __tablename__ = "executor_suspension"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    by: Mapped[str] = mapped_column(String(200))
    why: Mapped[str] = mapped_column(Text)
    at: Mapped[float] = mapped_column(Float)


class BindingRow(Base):
    """A binding that a person has approved, or that was learned, for a step wherever it stands."""

    __tablename__ = "executor_binding"

    step_key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Names the step by what it says and cites; see `bindings.binding.step_key`."""
    tool_digest: Mapped[str] = mapped_column(String(64))
    """Of the tool's definition: another one needs another approval."""
    binding: Mapped[dict[str, Any]] = mapped_column(JSON)
    by: Mapped[str] = mapped_column(String(200))
    """Empty of one that was learned: nobody vouches for it."""
    at: Mapped[float] = mapped_column(Float)
    document_id: Mapped[str] = mapped_column(String(1024), index=True, default="")
    """The first document that the step cites; empty where the step is not known."""
    step: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    """The `Step` as it was when somebody approved the binding; None where it is not known."""
    instead_of: Mapped[str] = mapped_column(String(64), default="")
    """Key of the step of a reading that is gone, for which the binding had been approved before."""


class SummaryRow(Base):
    """What was learned from runs; the same runs under the same title are one row."""

    __tablename__ = "executor_summary"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    title: Mapped[str] = mapped_column(String(300))
    state: Mapped[str] = mapped_column(String(20))
    """A `SummaryState`."""
    runs: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Each a `SourceRun`."""
    traces: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Each a `Trace`, redacted: what a model is shown, and what is replayed."""
    found: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Each a `Measured`."""
    refused: Mapped[list[str]] = mapped_column(JSON)
    proposals: Mapped[list[dict[str, str]]] = mapped_column(JSON)
    """Of each page `id` and `document_id`, once it is proposed."""
    by: Mapped[str] = mapped_column(String(200))
    proposed_by: Mapped[str] = mapped_column(String(200), default="")
    at: Mapped[float] = mapped_column(Float)
