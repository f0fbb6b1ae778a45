"""What people said of pages on tickets of one family: this one was it, or none of these was."""

import hashlib
import time
from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from services.contracts.retrieval import PageReading
from services.gateway.page_words.words import PageWords, page_hash
from services.gateway.tables import PageWordRow
from services.gateway.ticket.question import Choice, Question
from services.kit.access.caller import current_caller
from services.kit.sql.database import Database, insert_of

_ENOUGH_REFUSALS = 2
"""People by whose word a page is no longer among the nearest: one alone may err."""


class PageWordStore:
    """Looks them up; they are kept with the answers that they come from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def words(self, family: str, pages: Sequence[PageReading]) -> PageWords:
        """What counts for these pages on a ticket of the family; nothing without one."""
        if not family:
            return PageWords()
        with self._database.session() as session:
            rows = session.scalars(
                select(PageWordRow).where(PageWordRow.family == family).order_by(PageWordRow.at)
            ).all()
        hashes = {page.document_id: page_hash(page) for page in pages} if rows else {}
        taken: dict[str, int] = {}
        refused: dict[str, list[str]] = {}
        for row in (each for each in rows if hashes.get(each.document_id) == each.text_hash):
            if row.is_taken:
                taken[row.document_id] = taken.get(row.document_id, 0) + 1
                refused.pop(row.document_id, None)
            else:
                refused.setdefault(row.document_id, []).append(row.person)
        return PageWords(
            taken=taken,
            refused_by={
                page: tuple(people)
                for page, people in refused.items()
                if len(people) >= _ENOUGH_REFUSALS
            },
        )


def keep_words(session: Session, family: str, question: Question, choice: Choice) -> None:
    """Keep the caller's answer to a question about pages: one is taken, or all are refused."""
    taken, now = question.page_of(choice), time.time()
    for card in (each for each in question.cards if taken in {"", each.document_id}):
        word = {
            "text_hash": card.text_hash,
            "person": current_caller().name[:200],
            "is_taken": bool(taken),
            "at": now,
        }
        row = insert_of(session)(PageWordRow).values(
            key=_key(family, card.document_id),
            family=family,
            document_id=card.document_id,
            **word,
        )
        session.execute(row.on_conflict_do_update(index_elements=["key"], set_=word))


def withdraw_words(session: Session, family: str, question: Question, choice: Choice) -> None:
    """Take back what the caller said by an answer that another one takes the place of."""
    taken = question.page_of(choice)
    keys = [_key(family, page) for page in ([taken] if taken else question.decisions)]
    session.execute(delete(PageWordRow).where(PageWordRow.key.in_(keys)))


def _key(family: str, document_id: str) -> str:
    person = current_caller().lasting_id
    return hashlib.sha256("\0".join((family, document_id, person)).encode()).hexdigest()
