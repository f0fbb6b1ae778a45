"""Tables of the kit: outbox, keys, people with their sessions, audit log, learned numbers."""

from typing import Any

from sqlalchemy import (
    JSON,
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
    """A task that is not finished yet. The row goes with the task's own last transaction."""

    __tablename__ = "outbox"

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    """Names the task's purpose, such as `gateway.walk:<ticket id>`: put twice, it is one task."""
    task: Mapped[str] = mapped_column(String(200))
    kwargs: Mapped[dict[str, Any]] = mapped_column(JSON)
    trace_id: Mapped[str] = mapped_column(String(64), default="")
    """Where in its trace it was put; see `tracing.Place`."""
    created_at: Mapped[float] = mapped_column(Float)
    """When it was put, or is to begin where that is later; seconds since the epoch, as below."""
    due_at: Mapped[float] = mapped_column(Float, index=True)
    """When it is published (again) unless finished by then; a parked row never is."""
    runner: Mapped[str | None] = mapped_column(String(40))
    """Who works on it; None while nobody does."""
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    priority: Mapped[int] = mapped_column(Integer, default=6)
    """0 to 9; the lowest is run first."""
    reason: Mapped[str] = mapped_column(Text, default="")
    """Why the last attempt failed; a parked row keeps it for whoever looks."""
    parked_at: Mapped[float | None] = mapped_column(Float, index=True)


class ApiKeyRow(Base):
    """A key, by what is left of it: the prefix that finds it, and a hash. Times as above."""

    __tablename__ = "api_key"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    prefix: Mapped[str] = mapped_column(String(12), unique=True)
    salt: Mapped[bytes] = mapped_column(LargeBinary)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
    scopes: Mapped[list[str]] = mapped_column(JSON)
    created_at: Mapped[float] = mapped_column(Float)
    created_by: Mapped[str] = mapped_column(String(200))
    expires_at: Mapped[float | None] = mapped_column(Float)
    revoked_at: Mapped[float | None] = mapped_column(Float)
    last_used_at: Mapped[float | None] = mapped_column(Float)
    """Written once a minute at most."""


class PersonRow(Base):
    """Somebody who signed in. Issuer and subject stay the same when names change."""

    __tablename__ = "person"
    __table_args__ = (UniqueConstraint("issuer", "subject", name="uq_person_subject"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    issuer: Mapped[str] = mapped_column(String(255))
    subject: Mapped[str] = mapped_column(String(255))
    name: Mapped[str] = mapped_column(String(200), unique=True)
    """As it is shown; who comes later under somebody's name has the subject beside it."""
    first_at: Mapped[float] = mapped_column(Float)
    latest_at: Mapped[float] = mapped_column(Float)
    """When they signed in."""


class SessionRow(Base):
    """A browser that is signed in, by a person or by a key. Its id is in the browser alone."""

    __tablename__ = "session"
    __table_args__ = (Index("ix_session_expires_at", "expires_at"),)

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of the id, which has 256 random bits."""
    person_id: Mapped[int | None] = mapped_column(ForeignKey("person.id", ondelete="CASCADE"))
    key_prefix: Mapped[str | None] = mapped_column(String(12))
    """Of the key; None of a person's session and of the platform's key."""
    key_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Of the platform's key, with the digest for salt."""
    roles: Mapped[list[str]] = mapped_column(JSON)
    """Of the person, when they signed in."""
    begun_at: Mapped[float] = mapped_column(Float)
    used_at: Mapped[float] = mapped_column(Float)
    """Written once a minute at most."""
    expires_at: Mapped[float] = mapped_column(Float)


class SignInRow(Base):
    """A sign-in that was begun at the issuer; whoever ends it takes the row away."""

    __tablename__ = "sign_in"
    __table_args__ = (Index("ix_sign_in_expires_at", "expires_at"),)

    state: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of the state, and so is `browser` of what the browser's cookie says."""
    browser: Mapped[str] = mapped_column(String(64))
    nonce: Mapped[str] = mapped_column(String(64))
    verifier: Mapped[str] = mapped_column(String(64))
    redirect_uri: Mapped[str] = mapped_column(Text)
    leads_to: Mapped[str] = mapped_column(Text)
    """The page that is shown then."""
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
    """How the caller was known: `key`, `person`, `source`, `local`, `platform`."""
    caller_id: Mapped[str] = mapped_column(String(400))
    """Of the key or person; names may change, this does not."""
    action: Mapped[str] = mapped_column(String(60))
    """Such as `reading.approved`."""
    subject: Mapped[str] = mapped_column(String(400))
    """What was changed, such as `ticket <id>`."""
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    request_id: Mapped[str] = mapped_column(String(64))


class FitRow(Base):
    """Numbers that were learned on site; of each name one serves at most, and one is tried."""

    __tablename__ = "fit"
    __table_args__ = (Index("ix_fit_name", "name", "state"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    """Sorts by time."""
    name: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(10))
    body: Mapped[str] = mapped_column(Text)
    """The `FittedFile` as JSON."""
    basis: Mapped[dict[str, Any]] = mapped_column(JSON)
    """What it was learned from and how it did: counts, figures, ids of tickets, no text."""
    made_at: Mapped[float] = mapped_column(Float)
    changed_at: Mapped[float] = mapped_column(Float)
    """When it came to its state."""
