"""Pieces of a document's lines that go into a node together or not at all.

A piece is a paragraph, a list item with all that is nested in it, a table row or a quote, with the
code that follows it: a command is never parted from the sentence that introduces it. Nothing that a
model writes is just believed: the sentences that support it are looked up, with their pieces.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from services.grounding.evidence import Evidence, Unit, terms_of, units_of_page
from services.grounding.grounder import Grounder, RecentVectors
from services.knowledge.document.markdown import Block, BlockKind, parse
from services.knowledge.document.roles import role_of_heading
from services.knowledge.document.titles import is_generic
from services.knowledge.model import (
    ATTRIBUTE_OF_ROLE,
    Attribute,
    Chunk,
    IncidentNode,
    Passage,
    SectionRole,
)
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.screening.instructions import instruction_in
from services.workflow.model import Step, StepKind, Workflow

_ROLES_OF_A_FAULT: frozenset[SectionRole | None] = frozenset(
    {None} | {r for r, field in ATTRIBUTE_OF_ROLE.items() if field is Attribute.FAILURE_DESCRIPTION}
)
"""Roles that the words of an incident's name may have, as a heading.

`Link failure` is recognised as one that describes; a heading recognised as a check or a remedy
names an action.
"""


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


@dataclass(frozen=True)
class LocatedSentence:
    """Sentence of the document with the number of the piece that it belongs to."""

    unit: Unit
    piece: int
    """Number of the piece that has it."""


class ShownLines:
    """Chunks that a model was shown, as the sentences of the document's own lines.

    Sentences that address a language model are not among them.
    """

    def __init__(
        self,
        document: ScreenedDocument,
        chunks: Sequence[Chunk],
        pieces: Sequence[LinePiece],
        vectors: RecentVectors,
    ) -> None:
        """Compare by `vectors` where words alone do not decide."""
        whole = units_of_page(document.id, document.for_model().text)
        shown = [(chunk.span.start_line, chunk.span.end_line) for chunk in chunks]
        units = [
            unit
            for unit in whole
            if any(start <= unit.end_line and unit.start_line <= end for start, end in shown)
        ]
        self._pieces: dict[Unit, int] = {}
        for unit in units:
            near = [
                number
                for number, piece in enumerate(pieces)
                if piece.start_line <= unit.end_line and unit.start_line <= piece.end_line
            ]
            # A heading is in no piece, and says a sentence's words often enough. A paragraph that
            # is cut by labels has several pieces, each of its sentences all its lines.
            if near:
                terms = {number: unit.terms & terms_of(pieces[number].text) for number in near}
                self._pieces[unit] = max(near, key=lambda number: len(terms[number]))
        self._grounder = Grounder(Evidence(list(self._pieces)), vectors)
        headings = (title for chunk in chunks for title in chunk.heading_path)
        self._words = terms_of(" ".join(headings)).union(*(unit.terms for unit in units))

    def locate(self, sentences: Sequence[str]) -> list[LocatedSentence | None]:
        """Return for each sentence the best supporting one of the document, or None."""
        # A sentence of a node rests on its source as a step of a workflow does.
        steps = (
            Step(id=str(number), kind=StepKind.PROCESS, text=sentence)
            for number, sentence in enumerate(sentences)
        )
        (groundings,) = self._grounder.ground([Workflow(title="", steps=tuple(steps))])
        return [
            LocatedSentence(each.unit, self._pieces[each.unit])
            if each.unit and each.is_grounded
            else None
            for each in groundings
        ]

    def is_incident_name(self, name: str) -> bool:
        """Return True if this may name an incident: no mere label, and in the document's words.

        Every word of it stands in the shown lines or the headings above them.
        """
        words = terms_of(name)
        return (
            bool(words)
            and words <= self._words
            and not is_generic(name)
            and role_of_heading(name) in _ROLES_OF_A_FAULT
            and instruction_in(name) is None
        )
