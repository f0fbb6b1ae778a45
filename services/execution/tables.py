"""Tables of the executor."""

from typing import Any

from sqlalchemy import JSON, Float, ForeignKey, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base


class LeasedColumns:
    """Columns of work that one worker at a time carries on; times are seconds since the epoch."""

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    ticket_id: Mapped[str] = mapped_column(String(200))
    phase: Mapped[str] = mapped_column(String(20), index=True)
    """Phase after its latest event, for lists; the events are the source of truth."""
    outcome: Mapped[str | None] = mapped_column(String(20))
    waits_until: Mapped[float | None] = mapped_column(Float)
    """Time before which there is nothing to do, by the executor's clock."""
    waits_for: Mapped[str] = mapped_column(Text, default="")
    """Reason for waiting; once it is over, the reason for its outcome."""
    driver: Mapped[str | None] = mapped_column(String(40))
    """Id of the worker that has the lease; nobody else adds what follows from its events."""
    driven_until: Mapped[float] = mapped_column(Float, default=0.0)
    """Time at which the lease expires, by the clock of the machines."""
    created_at: Mapped[float] = mapped_column(Float)
    ended_at: Mapped[float | None] = mapped_column(Float)


class EventColumns:
    """Columns of an event; rows are only added, and deleted with the run or search."""

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    owner_id: Mapped[str]
    """Id of the run or search."""
    seq: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(String(20))
    at: Mapped[float] = mapped_column(Float)
    by: Mapped[str] = mapped_column(String(200))
    facts: Mapped[dict[str, Any]] = mapped_column(JSON)


class RunRow(LeasedColumns, Base):
    """A run as it was started, with its current phase."""

    __tablename__ = "executor_run"
    __table_args__ = (Index("ix_executor_run_ticket", "ticket_id", "created_at"),)

    run: Mapped[dict[str, Any]] = mapped_column(JSON)
    """The `Run` as JSON."""


class RunEventRow(EventColumns, Base):
    """An event of a run."""

    __tablename__ = "executor_event"
    __table_args__ = (UniqueConstraint("run_id", "seq", name="uq_executor_event_seq"),)

    owner_id: Mapped[str] = mapped_column(
        "run_id", ForeignKey("executor_run.id", ondelete="CASCADE")
    )
    step: Mapped[str] = mapped_column(String(200))
    visit: Mapped[int] = mapped_column(Integer)


class SearchRow(LeasedColumns, Base):
    """A search for the cause of a ticket as it was started, with its current phase."""

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
    """The `Search` as JSON."""
    cause: Mapped[str] = mapped_column(Text, default="")
    """Cause that it found, for lists."""


class SearchEventRow(EventColumns, Base):
    """An event of a search."""

    __tablename__ = "executor_search_event"
    __table_args__ = (UniqueConstraint("search_id", "seq", name="uq_executor_search_event_seq"),)

    owner_id: Mapped[str] = mapped_column(
        "search_id", ForeignKey("executor_search.id", ondelete="CASCADE")
    )
    node: Mapped[int] = mapped_column(Integer)


class IntentRow(Base):
    """A change to be sent once: `prepared`, `sent`, then `observed`, `not sent` or `unknown`."""

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
    """A lock on a target that a run changes; no other run changes it meanwhile."""

    __tablename__ = "executor_lock"

    target: Mapped[str] = mapped_column(String(100), primary_key=True)
    run_id: Mapped[str] = mapped_column(
        ForeignKey("executor_run.id", ondelete="CASCADE"), index=True
    )
    at: Mapped[float] = mapped_column(Float)


class LookCountRow(Base):
    """Number of looks that nobody asked for, by target and minute; `""` counts those at all."""

    __tablename__ = "executor_look_count"

    target: Mapped[str] = mapped_column(String(100), primary_key=True)
    minute: Mapped[int] = mapped_column(Integer, primary_key=True)
    """Minutes since the epoch, by the executor's clock."""
    looks: Mapped[int] = mapped_column(Integer)


class SuspensionRow(Base):
    """The suspension of all runs: at most one row; while it exists, no run goes on."""

    __tablename__ = "executor_suspension"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    by: Mapped[str] = mapped_column(String(200))
    why: Mapped[str] = mapped_column(Text)
    at: Mapped[float] = mapped_column(Float)


class BindingRow(Base):
    """A binding that a person has approved, or that was learned, for a step in any workflow."""

    __tablename__ = "executor_binding"

    step_key: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Key of the step, by its text and citations; see `bindings.binding.step_key`."""
    tool_digest: Mapped[str] = mapped_column(String(64))
    """Digest of the tool's definition: another definition needs another approval."""
    binding: Mapped[dict[str, Any]] = mapped_column(JSON)
    by: Mapped[str] = mapped_column(String(200))
    """Name of the approver; empty for one that was learned: nobody vouches for it."""
    at: Mapped[float] = mapped_column(Float)
    document_id: Mapped[str] = mapped_column(String(1024), index=True, default="")
    """First document that the step cites; empty if the step is not recorded."""
    step: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    """The `Step` as it was when somebody approved the binding; None if it is not recorded."""
    instead_of: Mapped[str] = mapped_column(String(64), default="")
    """Key of the binding that it replaces, whose step is in no reading any more."""


class SummaryRow(Base):
    """A summary of runs; the same runs under the same title are one row."""

    __tablename__ = "executor_summary"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    title: Mapped[str] = mapped_column(String(300))
    state: Mapped[str] = mapped_column(String(20))
    """Value of `SummaryState`."""
    runs: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """List of `SourceRun`."""
    traces: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """List of `Trace`, redacted: shown to a model, and replayed."""
    found: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """List of `MeasuredWorkflow`."""
    refused: Mapped[list[str]] = mapped_column(JSON)
    proposals: Mapped[list[dict[str, str]]] = mapped_column(JSON)
    """List of `id` and `document_id` of each page, once it is proposed."""
    by: Mapped[str] = mapped_column(String(200))
    proposed_by: Mapped[str] = mapped_column(String(200), default="")
    at: Mapped[float] = mapped_column(Float)
