"""Tables of the kit: outbox, keys, people, sessions, audit log, learned numbers and teachers."""

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from services.kit.sql.database import Base


class OutboxRow(Base):
    """An unfinished task; its own last transaction deletes the row."""

    __tablename__ = "outbox"

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    """Idempotency key, such as `gateway.walk:<ticket id>`: put twice, it is one task."""
    task: Mapped[str] = mapped_column(String(200))
    kwargs: Mapped[dict[str, Any]] = mapped_column(JSON)
    trace_id: Mapped[str] = mapped_column(String(64), default="")
    """Position in its trace; see `tracing.TraceContext`."""
    created_at: Mapped[float] = mapped_column(Float)
    """Time at which it was put, or is to begin if that is later; seconds since the epoch, as
    below.
    """
    due_at: Mapped[float] = mapped_column(Float, index=True)
    """Time at which it is published (again) unless finished by then; a parked row never is."""
    runner: Mapped[str | None] = mapped_column(String(40))
    """Id of the worker that has claimed it; None while it is unclaimed."""
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    priority: Mapped[int] = mapped_column(Integer, default=6)
    """Priority, 0 to 9; the lowest is run first."""
    reason: Mapped[str] = mapped_column(Text, default="")
    """Reason why the last attempt failed; a parked row keeps it for its readers."""
    parked_at: Mapped[float | None] = mapped_column(Float, index=True)


class ApiKeyRow(Base):
    """A key without its secret: the prefix that finds it, and a hash. Times as above."""

    __tablename__ = "api_key"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    prefix: Mapped[str] = mapped_column(String(12), unique=True)
    salt: Mapped[bytes] = mapped_column(LargeBinary)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
    scopes: Mapped[list[str]] = mapped_column(JSON)
    created_at: Mapped[float] = mapped_column(Float)
    created_by: Mapped[str] = mapped_column(String(200))
    owner: Mapped[str] = mapped_column(String(255), default="", server_default="")
    """Subject or name of the person who holds it; empty if nobody does."""
    expires_at: Mapped[float | None] = mapped_column(Float)
    revoked_at: Mapped[float | None] = mapped_column(Float)
    last_used_at: Mapped[float | None] = mapped_column(Float)
    """Time of the last use, written once a minute at most."""


class PersonRow(Base):
    """A person who signed in. Issuer and subject stay the same when names change."""

    __tablename__ = "person"
    __table_args__ = (UniqueConstraint("issuer", "subject", name="uq_person_subject"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    issuer: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(255))
    name: Mapped[str] = mapped_column(String(200), unique=True)
    """Name as it is shown; a later person of the same name has the subject beside it."""
    first_at: Mapped[float] = mapped_column(Float)
    latest_at: Mapped[float] = mapped_column(Float)
    """Time of the latest sign-in."""


class SessionRow(Base):
    """A signed-in browser, of a person or of a key. Only the browser has its id."""

    __tablename__ = "session"
    __table_args__ = (Index("ix_session_expires_at", "expires_at"),)

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of the id, which has 256 random bits."""
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"))
    key_prefix: Mapped[str | None] = mapped_column(String(12))
    """Prefix of the key; None for a person's session and for the platform's key."""
    key_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Hash of the platform's key, with the digest for salt."""
    roles: Mapped[list[str]] = mapped_column(JSON)
    """Roles of the person at sign-in."""
    begun_at: Mapped[float] = mapped_column(Float)
    used_at: Mapped[float] = mapped_column(Float)
    """Time of the last use, written once a minute at most."""
    expires_at: Mapped[float] = mapped_column(Float)


class SignInRow(Base):
    """A started sign-in at the issuer; finishing it deletes the row."""

    __tablename__ = "sign_in"
    __table_args__ = (Index("ix_sign_in_expires_at", "expires_at"),)

    state: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of the state; `browser` is that of the browser's cookie."""
    browser: Mapped[str] = mapped_column(String(64))
    nonce: Mapped[str] = mapped_column(String(64))
    verifier: Mapped[str] = mapped_column(String(64))
    redirect_uri: Mapped[str] = mapped_column(Text)
    leads_to: Mapped[str] = mapped_column(Text)
    """Page that is shown after the sign-in."""
    expires_at: Mapped[float] = mapped_column(Float)


class AuditRow(Base):
    """One change. The database refuses to change or delete a line."""

    __tablename__ = "audit"
    __table_args__ = (
        Index("ix_audit_subject", "subject", "id"),
        Index("ix_audit_who", "who", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    at: Mapped[float] = mapped_column(Float)
    who: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(20))
    """Kind of caller: `key`, `person`, `source`, `local` or `platform`."""
    caller_id: Mapped[str] = mapped_column(String(400))
    """Id of the key or person; it stays the same when names change."""
    action: Mapped[str] = mapped_column(String(60))
    """Name of the change, such as `reading.approved`."""
    subject: Mapped[str] = mapped_column(String(400))
    """The thing that was changed, such as `ticket <id>`."""
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    request_id: Mapped[str] = mapped_column(String(64))


class FitRow(Base):
    """Numbers learned on site; of each name at most one serves, and at most one is in shadow."""

    __tablename__ = "fit"
    __table_args__ = (Index("ix_fit_name", "name", "state"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    """Id that sorts by time."""
    name: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(10))
    body: Mapped[str] = mapped_column(Text)
    """The `FittedFile` as JSON."""
    basis: Mapped[dict[str, Any]] = mapped_column(JSON)
    """Training data and results: counts, figures, ids of tickets, no text."""
    made_at: Mapped[float] = mapped_column(Float)
    changed_at: Mapped[float] = mapped_column(Float)
    """Time of the last change of state."""


class TeachingRow(Base):
    """Work of one caller on one subject that the platform learns from."""

    __tablename__ = "teaching"
    __table_args__ = (Index("ix_teaching_teacher", "teacher", "at"),)

    subject: Mapped[str] = mapped_column(String(400), primary_key=True)
    """The thing that was worked on, such as `ticket <id>`."""
    caller_id: Mapped[str] = mapped_column(String(400), primary_key=True)
    caller: Mapped[str] = mapped_column(String(200))
    """Name of the caller at that time."""
    teacher: Mapped[str] = mapped_column(String(400))
    """Person or source that the caller counts as."""
    at: Mapped[float] = mapped_column(Float)
    """Time of the first work on it."""
    counts: Mapped[bool] = mapped_column(Boolean)
    """False beyond the number of subjects that a teacher may teach a day."""


class TeachingWithdrawalRow(Base):
    """A caller whose teaching up to a moment is taken back."""

    __tablename__ = "teaching_withdrawal"

    caller_id: Mapped[str] = mapped_column(String(400), primary_key=True)
    caller: Mapped[str] = mapped_column(String(200))
    at: Mapped[float] = mapped_column(Float)
    by: Mapped[str] = mapped_column(String(200))
