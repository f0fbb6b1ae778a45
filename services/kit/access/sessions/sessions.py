"""Sessions of signed-in browsers, shared by all processes of one database.

The browser has an id of 256 random bits, the database its digest. Each sign-in makes a new id, so
that one that somebody put into a browser beforehand is worth nothing. A key's session may do what
the key may, and ends with it; a person's has the roles that they had when they signed in.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import structlog
from pydantic import SecretStr
from sqlalchemy import ColumnElement, Row, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.kit.access.audit import add_audit
from services.kit.access.caller import PLATFORM_KEY, Caller, CallerKind, acting_as
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.keys import Keys
from services.kit.access.scopes import Role, scopes_of_roles
from services.kit.access.sessions.cookies import SESSION_PREFIX
from services.kit.access.sessions.people import Person, record_sign_in
from services.kit.access.settings import AccessSettings
from services.kit.errors import UnavailableError
from services.kit.sql.database import Database
from services.kit.tables import ApiKeyRow, PersonRow, SessionRow

FRESH_S = 1.0
"""Seconds for which a lookup is cached; an ended session is refused within this time."""
_USE_NOTED_EVERY_S = 60.0
_MOST_CACHED = 1000
_TRIES = 3

_log = structlog.get_logger()


class SessionEndedError(WrongCredentialError):
    """The browser's session has expired, was ended, or never existed."""


@dataclass(frozen=True)
class SessionInfo:
    """Description of a session, without its id."""

    name: str
    kind: str
    """Kind of caller: `person` or `key`."""
    begun_at: datetime
    used_at: datetime
    expires_at: datetime


