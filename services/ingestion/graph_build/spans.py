"""Lookup of the document's lines that support what the model wrote: nothing is just believed."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.grounding.evidence import Evidence, Unit, terms_of, units_of_page
from services.grounding.grounder import Grounder, RecentVectors
from services.ingestion.graph_build.pieces import LinePiece, piece_of
from services.knowledge.document.roles import role_of_heading
from services.knowledge.document.titles import is_generic
from services.knowledge.model import ATTRIBUTE_OF_ROLE, Attribute, Chunk, SectionRole
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
        placed = {unit: piece_of(unit, pieces) for unit in units}
        # A heading is in no piece, and says a sentence's words often enough.
        self._pieces = {unit: number for unit, number in placed.items() if number is not None}
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
