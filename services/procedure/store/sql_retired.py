"""Readings by rules that people answered or corrected, taken out of use text by text."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from services.kit.sql.database import Database
from services.knowledge.page.block import Page
from services.procedure.checklist.build import first_instruction
from services.procedure.model import Reader, Reading
from services.procedure.ports import Happening, ServedReading
from services.procedure.retired import (
    BoxWord,
    Converted,
    PastChange,
    converted,
    is_drawn_by_rules,
)
from services.procedure.store.one_text import OneText, ticket_doubt
from services.procedure.tables import BoxRow, HistoryRow, ReadingRow
from services.procedure.ticket_doubts import with_ticket_doubts

_UPGRADE = "upgrade"
_CHANGES = (Happening.ANSWERED.value, Happening.REPLACED.value)


class Retired(NamedTuple):
    """What became of a reading by rules."""

    boxes: int = 0
    """Corrections of boxes that were made of what people said."""
    left: int = 0
    """Words of people that no box can hold, listed in the history of the text."""


class SqlRetiredReadings:
    """Readings by rules with people's words on them; the row of one says that it waits.

    Each text is done in one transaction, which takes out that row: what a killed process has not
    come to is done by the next one, and nothing is done twice.
    """

    def __init__(self, database: Database) -> None:
        """The tables must exist: `database.migrate("kit", "procedure")`."""
        self._database = database

    def waiting(self) -> list[str]:
        """Return the hashes of the texts that wait, in order."""
        mine = select(ReadingRow.text_hash).where(ReadingRow.reader == Reader.RULES.value)
        with self._database.session() as session:
            return list(session.scalars(mine.order_by(ReadingRow.text_hash)))

    def retire(self, text_hash: str, pages: Mapping[str, Page]) -> Retired:
        """Put what people said to the boxes of these pages, which all have the text, by document.

        What no box can hold is listed in the history. A person's reading that is the rules' but
        for answers and edits, and that nobody has approved, is served no more; undoing that brings
        it back. Corrections that somebody has made since then stay.
        """
        with self._database.session() as session:
            text = OneText(session, text_hash, is_new_allowed=False)
            by_rules = text.readings.get(Reader.RULES)
            if by_rules is None:
                return Retired()
            changes = list(_changes(session, text, by_rules))
            boxes = self._correct_boxes(session, changes, pages)
            text.remove(Reader.RULES)
            made = [(change, converted(change, next(iter(pages.values())))) for change in changes]
            for change, each in made:
                for word in each.words:
                    _note(session, text, change, Happening.BOX_CORRECTED, _in_words(word))
            left = 0
            if _is_to_be_set_aside(text, changes):
                left = _list_rest(session, text, made)
                before = text.snapshot()
                text.remove(Reader.PERSON)
                text.note(_UPGRADE, Happening.SET_ASIDE, "drawn by rules, which are gone", before)
                text.done()
            if text.served() is None:
                left += _list_doubts(session, text)
            return Retired(boxes, left)

    def _correct_boxes(
        self, session: Session, changes: Sequence[PastChange], pages: Mapping[str, Page]
    ) -> int:
        """Keep the latest word on each block of each document; a word that is there stays."""
        done = 0
        for document_id, page in pages.items():
            latest = {
                word.block.key: (change, word.is_step)
                for change in changes
                for word in converted(change, page).words
            }
            for key, (change, is_step) in latest.items():
                mine = {"document_id": document_id, "key": key}
                values = {"is_step": is_step, "who": change.who[:200], "updated_at": change.at}
                statement = self._database.insert(BoxRow).values(**mine, **values)
                session.execute(statement.on_conflict_do_nothing(index_elements=list(mine)))
            done += len(latest)
        return done


def _changes(session: Session, text: OneText, by_rules: Reading) -> Iterator[PastChange]:
    """Yield what people did to the reading by rules and have not undone, the earliest first.

    None where they changed something else: a model's reading, or an imported one.
    """
    mine = select(HistoryRow).where(HistoryRow.text_hash == text.hash).order_by(HistoryRow.id)
    rows = session.scalars(mine).all()
    kept = [row for row in rows if row.before is not None]
    first = next((row for row in kept if row.what in _CHANGES and not row.undone), None)
    if first is None or first.before is None:
        return
    read = [row for row in rows if row.what == Happening.READ.value]
    is_of_others = any(
        row.id < first.id and not row.who.startswith(Reader.RULES.value) for row in read
    )
    if is_of_others or first.before[Reader.PERSON.value] or first.before[Reader.IMPORTED.value]:
        return
    is_same = all(row.id < first.id for row in read if row.who.startswith(Reader.RULES.value))
    for place, row in enumerate(kept):
        if row.what not in _CHANGES or row.undone:
            continue
        later = kept[place + 1 :]
        own = text.readings.get(Reader.PERSON)
        yield PastChange(
            who=row.who,
            at=row.at,
            what=Happening(row.what),
            detail=row.detail,
            before=_with_doubts(text, _persons(row) or (by_rules if is_same else None)),
            after=_persons(later[0]) if later else own,
        )


def _persons(row: HistoryRow) -> Reading | None:
    """Return the person's reading as it was before a change."""
    before = (row.before or {}).get(Reader.PERSON.value)
    return Reading.model_validate(before) if before else None


def _with_doubts(text: OneText, reading: Reading | None) -> Reading | None:
    """Return it with what tickets found wrong, settled or not."""
    if reading is None:
        return None
    doubts = [ticket_doubt(row) for row in text.ticket_rows]
    return with_ticket_doubts(ServedReading(reading=reading), doubts).reading


def _is_to_be_set_aside(text: OneText, changes: Sequence[PastChange]) -> bool:
    """Return whether the person's reading is the rules', and not approved as a whole."""
    own = text.readings.get(Reader.PERSON)
    if own is None or not changes or not is_drawn_by_rules(changes):
        return False
    approved = [each.procedure for each in text.approved]
    return any(procedure not in approved for procedure in own.procedures)


def _list_rest(
    session: Session, text: OneText, made: Sequence[tuple[PastChange, Converted]]
) -> int:
    """List what boxes cannot hold; return how much it is."""
    left = [(change, each.rest) for change, each in made if each.rest]
    for change, rest in left:
        _note(session, text, change, Happening.LEFT_OVER, rest)
    return len(left)


def _list_doubts(session: Session, text: OneText) -> int:
    """List what tickets find wrong of a reading that is gone; their own words stay with them."""
    open_ = [row for row in text.ticket_rows if not row.settled]
    for row in open_:
        said = f"found “{row.text}” wrong on a ticket"
        _add(session, text, row.by, row.at, Happening.LEFT_OVER, said)
    return len(open_)


def _note(
    session: Session, text: OneText, change: PastChange, what: Happening, detail: str
) -> None:
    _add(session, text, change.who, change.at, what, detail)


def _add(  # noqa: PLR0917 - a row of the history
    session: Session, text: OneText, who: str, at: datetime, what: Happening, detail: str
) -> None:
    """Add to the history as of the day when it was said."""
    row = HistoryRow(text_hash=text.hash, at=at, who=who, what=what.value, detail=detail)
    row.before, row.undone = None, False
    session.add(row)


def _in_words(word: BoxWord) -> str:
    said = "a step" if word.is_step else "no step"
    return f"“{first_instruction(word.block)}” is {said} (line {word.block.start_line})"
