"""Sessions of browsers that are signed in: shared by all processes of one database.

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
from services.kit.access.caller import PLATFORM_KEY, Caller, Kind, acting_as
from services.kit.access.credentials import WrongCredentialError
from services.kit.access.keys import Keys
from services.kit.access.scopes import Role, scopes_of
from services.kit.access.sessions.cookies import SESSION_PREFIX
from services.kit.access.sessions.people import Person, note_person
from services.kit.access.settings import AccessSettings
from services.kit.errors import UnavailableError
from services.kit.sql.database import Database
from services.kit.tables import ApiKeyRow, PersonRow, SessionRow

FRESH_S = 1.0
"""A session is looked up again after so long: one that was ended is refused within this time."""
_USE_NOTED_EVERY_S = 60.0
_REMEMBERED = 1000
_TRIES = 3

_log = structlog.get_logger()


class SessionEndedError(WrongCredentialError):
    """The browser's session is over, was ended, or never was."""


@dataclass(frozen=True)
class SessionInfo:
    """What is told about a session; never its id."""

    name: str
    kind: str
    """`person` or `key`."""
    begun_at: datetime
    used_at: datetime
    expires_at: datetime


class Sessions:
    """The sessions of a database. Safe to share between threads."""

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
        """What people of another issuer, or another platform's key, began is over."""
        self.settings = settings or AccessSettings()
        self._database = database
        self._keys = keys
        self._issuer = issuer
        self._platform_key = platform_key
        self._clock = clock
        self._known: OrderedDict[str, tuple[Caller, float]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, person: Person, *, instead_of: str = "") -> str:
        """A session of the person; returns its id. `instead_of` is the browser's old one."""
        for tried in range(1, _TRIES + 1):
            try:
                with self._database.session() as session:
                    row = note_person(session, person)
                    id_, new = self._made(roles=sorted(person.roles), person_id=row.id)
                    caller = _of_person(row.issuer, row.subject, row.name, person.roles, id_)
                    self._put(session, new, caller, instead_of)
            except IntegrityError:  # somebody of that name came at the same moment
                if tried == _TRIES:
                    raise
            else:
                return id_
        raise AssertionError("unreachable")

    def begin_with_key(self, key: str, *, instead_of: str = "") -> str:
        """A session of a key, which is not kept; returns its id.

        Raises:
            WrongCredentialError: It is no key, revoked, or expired.
        """
        platform = self._platform_key
        if platform is not None and hmac.compare_digest(
            key.encode(), platform.get_secret_value().encode()
        ):
            id_, new = self._made(roles=[])
            new.key_hash, caller = self._hash_of_platform_key(new.digest), PLATFORM_KEY
        else:
            caller = self._keys.caller(key)
            id_, new = self._made(roles=[], key_prefix=caller.id.removeprefix("key:"))
        with self._database.session() as session:
            self._put(session, new, caller, instead_of)
        return id_

    def remembered(self, session_id: str) -> Caller | None:
        """Whose it is, where that was looked up a moment ago; asks no database."""
        with self._lock:
            caller, until = self._known.get(_digest(session_id), (None, 0.0))
            return caller if until > self._clock() else None

    def caller(self, session_id: str, *, is_use: bool = True) -> Caller:
        """Whose it is. What a page does by itself is no use of it.

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
            self._known[row.digest] = caller, self._clock() + FRESH_S
            self._known.move_to_end(row.digest)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return caller

    def end(self, session_id: str) -> None:
        """End it; nothing happens where it is over."""
        row = self._row(_digest(session_id))
        caller = self._caller_of(row, session_id) if row else None
        with self._database.session() as session:
            self._take_away(session, _digest(session_id), caller)

    def end_all_of(self, name: str) -> int:
        """End all sessions of the person or key of that name; how many there were."""
        with self._database.session() as session:
            found = [row.digest for row in session.execute(_ROWS) if _name_of(row) == name]
            session.execute(delete(SessionRow).where(SessionRow.digest.in_(found)))
            if found:
                add_audit(session, "session.ended", f"sessions of {name}", {"count": len(found)})
        with self._lock:
            self._known.clear()
        return len(found)

    def all(self) -> list[SessionInfo]:
        """All that are not over, by name."""
        with self._database.session() as session:
            rows = session.execute(_ROWS.where(*self._is_on())).all()
        found = [
            SessionInfo(
                _name_of(row),
                (Kind.PERSON if row.person else Kind.KEY).value,
                datetime.fromtimestamp(row.begun_at, UTC),
                datetime.fromtimestamp(row.used_at, UTC),
                datetime.fromtimestamp(row.expires_at, UTC),
            )
            for row in rows
            if row.key_prefix is None or self._keys.of_prefix(row.key_prefix)
        ]
        return sorted(found, key=lambda each: (each.name, each.begun_at))

    def _made(
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

    def _put(self, session: Session, row: SessionRow, caller: Caller, instead_of: str) -> None:
        session.execute(delete(SessionRow).where(SessionRow.expires_at <= self._clock()))
        session.add(row)
        with acting_as(caller):
            add_audit(session, "session.begun", f"session of {caller.name}")
        if instead_of:
            self._take_away(session, _digest(instead_of), None)

    def _take_away(self, session: Session, digest: str, caller: Caller | None) -> None:
        session.execute(delete(SessionRow).where(SessionRow.digest == digest))
        if caller is not None:
            with acting_as(caller):
                add_audit(session, "session.ended", f"session of {caller.name}")
        with self._lock:
            self._known.pop(digest, None)

    def _row(self, digest: str) -> Row[*tuple[Any, ...]] | None:
        with self._database.session() as session:
            wanted = _ROWS.where(SessionRow.digest == digest, *self._is_on())
            return session.execute(wanted).one_or_none()

    def _is_on(self) -> tuple[ColumnElement[bool], ...]:
        now = self._clock()
        is_used = SessionRow.used_at > now - self.settings.session_idle_s
        return SessionRow.expires_at > now, is_used

    def _caller_of(self, row: Row[*tuple[Any, ...]], session_id: str) -> Caller | None:
        """Whose session it is; None where the key is revoked, or the issuer another one."""
        if row.person is not None:
            if row.issuer != self._issuer:
                return None
            roles = frozenset(Role(each) for each in row.roles)
            return _of_person(row.issuer, row.subject, row.person, roles, session_id)
        if row.key_prefix is not None:
            caller = self._keys.of_prefix(row.key_prefix)
            return caller and replace(caller, credential=session_id, in_session=True)
        known = self._hash_of_platform_key(row.digest)
        if row.key_hash is None or not hmac.compare_digest(row.key_hash, known):
            return None
        return replace(PLATFORM_KEY, credential=session_id, in_session=True)

    def _hash_of_platform_key(self, digest: str) -> bytes:
        """Some 10 ms; a platform's key may be shorter than ours."""
        key = self._platform_key.get_secret_value() if self._platform_key else secrets.token_hex()
        salt = bytes.fromhex(digest)
        return hashlib.scrypt(key.encode(), salt=salt, n=4096, r=8, p=1, dklen=32)

    def _note_use(self, digest: str, used_at: float) -> None:
        """At most once a minute, and no request fails by it."""
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
        Kind.PERSON,
        f"{issuer}#{subject}",
        scopes_of(roles),
        roles,
        credential=session_id,
        in_session=True,
    )


def _digest(session_id: str) -> str:
    return hashlib.sha256(session_id.encode()).hexdigest()