class Sessions:
    """The sessions of a database; thread-safe."""

    def __init__(
        self,
        database: Database,
        keys: Keys,
        *,
        issuer: str | None = None,
        platform_key: SecretStr | None = None,
        settings: AccessSettings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the issuer and the platform's key; sessions begun under others are over."""
        self.settings = settings or AccessSettings()
        self._database = database
        self._keys = keys
        self._issuer = issuer
        self._platform_key = platform_key
        self._clock = clock
        self._callers: OrderedDict[str, tuple[Caller, float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, person: Person, *, instead_of: str = "") -> str:
        """Start a session of a person and return its id; `instead_of` is the browser's old one."""
        for tried in range(1, _TRIES + 1):
            try:
                with self._database.session() as session:
                    row = record_sign_in(session, person)
                    id_, new = self._new_session(roles=sorted(person.roles), person_id=row.id)
                    caller = _of_person(row.issuer, row.subject, row.name, person.roles, id_)
                    self._store(session, new, caller, instead_of)
            except IntegrityError:  # somebody of that name came at the same moment
                if tried == _TRIES:
                    raise
            else:
                return id_
        raise AssertionError("unreachable")

    def begin_with_key(self, key: str, *, instead_of: str = "") -> str:
        """Start a session of a key, which is not stored, and return its id.

        Raises:
            WrongCredentialError: It is no key, revoked, or expired.
        """
        platform = self._platform_key
        if platform is not None and hmac.compare_digest(
            key.encode(), platform.get_secret_value().encode()
        ):
            id_, new = self._new_session(roles=[])
            new.key_hash, caller = self._hash_of_platform_key(new.digest), PLATFORM_KEY
        else:
            caller = self._keys.caller(key)
            id_, new = self._new_session(roles=[], key_prefix=caller.id.removeprefix("key:"))
        with self._database.session() as session:
            self._store(session, new, caller, instead_of)
        return id_

    def cached_caller(self, session_id: str) -> Caller | None:
        """Return the owner of a session if it was looked up a moment ago; asks no database."""
        with self._lock:
            caller, until = self._callers.get(_digest(session_id), (None, 0.0))
            return caller if until > self._clock() else None

    def caller(self, session_id: str, *, is_use: bool = True) -> Caller:
        """Return the owner of a session; a page's own requests do not count as a use.

        Raises:
            SessionEndedError: It is over, or never was.
            UnavailableError: The database did not answer.
        """
        row = self._row(_digest(session_id))
        caller = self._caller_of(row, session_id) if row else None
        if row is None or caller is None:
            raise SessionEndedError("your session has ended: sign in again")
        if not is_use:  # nor shall it keep a use from being noted
            return caller
        self._note_use(row.digest, row.used_at)
        with self._lock:
            self._callers[row.digest] = caller, self._clock() + FRESH_S
            self._callers.move_to_end(row.digest)
            if len(self._callers) > _MOST_CACHED:
                self._callers.popitem(last=False)
        return caller

    def end(self, session_id: str) -> None:
        """End a session; nothing happens if it is over."""
        row = self._row(_digest(session_id))
        caller = self._caller_of(row, session_id) if row else None
        with self._database.session() as session:
            self._delete(session, _digest(session_id), caller)

    def end_all_of(self, name: str) -> int:
        """End all sessions of the person or key of that name and return their number."""
        with self._database.session() as session:
            digests = [row.digest for row in session.execute(_ROWS) if _name_of(row) == name]
            session.execute(delete(SessionRow).where(SessionRow.digest.in_(digests)))
            if digests:
                add_audit(session, "session.ended", f"sessions of {name}", {"count": len(digests)})
        with self._lock:
            self._callers.clear()
        return len(digests)

    def all(self) -> list[SessionInfo]:
        """List the active sessions, by name."""
        with self._database.session() as session:
            rows = session.execute(_ROWS.where(*self._active_conditions())).all()
        infos = [
            SessionInfo(
                _name_of(row),
                (CallerKind.PERSON if row.person else CallerKind.KEY).value,
                datetime.fromtimestamp(row.begun_at, UTC),
                datetime.fromtimestamp(row.used_at, UTC),
                datetime.fromtimestamp(row.expires_at, UTC),
            )
            for row in rows
            if row.key_prefix is None or self._keys.caller_of_prefix(row.key_prefix)
        ]
        return sorted(infos, key=lambda each: (each.name, each.begun_at))

    def _new_session(
        self, *, roles: list[Role], person_id: int | None = None, key_prefix: str | None = None
    ) -> tuple[str, SessionRow]:
        id_, now = f"{SESSION_PREFIX}{secrets.token_urlsafe(32)}", self._clock()
        row = SessionRow(
            digest=_digest(id_),
            person_id=person_id,
            key_prefix=key_prefix,
            roles=[role.value for role in roles],
            begun_at=now,
            used_at=now,
            expires_at=now + self.settings.session_s,
        )
        return id_, row

    def _store(self, session: Session, row: SessionRow, caller: Caller, instead_of: str) -> None:
        session.execute(delete(SessionRow).where(SessionRow.expires_at <= self._clock()))
        session.add(row)
        with acting_as(caller):
            add_audit(session, "session.begun", f"session of {caller.name}")
        if instead_of:
            self._delete(session, _digest(instead_of), None)

    def _delete(self, session: Session, digest: str, caller: Caller | None) -> None:
        session.execute(delete(SessionRow).where(SessionRow.digest == digest))
        if caller is not None:
            with acting_as(caller):
                add_audit(session, "session.ended", f"session of {caller.name}")
        with self._lock:
            self._callers.pop(digest, None)

    def _row(self, digest: str) -> Row[*tuple[Any, ...]] | None:
        with self._database.session() as session:
            wanted = _ROWS.where(SessionRow.digest == digest, *self._active_conditions())
            return session.execute(wanted).one_or_none()

    def _active_conditions(self) -> tuple[ColumnElement[bool], ...]:
        now = self._clock()
        is_used = SessionRow.used_at > now - self.settings.session_idle_s
        return SessionRow.expires_at > now, is_used

    def _caller_of(self, row: Row[*tuple[Any, ...]], session_id: str) -> Caller | None:
        """Return the owner of a session; None if its key is revoked, or the issuer another one."""
        if row.person is not None:
            if row.issuer != self._issuer:
                return None
            roles = frozenset(Role(each) for each in row.roles)
            return _of_person(row.issuer, row.subject, row.person, roles, session_id)
        if row.key_prefix is not None:
            caller = self._keys.caller_of_prefix(row.key_prefix)
            return caller and replace(caller, credential=session_id, in_session=True)
        expected = self._hash_of_platform_key(row.digest)
        if row.key_hash is None or not hmac.compare_digest(row.key_hash, expected):
            return None
        return replace(PLATFORM_KEY, credential=session_id, in_session=True)

    def _hash_of_platform_key(self, digest: str) -> bytes:
        """Hash the platform's key in some 10 ms; it may be shorter than ours."""
        key = self._platform_key.get_secret_value() if self._platform_key else secrets.token_hex()
        salt = bytes.fromhex(digest)
        return hashlib.scrypt(key.encode(), salt=salt, n=4096, r=8, p=1, dklen=32)

    def _note_use(self, digest: str, used_at: float) -> None:
        """Record the use, at most once a minute; a failure does not fail the request."""
        now = self._clock()
        if used_at > now - _USE_NOTED_EVERY_S:
            return
        statement = update(SessionRow).where(SessionRow.digest == digest)
        try:
            with self._database.session() as session:
                session.execute(statement.values(used_at=now))
        except UnavailableError as error:
            _log.warning("kit.session_use_not_noted", reason=str(error))


_ROWS = (
    select(
        *(SessionRow.digest, SessionRow.roles, SessionRow.key_prefix, SessionRow.key_hash),
        *(SessionRow.begun_at, SessionRow.used_at, SessionRow.expires_at),
        *(PersonRow.issuer, PersonRow.subject, PersonRow.name.label("person")),
        ApiKeyRow.name.label("key"),
    )
    .outerjoin(PersonRow, PersonRow.id == SessionRow.person_id)
    .outerjoin(ApiKeyRow, ApiKeyRow.prefix == SessionRow.key_prefix)
)


def _name_of(row: Row[*tuple[Any, ...]]) -> str:
    if row.person is not None:
        return str(row.person)
    return f"key {row.key}" if row.key_prefix is not None else PLATFORM_KEY.name


def _of_person(
    issuer: str, subject: str, name: str, roles: frozenset[Role], session_id: str
) -> Caller:
    return Caller(
        name,
        CallerKind.PERSON,
        f"{issuer}#{subject}",
        scopes_of_roles(roles),
        roles,
        credential=session_id,
        in_session=True,
    )


def _digest(session_id: str) -> str:
    return hashlib.sha256(session_id.encode()).hexdigest()
