"""The people who came: identified by issuer and subject, each with a unique name."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace

import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from services.kit.access.caller import Caller
from services.kit.access.keys import pass_keys
from services.kit.access.scopes import Role
from services.kit.errors import UnavailableError
from services.kit.sql.database import Database
from services.kit.tables import PersonRow

MOST_SUBJECT = 255
_MOST_NAME = 200
_MOST_CACHED = 10_000

_log = structlog.get_logger()


@dataclass(frozen=True)
class Person:
    """A person as described by their issuer."""

    issuer: str
    subject: str
    """Subject, of at most `MOST_SUBJECT` characters."""
    name: str
    roles: frozenset[Role]


class People:
    """Recorder of the people who come with tokens, each once in a process; thread-safe."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recorded: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = threading.Lock()

    def record(self, caller: Caller) -> Caller:
        """Record a person at the first request under a name; return them under their unique one.

        A failure does not fail the request: the next one records them.
        """
        person = caller.id, caller.name
        with self._lock:
            if person in self._recorded:
                return replace(caller, name=self._recorded[person])
        issuer, _, subject = caller.id.partition("#")
        if len(issuer) > MOST_SUBJECT or len(subject) > MOST_SUBJECT:
            return caller
        try:
            with self._database.session() as session:
                named = Person(issuer, subject, caller.name, caller.roles)
                name = record_sign_in(session, named).name
        except (IntegrityError, UnavailableError) as error:
            _log.warning("kit.person_not_recorded", reason=str(error)[:200])
            return caller
        with self._lock:
            self._recorded[person] = name
            if len(self._recorded) > _MOST_CACHED:
                self._recorded.popitem(last=False)
        return replace(caller, name=name)


def record_sign_in(session: Session, person: Person) -> PersonRow:
    """Create or update the row of a person who signs in; keys of theirs by name are theirs by id.

    Raises:
        IntegrityError: Another sign-in took the same name at this moment; trying again helps.
    """
    now = time.time()
    whose = (PersonRow.issuer == person.issuer, PersonRow.subject == person.subject)
    row = session.scalar(select(PersonRow).where(*whose))
    name = _free_name(session, person, row.id if row else None)
    if row is None:
        row = PersonRow(issuer=person.issuer, subject=person.subject, first_at=now)
        session.add(row)
    row.name, row.latest_at = name, now
    session.flush()
    pass_keys(session, name, person.subject)
    return row


def _free_name(session: Session, person: Person, own_id: int | None) -> str:
    """Return the person's name, with subject and issuer if somebody else has it."""
    short = person.name[:100].rstrip()
    wanted = (
        person.name[:_MOST_NAME],
        f"{short} ({person.subject[:90]})",
        f"{short[:40]} ({person.subject[:60]} of {person.issuer[:90]})",
    )
    for name in wanted:
        others = select(PersonRow.id).where(
            func.lower(PersonRow.name) == name.lower(), PersonRow.id != (own_id or 0)
        )
        if session.scalar(others.limit(1)) is None:
            return name
    return wanted[-1]
