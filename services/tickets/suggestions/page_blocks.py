"""Blocks of a page as it is now, and the steps that its reading makes of them."""

from collections.abc import Iterator, Sequence

from services.contracts.ingestion import DocumentContents
from services.contracts.readings import ReadingDetail
from services.knowledge.page.block import Place
from services.knowledge.page.boxes import candidates, find_boxes, last_own_line
from services.knowledge.page.parsing import parse_page
from services.language.words import tokenise
from services.runbook.checklist.build import LONGEST_PAGE, first_instruction
from services.runbook.editing.page_nodes import PageNodes
from services.runbook.model import Do, End, Noted, Remark
from services.runbook.program import line_numbers, with_ids
from services.tickets.parameters import fold_words

_LEAST_SHARED = 0.5
"""Share of a step's words that the block at its lines must have."""
_LEAST_ELSEWHERE = 0.8
"""The same for a block elsewhere, where the page has changed since."""


class PageBlocks:
    """Blocks that may be steps, with the steps of the reading that cite them."""

    def __init__(self, contents: DocumentContents, detail: ReadingDetail) -> None:
        """Parse the page; one that is too long for a checklist has no blocks here."""
        shown = contents.shown_page
        is_short = len(shown.text) <= LONGEST_PAGE
        page = parse_page(shown.text if is_short else "", withheld=shown.withheld)
        self.document_id = shown.document_id
        self.words_of_page = fold_words(shown.text)
        self.detail = detail
        self.places: dict[str, Place] = {each.block.key: each for each in candidates(page)}
        self._page = page
        self._procedures = detail.reading.procedures if detail.reader else ()
        if detail.reader:
            self._positions = dict(self._steps_of_reading())
        else:
            boxes = find_boxes(page, contents.boxes, habit=contents.box_habit)
            self._positions = {box.block.key: n for n, box in enumerate(boxes)}
        nodes = [node for procedure in self._procedures for node in procedure.walk()]
        remarks = [note for node in nodes if isinstance(node, Noted) for note in node.notes]
        self._texts = {
            normalise(each.text)
            for each in (*nodes, *remarks)
            if isinstance(each, Do | End | Remark)
        }

    def position(self, key: str) -> int | None:
        """Return the place of a block's step in the order of doing; None if it is no step."""
        return self._positions.get(key)

    def ancestors(self, key: str) -> frozenset[str]:
        """Return the keys of the blocks around a block."""
        return frozenset(each.key for each in self.places[key].parents)

    def words(self, key: str) -> str:
        """Return the first instruction of a block."""
        return first_instruction(self.places[key].block)

    def has_text(self, text: str) -> bool:
        """Return True if a step or note of the reading has this text."""
        return normalise(text) in self._texts

    def find(
        self, text: str, commands: Sequence[str], lines: Sequence[tuple[int, int]]
    ) -> str | None:
        """Return the key of the block that a step came from; None if no or several blocks fit.

        The block at its lines is taken if it has half of the step's words or one of its commands;
        where the page has changed since, the one block that has nearly all of them.
        """
        cited, wanted = line_numbers(lines), set(tokenise(text))

        def share(key: str) -> float:
            words = self._page.verbatim(self.places[key].block)
            if any(command in words for command in commands):
                return 1.0
            return len(wanted & set(tokenise(words))) / len(wanted) if wanted else 0.0

        at_lines = [
            key
            for key, place in self.places.items()
            if cited & set(range(place.block.start_line, last_own_line(place.block) + 1))
        ]
        if near := next((key for key in at_lines if share(key) >= _LEAST_SHARED), None):
            return near
        elsewhere = [key for key in self.places if share(key) >= _LEAST_ELSEWHERE]
        return elsewhere[0] if len(elsewhere) == 1 else None

    def _steps_of_reading(self) -> Iterator[tuple[str, int]]:
        """Yield the blocks that have a step, each with its place; of several the first comes last.

        A block may have a step in each of several procedures.
        """
        first = sum(1 for procedure in self._procedures for _ in procedure.walk())
        for procedure in reversed(self._procedures):
            nodes = PageNodes(with_ids(procedure), self._page)
            places = {node.id: place for place, node in enumerate(nodes.nodes())}
            first -= len(places)
            for key in self.places:
                step = nodes.step(key)
                if step is not None:
                    yield key, first + places[step.id]


def normalise(text: str) -> str:
    """Return a text without differences of case and spaces, to be compared."""
    return " ".join(text.split()).casefold()
