"""Where a document says what the model wrote: looked up, not believed."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.grounding.evidence import Evidence, Unit, terms_of, units_of_page
from services.grounding.grounder import Grounder
from services.grounding.vectors import RecentVectors
from services.ingestion.graph_build.pieces import Piece, piece_of
from services.knowledge.document.roles import role_of_heading
from services.knowledge.document.titles import is_generic
from services.knowledge.model import ATTRIBUTE_OF_ROLE, Attribute, Chunk, Document, SectionRole
from services.knowledge.screening.document import screened
from services.knowledge.screening.instructions import instruction_in
from services.workflow.model import Step, StepKind, Workflow

_OF_A_FAULT: frozenset[SectionRole | None] = frozenset(
    {None} | {r for r, field in ATTRIBUTE_OF_ROLE.items() if field is Attribute.FAILURE_DESCRIPTION}
)
"""Roles that the words of an incident's name may have, as a heading: `Link failure` is told as one
that describes; one that is told as a check or a remedy names what is done."""


@dataclass(frozen=True)
class Located:
    """A sentence of the document, and where it belongs."""

    unit: Unit
    piece: int
    """Number of the piece that holds it."""


class ShownLines:
    """The chunks that a model was shown, as the sentences of the document's own lines.

    Sentences that speak to a language model are not among them.
    """

    def __init__(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        vectors: RecentVectors,
    ) -> None:
        """`vectors` compares where words alone do not decide."""
        whole = units_of_page(document.id, screened(document).document.text)
        units = [unit for unit in whole if _is_shown(unit, chunks)]
        placed = {unit: piece_of(unit, pieces) for unit in units}
        # A heading is in no piece, and says a sentence's words often enough.
        self._pieces = {unit: number for unit, number in placed.items() if number is not None}
        self._grounder = Grounder(Evidence(list(self._pieces)), vectors)
        headings = (title for chunk in chunks for title in chunk.heading_path)
        self._words = terms_of(" ".join(headings)).union(*(unit.terms for unit in units))

    def locate(self, sentences: Sequence[str]) -> list[Located | None]:
        """For each sentence the one of the document that says it best; None where none says it."""
        # A sentence of a node rests on its source as a step of a workflow does.
        steps = (
            Step(id=str(number), kind=StepKind.PROCESS, text=sentence)
            for number, sentence in enumerate(sentences)
        )
        (found,) = self._grounder.ground([Workflow(title="", steps=tuple(steps))])
        return [
            Located(each.unit, self._pieces[each.unit]) if each.unit and each.is_grounded else None
            for each in found
        ]

    def names(self, name: str) -> bool:
        """Whether this may be the name of an incident: in the document's words and no mere label.

        Every word of it stands in the shown lines or the headings above them.
        """
        words = terms_of(name)
        return (
            bool(words)
            and words <= self._words
            and not is_generic(name)
            and role_of_heading(name) in _OF_A_FAULT
            and instruction_in(name) is None
        )


def _is_shown(unit: Unit, chunks: Sequence[Chunk]) -> bool:
    return any(
        chunk.span.start_line <= unit.end_line and unit.start_line <= chunk.span.end_line
        for chunk in chunks
    )
