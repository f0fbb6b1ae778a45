"""API keys: created once, shown once, stored as a hash.

A key is `fx_<prefix>_<secret>`. The prefix finds its row and is shown in lists; of the secret only
a salted scrypt hash is kept. Rows are never deleted, so that a key's actions stay attributable.
"""

import hashlib
import hmac
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog
from sqlalchemy import or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.kit.access.audit import add_audit
from services.kit.access.caller import Caller, CallerKind, current_caller
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.scopes import KEY_SCOPES, Scope, scopes_of_key
from services.kit.errors import ConflictError, InvalidInputError, NotFoundError, UnavailableError
from services.kit.sql.database import Database
from services.kit.tables import ApiKeyRow, PersonRow, TeachingRow

FRESH_S = 1.0
"""Seconds for which a lookup is cached; a revoked key is refused within this time."""
_USE_NOTED_EVERY_S = 60.0
_MOST_CACHED = 1000
_DAY_S = 86_400

_KEY = re.compile(r"fx_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,79}")
_LEADING = "fx_"

_log = structlog.get_logger()


class KeyNotFoundError(NotFoundError):
    """No key has this name."""


class KeyNameTakenError(ConflictError):
    """A key of this name exists already; a revoked one keeps its name."""


class UnusableKeyNameError(InvalidInputError):
    """The name or the scopes of a key cannot be used."""


