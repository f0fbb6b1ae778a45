"""Lessons from owners' corrections of boxes, each with the blocks that its page left as shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from services.contracts.adoption import Judgement
from services.kit.access.caller import LOCAL_TEACHER
from services.kit.fits.in_use import FitInUse
from services.kit.sql.database import Database
from services.kit.teaching.ledger import Teachers, load_teachers, page_subject
from services.knowledge.page.block import Page
from services.knowledge.page.box_fit import BoxHabit, Habit, coarse_signs, log_odds, shipped_fit
from services.knowledge.page.box_signs import signs_of
from services.knowledge.page.boxes import candidates_with_words, find_boxes, is_of_form, lists_of
from services.knowledge.page.parsing import parse_page
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.runbook.store.sql_boxes import SqlBoxStore

MOST_PAGES = 300
"""Most pages that are read, those corrected last."""


@dataclass(frozen=True)
class JudgedBlock:
    """Block of a page, and whether its owners take it for a step."""

    odds: float
    """Log-odds that it is a step, by the shipped forest."""
    signs: Mapping[str, float]
    """Coarse features of its form, each 0–1."""
    is_step: bool


@dataclass(frozen=True)
class BoxLesson:
    """One correction of a block, with its share of what the page's owner left as shown."""

    source_id: str
    """Document and key of the block."""
    kind: str
    """Hash of the page's text."""
    at: float
    """Time of the correction."""
    block: JudgedBlock
    agreed: tuple[JudgedBlock, ...]
    """Other blocks of the page that nobody corrected, as they are shown."""
    share: float
    """Weight of each of them: the corrections of the page share them."""
    judged_by: str = ""
    """Always empty: it is a habit to say the same of many blocks."""
    judgement: Judgement = Judgement.NONE
    teachers: frozenset[str] = frozenset({LOCAL_TEACHER})
    """The person who corrected it; empty if their word does not count."""


class BoxLessons:
    """Reader of the lessons from the corrections in force."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._boxes = SqlBoxStore(database)
        self._documents = SqlDocumentStore(database)
        self._serving = FitInUse(BoxHabit.shipped(), database)

    def all(self) -> list[BoxLesson]:
        """Return the lessons of the pages that are kept, in the order of their corrections."""
        habit = self._serving.now.habit
        corrected = self._boxes.corrected_documents(MOST_PAGES)
        with self._database.session() as session:
            teachers = load_teachers(session, [page_subject(id_) for id_ in corrected])
        documents = map(self._documents.get, corrected)
        lessons = [
            each
            for document in documents
            if document
            for each in self._of(document, habit, teachers)
        ]
        return sorted(lessons, key=lambda each: (each.at, each.source_id))

    def _of(
        self, document: ScreenedDocument, habit: Habit, teachers: Teachers
    ) -> Iterator[BoxLesson]:
        """Yield the lessons of a page; a correction whose block is gone teaches nothing."""
        page = parse_page(document.for_person().text, withheld=document.withheld)
        blocks = judged_blocks(page, habit)
        words = [each for each in self._boxes.words(document.id) if each.key in blocks]
        spoken_of = {each.key for each in words}
        agreed = tuple(block for key, block in blocks.items() if key not in spoken_of)
        for word in words:
            shown = blocks[word.key]
            teacher = teachers.of(page_subject(document.id), word.who)
            yield BoxLesson(
                source_id=f"{document.id}#{word.key}",
                kind=document.text_hash,
                at=word.at.timestamp(),
                block=JudgedBlock(shown.odds, shown.signs, word.is_step),
                agreed=agreed,
                share=1 / len(words),
                teachers=frozenset({teacher} - {""}),
            )


def judged_blocks(page: Page, habit: Habit) -> dict[str, JudgedBlock]:
    """Return the blocks decided by form, by key, each as it is shown without corrections.

    The options of an either/or, and its lead, depend on one another: they are left out.
    """
    places = candidates_with_words(page)
    if not places:
        return {}
    rows = signs_of(page, places)
    chances = shipped_fit().chances(rows, lists_of(places))
    boxes = find_boxes(page, habit=habit)
    steps = {box.block.key for box in boxes}
    joined = {block.key for box in boxes if box.options for block in (box.block, *box.options)}
    return {
        place.block.key: JudgedBlock(log_odds(chance), coarse_signs(row), place.block.key in steps)
        for place, row, chance in zip(places, rows, chances, strict=True)
        if is_of_form(place) and place.block.key not in joined
    }
