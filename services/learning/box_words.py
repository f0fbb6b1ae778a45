"""What owners said of blocks of pages, each word with the blocks that its page left as shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from services.contracts.adoption import Judgement
from services.kit.fits.in_use import FitInUse
from services.kit.sql.database import Database
from services.knowledge.model import Document
from services.knowledge.page.block import Page
from services.knowledge.page.box_fit import BoxHabit, Habit, coarse_signs, log_odds, shipped_fit
from services.knowledge.page.box_signs import signs_of
from services.knowledge.page.boxes import find_boxes, is_of_form, lists_of, worded
from services.knowledge.page.parsing import parse_page
from services.knowledge.page.withheld import withheld_lines
from services.knowledge.screening.document import screened, text_hash
from services.knowledge.stores.sql_documents import SqlDocumentStore
from services.procedure.store.sql_boxes import SqlBoxStore

MOST_PAGES = 300
"""Pages that are looked at, those spoken of last."""


@dataclass(frozen=True)
class JudgedBlock:
    """A block of a page, and whether it is a step for those who look after it."""

    odds: float
    """Log-odds that it is one, as the shipped forest has it."""
    signs: Mapping[str, float]
    """Coarse signs of its form, each 0–1."""
    is_step: bool


@dataclass(frozen=True)
class BoxLesson:
    """One word on a block, and its share of what the page's owner left as it was shown."""

    source_id: str
    """The document and the key of the block."""
    kind: str
    """Hash of the page's text."""
    at: float
    """When it was said."""
    block: JudgedBlock
    agreed: tuple[JudgedBlock, ...]
    """The other blocks of the page, of which nobody said anything, as they are shown."""
    share: float
    """Weight of each of them: the words on the page share them."""
    said_by: str = ""
    """Nobody: a habit is to say the same of many blocks."""
    said: Judgement = Judgement.NONE


class BoxWords:
    """Reads them from the words that are in force."""

    def __init__(self, database: Database) -> None:
        self._boxes = SqlBoxStore(database)
        self._documents = SqlDocumentStore(database)
        self._serving = FitInUse(BoxHabit.shipped(), database)

    def all(self) -> list[BoxLesson]:
        """Return those of the pages that are kept, in the order of their words."""
        habit = self._serving.now.habit
        documents = (self._documents.get(id_) for id_ in self._boxes.spoken_of(MOST_PAGES))
        found = [each for document in documents if document for each in self._of(document, habit)]
        return sorted(found, key=lambda each: (each.at, each.source_id))

    def _of(self, document: Document, habit: Habit) -> Iterator[BoxLesson]:
        """Yield the lessons of a page; a word whose block is gone teaches nothing."""
        withheld = withheld_lines(document.text, screened(document).document.text)
        blocks = judged_blocks(parse_page(document.text, withheld=withheld), habit)
        words = [each for each in self._boxes.words(document.id) if each.key in blocks]
        spoken_of = {each.key for each in words}
        agreed = tuple(block for key, block in blocks.items() if key not in spoken_of)
        for word in words:
            shown = blocks[word.key]
            yield BoxLesson(
                source_id=f"{document.id}#{word.key}",
                kind=text_hash(document),
                at=word.at.timestamp(),
                block=JudgedBlock(shown.odds, shown.signs, word.is_step),
                agreed=agreed,
                share=1 / len(words),
            )


def judged_blocks(page: Page, habit: Habit) -> dict[str, JudgedBlock]:
    """Return the blocks whose form decides, by key, each as it is shown without anybody's word.

    What is chosen of an either/or, and its lead, hang on one another: they are none of them.
    """
    places = worded(page)
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
