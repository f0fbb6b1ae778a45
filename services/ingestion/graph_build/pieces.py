"""Pieces of a document's lines that go into a node together or not at all.

A piece is a paragraph, a list item with all that is nested in it, a table row or a quote, with the
code that follows it: a command is never parted from the sentence that introduces it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from services.grounding.evidence import Unit, terms_of
from services.knowledge.document.markdown import Block, BlockKind, parse
from services.knowledge.model import ATTRIBUTE_OF_ROLE, Attribute, IncidentNode, Passage


@dataclass(frozen=True)
class LinePiece:
    """Lines of one passage of the structural extraction."""

    start_line: int
    end_line: int
    place: Passage
    """Passage that they stand in: it knows their headings and, by structure, their role."""
    head: str = ""
    """Two header lines of a table, which the text of each row repeats."""

    @property
    def attribute(self) -> Attribute:
        """Field that the structure puts the lines into."""
        return ATTRIBUTE_OF_ROLE[self.place.role]

    @property
    def text(self) -> str:
        """Text of the document's own lines."""
        first = self.place.span.start_line
        lines = self.place.text.split("\n")[self.start_line - first : self.end_line - first + 1]
        return "\n".join([self.head, *lines] if self.head else lines)


def pieces_of(structural: Iterable[IncidentNode]) -> list[LinePiece]:
    """Return the pieces of the page's node, the first of the structural ones, in order."""
    page = next(iter(structural), None)
    places = page.all_passages() if page else ()
    ordered = sorted(places, key=lambda passage: passage.span.start_line)
    return [piece for place in ordered for piece in _of_passage(place)]


def piece_of(unit: Unit, pieces: Iterable[LinePiece]) -> int | None:
    """Return the index in `pieces` of the one that has the unit, or None for a heading."""
    listed = list(pieces)
    near = [
        index
        for index, piece in enumerate(listed)
        if piece.start_line <= unit.end_line and unit.start_line <= piece.end_line
    ]
    # A paragraph that is cut by labels has several pieces, each of its sentences all its lines.
    return max(near, key=lambda index: len(unit.terms & terms_of(listed[index].text)), default=None)


def _of_passage(place: Passage) -> list[LinePiece]:
    last = place.span.end_line
    pieces: list[LinePiece] = []
    for section in parse(place.text, first_line=place.span.start_line).sections:
        for block in section.blocks:
            if block.kind is BlockKind.CODE and pieces:
                pieces[-1] = replace(pieces[-1], end_line=min(block.end_line, last))
            else:
                pieces += [p for p in _of_block(block, place) if p.start_line <= last]
    return pieces


def _of_block(block: Block, place: Passage) -> Iterator[LinePiece]:
    if block.kind is BlockKind.LIST:
        for item in block.items:
            yield LinePiece(item.start_line, item.end_line, place)
    elif block.kind is BlockKind.TABLE:
        head = LinePiece(block.start_line, block.start_line + 1, place).text
        for row in block.rows:
            yield LinePiece(row.line, row.line, place, head)
    else:
        yield LinePiece(block.start_line, block.end_line, place)
