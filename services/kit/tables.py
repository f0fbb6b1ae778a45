"""Tables of the kit: the outbox."""

from typing import Any

from sqlalchemy import JSON, Float, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.database import Base


class OutboxRow(Base):
    """A task that is not finished yet. The row goes with the task's own last transaction."""

    __tablename__ = "outbox"

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    """Names the task's purpose, such as `gateway.walk:<ticket id>`: put twice, it is one task."""
    task: Mapped[str] = mapped_column(String(200))
    kwargs: Mapped[dict[str, Any]] = mapped_column(JSON)
    trace_id: Mapped[str] = mapped_column(String(64), default="")
    """The trace of the request that put it."""
    created_at: Mapped[float] = mapped_column(Float)
    """Seconds since the epoch, as the two below."""
    due_at: Mapped[float] = mapped_column(Float, index=True)
    """When it is published (again) unless finished by then; a parked row never is."""
    runner: Mapped[str | None] = mapped_column(String(40))
    """Who works on it; None while nobody does."""
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    reason: Mapped[str] = mapped_column(Text, default="")
    """Why the last attempt failed; a parked row keeps it for whoever looks."""
    parked_at: Mapped[float | None] = mapped_column(Float, index=True)
