"""The incidents of one document while they are collected over its chunks.

Merging needs no model: sentences are lines of the document by now, so that joining them loses
nothing, a line counts once whoever repeats it, and their order is the document's. Whether two names
mean the same incident is decided by their words alone: asked such a question, a small model tosses
a coin, and a wrong yes would mix the steps of two faults, while a wrong no costs a second node.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from services.grounding.evidence import terms_of
from services.ingestion.graph_build.pieces import Piece
from services.knowledge.model import ATTRIBUTE_OF_ROLE, Attribute, Passage, SectionRole, Span
from services.knowledge.stores.merge import normalise_name

_ROLES = {
    Attribute.FAILURE_DESCRIPTION: SectionRole.MEANING,
    Attribute.MITIGATION_STEPS: SectionRole.PROCEDURE,
    Attribute.TYPICAL_CASES: SectionRole.CASE,
    Attribute.ADDITIONAL_NOTES: SectionRole.NOTE,
}
"""Of lines that the model puts into another field than the structure does."""


@dataclass
class Incident:
    """One incident: its names, where they were found, and the pieces that tell of it."""

    name: str
    summary: str = ""
    """A sentence of the document."""
    other_names: list[str] = field(default_factory=list)
    chunks: set[int] = field(default_factory=set)
    said: dict[int, set[Attribute]] = field(default_factory=dict)
    """By number of the piece: the fields its sentences were put into."""

    def is_called(self, name: str) -> bool:
        """Whether this is one of its names, or one of the same words."""
        return any(same_words(name, own) for own in (self.name, *self.other_names))

    def passages(self, pieces: Sequence[Piece]) -> list[Passage]:
        """Its lines in document order; neighbours of one section and field are one passage."""
        chosen = [
            (number, _field(pieces[number], self.said[number])) for number in sorted(self.said)
        ]
        return list(_passages(chosen, pieces))


class Incidents:
    """All incidents of a document, in the order they were first named."""

    def __init__(self) -> None:
        self.all: list[Incident] = []

    def note(self, name: str, summary: str, chunk: int) -> None:
        """A name that a chunk gave, with what it said in a sentence."""
        known = next((each for each in self.all if each.is_called(name)), None)
        if known is None:
            known = Incident(name, summary)
            self.all.append(known)
        elif name not in (known.name, *known.other_names):
            known.other_names.append(name)
        known.summary = known.summary or summary
        known.chunks.add(chunk)

    def near(self, chunk: int) -> list[Incident]:
        """Those named in this chunk or in the one before."""
        return [each for each in self.all if each.chunks & {chunk - 1, chunk}]


def same_words(name: str, other: str) -> bool:
    """Whether two names are one, whatever their case, spacing, endings and little words."""
    if normalise_name(name) == normalise_name(other):
        return True
    words = terms_of(name)
    return bool(words) and words == terms_of(other)


def _field(piece: Piece, said: Iterable[Attribute]) -> Attribute:
    """The one field of lines that were put into several: the structure's, else the first."""
    fields = set(said)
    if piece.attribute in fields:
        return piece.attribute
    return next(attribute for attribute in Attribute if attribute in fields)


def _passages(
    chosen: Sequence[tuple[int, Attribute]], pieces: Sequence[Piece]
) -> Iterator[Passage]:
    def run(entry: tuple[int, tuple[int, Attribute]]) -> tuple[object, ...]:
        place, (number, attribute) = entry
        piece = pieces[number]
        # Numbers that follow each other without a gap differ from their place by the same.
        return number - place, attribute, piece.place.span, piece.head

    for _, entries in groupby(enumerate(chosen), key=run):
        run_of = [(pieces[number], attribute) for _, (number, attribute) in entries]
        yield _passage([piece for piece, _ in run_of], run_of[0][1])


def _passage(run: Sequence[Piece], attribute: Attribute) -> Passage:
    first, last = run[0], run[-1]
    place = first.place
    whole = Piece(first.start_line, last.end_line, place, first.head)
    return Passage(
        span=Span(
            document_id=place.span.document_id,
            start_line=first.start_line,
            end_line=last.end_line,
        ),
        role=place.role if ATTRIBUTE_OF_ROLE[place.role] is attribute else _ROLES[attribute],
        heading_path=place.heading_path,
        text=whole.text,
    )