@dataclass(frozen=True)
class KeyInfo:
    """Description of a key, without its secret."""

    name: str
    prefix: str
    scopes: tuple[str, ...]
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    owner: str = ""
    """Subject or name of the person who holds it."""

    @property
    def state(self) -> str:
        """State of the key: `active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        is_over = self.expires_at is not None and self.expires_at <= datetime.now(UTC)
        return "expired" if is_over else "active"


@dataclass
class _VerifiedKey:
    """A key whose hash was verified; whether it is still valid is looked up each time."""

    caller: Caller
    until: float


class Keys:
    """The keys of a database; thread-safe."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.time) -> None:
        """Take a database with the table: `database.migrate("kit")`."""
        self._database = database
        self._clock = clock
        self._verified: OrderedDict[str, _VerifiedKey] = OrderedDict()
        self._lock = threading.Lock()

    def create(
        self, name: str, scopes: frozenset[Scope], *, days: float | None = None, owner: str = ""
    ) -> str:
        """Create a key that expires after so many days; it is returned here and nowhere else.

        `owner` is the person who holds it, as `set_owner` has it.

        Raises:
            UnusableKeyNameError: The name or the scopes cannot be used.
            KeyNameTakenError: There is such a key.
        """
        if not _NAME.fullmatch(name) or not scopes or scopes - KEY_SCOPES:
            raise UnusableKeyNameError(
                "a key has a name of up to 80 letters, digits and ._@-, and scopes of "
                f"{', '.join(sorted(KEY_SCOPES))}: a key never approves"
            )
        ends = self._clock() + days * _DAY_S if days is not None else None
        row, key = self._new_key(name, sorted(scopes), ends)
        try:
            with self._database.session() as session:
                row.owner = _subject_of(session, owner)
                session.add(row)
                add_audit(session, "key.created", f"key {name}", after=_audit_state(row))
        except IntegrityError as error:
            raise KeyNameTakenError(
                f"there is a key {name!r}: rotate it, or take another name"
            ) from error
        return key

    def rotate(self, name: str, *, days: float | None = None) -> str:
        """Replace the key of that name by a new one with the same scopes; the old one ends now.

        Raises:
            KeyNotFoundError: No key has that name, or it is revoked.
        """
        with self._database.session() as session:
            row = self._row(session, name)
            before = _audit_state(row)
            ends = self._clock() + days * _DAY_S if days is not None else row.expires_at
            new, key = self._new_key(row.name, row.scopes, ends)
            row.prefix, row.salt, row.hash = new.prefix, new.salt, new.hash
            row.expires_at, row.last_used_at = ends, None
            add_audit(session, "key.rotated", f"key {row.name}", before, _audit_state(row))
        self._clear_cache()
        return key

    def revoke(self, name: str) -> None:
        """Revoke a key for good; raises as `rotate` does."""
        with self._database.session() as session:
            row = self._row(session, name)
            before = _audit_state(row)
            row.revoked_at = self._clock()
            add_audit(session, "key.revoked", f"key {row.name}", before, _audit_state(row))
        self._clear_cache()

    def set_owner(self, name: str, owner: str) -> None:
        """Name the person who holds a key; all that it taught is theirs from then on.

        A name of somebody who signed in stands for their subject; an empty one for nobody. Raises
        as `rotate` does.
        """
        with self._database.session() as session:
            _give(session, self._row(session, name), _subject_of(session, owner))
        self._clear_cache()

    def list(self) -> list[KeyInfo]:
        """List all keys that ever existed, by name."""
        with self._database.session() as session:
            return [_info(row) for row in session.scalars(select(ApiKeyRow).order_by("name"))]

    def has_any(self) -> bool:
        """Tell whether there ever was a key."""
        with self._database.session() as session:
            return session.scalar(select(ApiKeyRow.id).limit(1)) is not None

    def cached_caller(self, key: str) -> Caller | None:
        """Return the owner of a key if it was looked up a moment ago; asks no database."""
        with self._lock:
            entry = self._verified.get(_digest(key))
            return entry.caller if entry and entry.until > self._clock() else None

    def caller(self, key: str) -> Caller:
        """Return the owner of a key.

        Raises:
            WrongCredentialError: It is no key, revoked, or expired.
            UnavailableError: The database did not answer.
        """
        key_match = _KEY.fullmatch(key)
        row = self._active(key_match[1]) if key_match else None
        if row is None or not self._verify(row, key):
            raise WrongCredentialError("the key is unknown, revoked or expired")
        caller = replace(_caller_of(row), credential=key)
        until = min(self._clock() + FRESH_S, row.expires_at or float("inf"))
        with self._lock:
            self._verified[_digest(key)] = _VerifiedKey(caller, until)
            self._verified.move_to_end(_digest(key))
            if len(self._verified) > _MOST_CACHED:
                self._verified.popitem(last=False)
        self._note_use(row)
        return caller

    def caller_of_prefix(self, prefix: str) -> Caller | None:
        """Return the owner of the key with this prefix, for its session; None if it has ended."""
        row = self._active(prefix)
        return _caller_of(row) if row else None

    def _active(self, prefix: str) -> ApiKeyRow | None:
        now = self._clock()
        statement = select(ApiKeyRow).where(
            ApiKeyRow.prefix == prefix,
            ApiKeyRow.revoked_at.is_(None),
            or_(ApiKeyRow.expires_at.is_(None), ApiKeyRow.expires_at > now),
        )
        with self._database.session() as session:
            return session.scalar(statement)

    def _verify(self, row: ApiKeyRow, key: str) -> bool:
        """Verify a key; its slow hash is computed once in this process."""
        with self._lock:
            cached = self._verified.get(_digest(key))
        if cached is not None and cached.caller.id == f"key:{row.prefix}":
            return True
        return hmac.compare_digest(_slow_hash(key, row.salt), row.hash)

    def _clear_cache(self) -> None:
        with self._lock:
            self._verified.clear()

    def _note_use(self, row: ApiKeyRow) -> None:
        """Record the use, at most once a minute; a failure does not fail the request."""
        now = self._clock()
        late = now - _USE_NOTED_EVERY_S
        if row.last_used_at is not None and row.last_used_at > late:
            return
        is_due = or_(ApiKeyRow.last_used_at.is_(None), ApiKeyRow.last_used_at <= late)
        statement = update(ApiKeyRow).where(ApiKeyRow.id == row.id, is_due)
        try:
            with self._database.session() as session:
                session.execute(statement.values(last_used_at=now))
        except UnavailableError as error:
            _log.warning("kit.key_use_not_noted", key=row.name, reason=str(error))

    def _row(self, session: Session, name: str) -> ApiKeyRow:
        is_active = ApiKeyRow.revoked_at.is_(None)
        is_named = ApiKeyRow.name == name
        if name.startswith(_LEADING) and not session.scalar(select(ApiKeyRow.id).where(is_named)):
            is_named = ApiKeyRow.prefix == name.removeprefix(_LEADING)
        mine = update(ApiKeyRow).where(is_named, is_active)
        # Changed before it is read: nobody else changes it until this transaction ends.
        row: ApiKeyRow | None = session.scalar(
            mine.values(name=ApiKeyRow.name).returning(ApiKeyRow)
        )
        if row is None:
            raise KeyNotFoundError(f"no active key has the name {name[:80]!r}")
        return row

    def _new_key(
        self, name: str, scopes: Sequence[str], expires_at: float | None
    ) -> tuple[ApiKeyRow, str]:
        prefix, salt = secrets.token_hex(6), secrets.token_bytes(16)
        key = f"{_LEADING}{prefix}_{secrets.token_urlsafe(32)}"
        row = ApiKeyRow(
            name=name,
            prefix=prefix,
            salt=salt,
            hash=_slow_hash(key, salt),
            scopes=list(scopes),
            created_at=self._clock(),
            created_by=current_caller().name,
            expires_at=expires_at,
        )
        return row, key


