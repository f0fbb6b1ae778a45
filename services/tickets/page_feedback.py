"""Feedback on pages by family of tickets: one page treated the fault, or none of them did."""

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from services.contracts.retrieval import RIVAL_SCORE, PageReading
from services.kit.access.caller import current_caller
from services.kit.sql.database import Database, insert_of
from services.kit.teaching.ledger import load_teachers, record_teaching
from services.kit.teaching.teacher import are_enough
from services.knowledge.screening.document import hash_of
from services.tickets.tables import PageWordRow
from services.tickets.ticket.question import AnswerChoice, ClarifyingQuestion

MOST_NEAREST = 3


@dataclass(frozen=True)
class PageFeedback:
    """Feedback that counts for the pages of one ticket."""

    taken: Mapping[str, int] = field(default_factory=dict)
    """Number of teachers who took a page, by its document, if they are enough."""
    refused_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """People who refused a page, if they are enough and nobody took it since."""

    def nearest(self, pages: Iterable[PageReading]) -> list[PageReading]:
        """Return the best of the retrieved pages that are not refused.

        Pages that people took are first if they come near the best one.
        """
        best = [page for page in retrieved_pages(pages) if page.document_id not in self.refused_by]
        nearest = best[:MOST_NEAREST]
        bar = RIVAL_SCORE * nearest[0].score if nearest else 0.0

        def taken(page: PageReading) -> int:
            return self.taken.get(page.document_id, 0) if page.score >= bar else 0

        return sorted(nearest, key=taken, reverse=True)

    def refused(self, pages: Iterable[PageReading]) -> list[PageReading]:
        """Return the best of the refused pages that were retrieved all the same."""
        refused = [page for page in retrieved_pages(pages) if page.document_id in self.refused_by]
        return refused[:MOST_NEAREST]


def retrieved_pages(pages: Iterable[PageReading]) -> list[PageReading]:
    """Return the pages that were retrieved, best first; others are only linked."""
    return sorted((page for page in pages if page.score > 0), key=lambda page: -page.score)


def page_hash(page: PageReading) -> str:
    """Return the hash of the page's whole text."""
    return hash_of(page.stored_text or page.text)


class PageFeedbackStore:
    """Reader of the feedback, which is stored with the answers that it comes from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def feedback(self, family: str, pages: Sequence[PageReading]) -> PageFeedback:
        """Return the feedback that counts for these pages; none without a family."""
        if not family:
            return PageFeedback()
        with self._database.session() as session:
            rows = session.scalars(
                select(PageWordRow).where(PageWordRow.family == family).order_by(PageWordRow.at)
            ).all()
            teachers = load_teachers(session, [_subject(family)])
        hashes = {page.document_id: page_hash(page) for page in pages} if rows else {}
        taken: dict[str, set[str]] = {}
        refused: dict[str, dict[str, str]] = {}
        for row in (each for each in rows if hashes.get(each.document_id) == each.text_hash):
            teacher = teachers.of(_subject(family), row.person)
            if teacher and row.is_taken:
                taken.setdefault(row.document_id, set()).add(teacher)
                if are_enough(taken[row.document_id]):
                    refused.pop(row.document_id, None)
            elif teacher:
                refused.setdefault(row.document_id, {})[teacher] = row.person
        return PageFeedback(
            taken={page: len(by) for page, by in taken.items() if are_enough(by)},
            refused_by={
                page: tuple(people.values())
                for page, people in refused.items()
                if are_enough(people)
            },
        )


def keep_feedback(
    session: Session, family: str, question: ClarifyingQuestion, choice: AnswerChoice
) -> None:
    """Store the caller's answer to a question about pages: one is taken, or all are refused."""
    taken, now = question.page_of(choice), time.time()
    record_teaching(session, _subject(family))
    for card in (each for each in question.cards if taken in {"", each.document_id}):
        values = {
            "text_hash": card.text_hash,
            "person": current_caller().name[:200],
            "is_taken": bool(taken),
            "at": now,
        }
        row = insert_of(session)(PageWordRow).values(
            key=_key(family, card.document_id),
            family=family,
            document_id=card.document_id,
            **values,
        )
        session.execute(row.on_conflict_do_update(index_elements=["key"], set_=values))


def withdraw_feedback(
    session: Session, family: str, question: ClarifyingQuestion, choice: AnswerChoice
) -> None:
    """Delete the feedback that the caller gave by an answer which another one replaces."""
    taken = question.page_of(choice)
    keys = [_key(family, page) for page in ([taken] if taken else question.decisions)]
    session.execute(delete(PageWordRow).where(PageWordRow.key.in_(keys)))


def _subject(family: str) -> str:
    return f"family {family}"


def _key(family: str, document_id: str) -> str:
    caller = current_caller()
    person = caller.teacher or caller.lasting_id
    return hashlib.sha256("\0".join((family, document_id, person)).encode()).hexdigest()
