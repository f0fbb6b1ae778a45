"""Incidents of one document, collected over its chunks and joined with its structural nodes.

Merging needs no model: sentences are lines of the document by now, so that joining them loses
nothing, a line counts once whoever repeats it, and their order is the document's. Whether two names
mean the same incident is decided by their words alone: asked such a question, a small model tosses
a coin, and a wrong yes would mix the steps of two faults, while a wrong no costs a second node.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from services.grounding.evidence import terms_of
from services.ingestion.graph_build.pieces import LinePiece
from services.knowledge.model import (
    ATTRIBUTE_OF_ROLE,
    Attribute,
    IncidentNode,
    Passage,
    SectionRole,
    Span,
)
from services.knowledge.stores.merge import merge, normalise_name

_ROLES = {
    Attribute.FAILURE_DESCRIPTION: SectionRole.MEANING,
    Attribute.MITIGATION_STEPS: SectionRole.PROCEDURE,
    Attribute.TYPICAL_CASES: SectionRole.CASE,
    Attribute.ADDITIONAL_NOTES: SectionRole.NOTE,
}
"""Roles of lines that the model puts into another field than the structure does."""


@dataclass
class Incident:
    """Incident with its names, the chunks that name it, and the pieces that describe it."""

    name: str
    summary: str = ""
    """Sentence of the document that summarises it."""
    other_names: list[str] = field(default_factory=list)
    chunks: set[int] = field(default_factory=set)
    fields_by_piece: dict[int, set[Attribute]] = field(default_factory=dict)
    """Fields that the sentences of each piece were put into, by the piece's number."""

    def passages(self, pieces: Sequence[LinePiece]) -> list[Passage]:
        """Return its lines in order, neighbours of one section and field as one passage."""
        chosen = [
            (number, _field(pieces[number], self.fields_by_piece[number]))
            for number in sorted(self.fields_by_piece)
        ]

        def run(entry: tuple[int, tuple[int, Attribute]]) -> tuple[object, ...]:
            place, (number, attribute) = entry
            piece = pieces[number]
            # Numbers that follow each other without a gap differ from their place by the same.
            return number - place, attribute, piece.place.span, piece.head

        runs = [[each for _, each in entries] for _, entries in groupby(enumerate(chosen), key=run)]
        return [_passage([pieces[number] for number, _ in each], each[0][1]) for each in runs]


class Incidents:
    """All incidents of a document, in the order they were first named."""

    def __init__(self) -> None:
        self.all: list[Incident] = []

    def note(self, name: str, summary: str, chunk: int) -> None:
        """Note a name that a chunk gave, with its summary in one sentence."""
        incident = next(
            (
                each
                for each in self.all
                if any(same_words(name, own) for own in (each.name, *each.other_names))
            ),
            None,
        )
        if incident is None:
            incident = Incident(name, summary)
            self.all.append(incident)
        elif name not in (incident.name, *incident.other_names):
            incident.other_names.append(name)
        incident.summary = incident.summary or summary
        incident.chunks.add(chunk)

    def near(self, chunk: int) -> list[Incident]:
        """Return the incidents named in this chunk or in the one before."""
        return [each for each in self.all if each.chunks & {chunk - 1, chunk}]


def same_words(name: str, other: str) -> bool:
    """Return True if two names are one, apart from case, spacing, endings and little words."""
    if normalise_name(name) == normalise_name(other):
        return True
    words = terms_of(name)
    return bool(words) and words == terms_of(other)


def _field(piece: LinePiece, attributes: Iterable[Attribute]) -> Attribute:
    """Choose one field for lines that were put into several: the structure's, else the first."""
    fields = set(attributes)
    if piece.attribute in fields:
        return piece.attribute
    return next(attribute for attribute in Attribute if attribute in fields)


def _passage(run: Sequence[LinePiece], attribute: Attribute) -> Passage:
    first, last = run[0], run[-1]
    place = first.place
    whole = LinePiece(first.start_line, last.end_line, place, first.head)
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


def add_model_nodes(
    structural: Sequence[IncidentNode], built: Sequence[IncidentNode]
) -> list[IncidentNode]:
    """Return all structural nodes, extended by the model, then the model's own incidents.

    No structural node loses anything. Lines that it has stay in the field they are in: where a
    heading says what they are, a model is not believed against it.
    """
    nodes = list(structural)
    for node in built:
        place = index_of_same(node, nodes)
        if place is None:
            nodes.append(node)
        else:
            nodes[place] = _extend(nodes[place], node)
    return nodes


def index_of_same(node: IncidentNode, among: Sequence[IncidentNode]) -> int | None:
    """Return the index of the node of the same incident: by its name, else by another name."""
    by_name = (n for n, other in enumerate(among) if same_words(node.name, other.name))
    by_alias = (
        n
        for n, other in enumerate(among)
        if any(same_words(node.name, alias) for alias in other.aliases)
    )
    return next(by_name, next(by_alias, None))


def _extend(node: IncidentNode, built: IncidentNode) -> IncidentNode:
    mine = [(p.span.start_line, p.span.end_line) for p in node.all_passages()]
    new = {
        each.value: tuple(
            p
            for p in built.passages(each)
            if not any(start <= p.span.end_line and p.span.start_line <= end for start, end in mine)
        )
        for each in Attribute
    }
    return merge([node, built.model_copy(update=new)])