def pass_keys(session: Session, name: str, subject: str) -> None:
    """Make the keys that were given to somebody by this name those of the subject at the issuer.

    What they taught is the subject's from then on. A name that is itself the subject of somebody
    is theirs.
    """
    is_subject = select(PersonRow.id).where(PersonRow.subject == name)
    if name == subject or session.scalar(is_subject.limit(1)) is not None:
        return
    for row in session.scalars(select(ApiKeyRow).where(ApiKeyRow.owner == name)).all():
        _give(session, row, subject)


def _give(session: Session, row: ApiKeyRow, owner: str) -> None:
    """Change whose a key is, and whose its teaching so far is."""
    before = _audit_state(row)
    row.owner = owner
    caller = _caller_of(row)
    mine = update(TeachingRow).where(TeachingRow.caller == caller.name)
    session.execute(mine.values(teacher=caller.teacher))
    add_audit(session, "key.owned", f"key {row.name}", before, _audit_state(row))


def _caller_of(row: ApiKeyRow) -> Caller:
    scopes = scopes_of_key(frozenset(map(Scope, row.scopes)))
    id_ = f"key:{row.prefix}"
    return Caller(f"key {row.name}", CallerKind.KEY, id_, scopes, owner=row.owner)


def _subject_of(session: Session, owner: str) -> str:
    """Return the subject of the person who signed in under a name; else what was written."""
    named = select(PersonRow.subject).where(PersonRow.name == owner)
    return session.scalar(named) or owner.strip()[:255]


def _slow_hash(key: str, salt: bytes) -> bytes:
    """Hash a key in some 10 ms and 4 MB; its 256 random bits cannot be guessed from a list."""
    return hashlib.scrypt(key.encode(), salt=salt, n=4096, r=8, p=1, dklen=32)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _audit_state(row: ApiKeyRow) -> dict[str, object]:
    """Return the state of a key for the audit log."""
    return {
        "prefix": row.prefix,
        "scopes": list(row.scopes),
        "owner": row.owner or "",
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
    }


def _info(row: ApiKeyRow) -> KeyInfo:
    return KeyInfo(
        name=row.name,
        prefix=row.prefix,
        scopes=tuple(row.scopes),
        created_at=datetime.fromtimestamp(row.created_at, UTC),
        created_by=row.created_by,
        expires_at=_moment(row.expires_at),
        revoked_at=_moment(row.revoked_at),
        last_used_at=_moment(row.last_used_at),
        owner=row.owner,
    )


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
