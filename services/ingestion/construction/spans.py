"""Where a document says what the model wrote: looked up, not believed."""

from collections.abc import Sequence

from services.grounding.evidence import Evidence, Unit, terms_of, units_of_document
from services.grounding.grounder import Grounder
from services.grounding.vectors import RecentVectors
from services.ingestion.titles import is_generic
from services.knowledge.instructions import instruction_in
from services.knowledge.model import ATTRIBUTE_OF_ROLE, Attribute, Chunk, Document, SectionRole
from services.knowledge.roles import role_of_heading
from services.workflow.model import Step, StepKind, Workflow

_OF_A_FAULT: frozenset[SectionRole | None] = frozenset(
    {None} | {r for r, field in ATTRIBUTE_OF_ROLE.items() if field is Attribute.FAILURE_DESCRIPTION}
)
"""Roles that the words of an incident's name may have, as a heading: `Link failure` is told as one
that describes; one that is told as a check or a remedy names what is done."""


class Source:
    """The chunks that a model was shown, as the sentences of the document's own lines.

    Sentences that speak to a language model are not among them.
    """

    def __init__(self, document: Document, chunks: Sequence[Chunk], vectors: RecentVectors) -> None:
        """`vectors` compares where words alone do not decide."""
        units = [unit for unit in units_of_document(document) if _is_shown(unit, chunks)]
        self._evidence = Evidence(units)
        self._grounder = Grounder(self._evidence, vectors)
        self._headings = terms_of(" ".join(title for c in chunks for title in c.heading_path))

    def locate(self, sentences: Sequence[str]) -> list[Unit | None]:
        """For each sentence the one of the document that says it best; None where none says it."""
        # A sentence of a node rests on its source as a step of a workflow does.
        steps = (
            Step(id=str(number), kind=StepKind.PROCESS, text=sentence)
            for number, sentence in enumerate(sentences)
        )
        (found,) = self._grounder.ground([Workflow(title="", steps=tuple(steps))])
        return [each.unit if each.is_grounded else None for each in found]

    def names(self, name: str) -> bool:
        """Whether this may be the name of an incident: in the document's words and no mere label.

        Every word of it stands in the shown lines or the headings above them.
        """
        words = terms_of(name)
        return (
            bool(words)
            and all(word in self._headings or self._evidence.knows(word) for word in words)
            and not is_generic(name)
            and role_of_heading(name) in _OF_A_FAULT
            and instruction_in(name) is None
        )


def _is_shown(unit: Unit, chunks: Sequence[Chunk]) -> bool:
    return any(
        chunk.span.start_line <= unit.end_line and unit.start_line <= chunk.span.end_line
        for chunk in chunks
    )
