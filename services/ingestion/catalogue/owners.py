"""Ownership of documents by teams."""

from collections.abc import Iterable

from sqlalchemy import delete, select

from services.contracts.ingestion import Ownership
from services.ingestion.tables import OwnerRow
from services.kit.access.audit import add_audit
from services.kit.errors import InvalidInputError
from services.kit.sql.database import Database


class Owners:
    """Ownership entries in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Ownership]:
        """See `Ingestion.owners`."""
        statement = select(OwnerRow).order_by(OwnerRow.root, OwnerRow.prefix)
        with self._database.session() as session:
            return [
                Ownership(root=row.root, prefix=row.prefix, team=row.team)
                for row in session.scalars(statement)
            ]

    def put(self, ownership: Ownership) -> list[Ownership]:
        """See `Ingestion.set_owner`."""
        team = ownership.team.strip()
        if not all(part.isprintable() for part in (team, ownership.root, ownership.prefix)):
            raise InvalidInputError("a team, a root and a prefix are one line of text each")
        mine = (OwnerRow.root == ownership.root) & (OwnerRow.prefix == ownership.prefix)
        with self._database.session() as session:
            session.execute(delete(OwnerRow).where(mine))
            if team:
                session.add(OwnerRow(root=ownership.root, prefix=ownership.prefix, team=team))
            subject = f"{ownership.root or 'all roots'} {ownership.prefix}".strip()
            add_audit(session, "documents.owner_named", subject, after={"team": team})
        return self.all()


def owner_among(owners: Iterable[Ownership], root: str, document_id: str) -> str:
    """Return the owning team: the longest prefix wins, then the entry that names the root."""
    applying = [each for each in owners if _applies(each, root, document_id)]
    best = max(applying, key=lambda each: (len(each.prefix), bool(each.root)), default=None)
    return best.team if best else ""


def _applies(ownership: Ownership, root: str, document_id: str) -> bool:
    """Return True if the entry covers the document.

    A prefix ends where a name of the path ends: `net` covers `net/a.md`, not `network.md`.
    """
    folder = f"{ownership.prefix.rstrip('/')}/" if ownership.prefix else ""
    is_below = document_id == ownership.prefix or document_id.startswith(folder)
    return ownership.root in {"", root} and is_below
