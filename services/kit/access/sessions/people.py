"""The people who signed in: identified by issuer and subject, each with a unique name."""

import time
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from services.kit.access.scopes import Role
from services.kit.tables import PersonRow

MOST_SUBJECT = 255
_MOST_NAME = 200


@dataclass(frozen=True)
class Person:
    """A person as described by their issuer."""

    issuer: str
    subject: str
    """Subject, of at most `MOST_SUBJECT` characters."""
    name: str
    roles: frozenset[Role]


def record_sign_in(session: Session, person: Person) -> PersonRow:
    """Create or update the row of a person who signs in.

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
