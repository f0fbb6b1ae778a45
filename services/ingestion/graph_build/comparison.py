"""What a model adds to the structural nodes of a document, and what it misses of them."""

from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict

from services.ingestion.graph_build.join import match
from services.knowledge.model import Attribute, IncidentNode


class GraphComparison(BaseModel):
    """Counts of one document or of several together."""

    model_config = ConfigDict(frozen=True)

    names_shared: int = 0
    """Incidents of the model that the structure has too."""
    names_added: int = 0
    """Incidents that only the model saw."""
    names_lost: int = 0
    """Incidents of the structure that the model did not name."""
    lines: int = 0
    """Lines with text in the structural nodes, headings apart."""
    lines_of_model: int = 0
    """Of them, those in the model's nodes too."""
    lines_same_field: int = 0
    """Of these, those in the field that the structure puts them into."""

    def __add__(self, other: Self) -> Self:
        names = type(self).model_fields
        return self.model_copy(update={n: getattr(self, n) + getattr(other, n) for n in names})


class FieldLines(BaseModel):
    """Lines of one field in both graphs, over all incidents of the documents."""

    model_config = ConfigDict(frozen=True)

    structure: int = 0
    model: int = 0
    both: int = 0

    def __add__(self, other: Self) -> Self:
        names = type(self).model_fields
        return self.model_copy(update={n: getattr(self, n) + getattr(other, n) for n in names})


def compare(structural: Sequence[IncidentNode], built: Sequence[IncidentNode]) -> GraphComparison:
    """The nodes of one document by structure and by a model."""
    matched = [match(node, structural) for node in built]
    told = compare_fields(structural, built)
    lines, of_model = lines_of(structural), lines_of(built)
    return GraphComparison(
        names_shared=sum(place is not None for place in matched),
        names_added=sum(place is None for place in matched),
        names_lost=len(set(range(len(structural))) - set(matched)),
        lines=len(lines),
        lines_of_model=len(lines & of_model),
        lines_same_field=sum(each.both for each in told.values()),
    )


def compare_fields(
    structural: Iterable[IncidentNode], built: Iterable[IncidentNode]
) -> dict[Attribute, FieldLines]:
    """The lines of each field of one document's nodes."""
    return {each: _field_lines(list(structural), list(built), each) for each in Attribute}


def lines_of(nodes: Sequence[IncidentNode]) -> set[int]:
    """Numbers of the lines with text that nodes of one document hold."""
    return {line for attribute in Attribute for line in _lines(nodes, attribute)}


def _field_lines(
    structural: Sequence[IncidentNode], built: Sequence[IncidentNode], attribute: Attribute
) -> FieldLines:
    ours, theirs = _lines(structural, attribute), _lines(built, attribute)
    return FieldLines(structure=len(ours), model=len(theirs), both=len(ours & theirs))


def _lines(nodes: Iterable[IncidentNode], attribute: Attribute) -> set[int]:
    return {
        line
        for node in nodes
        for passage in node.passages(attribute)
        for line, text in _numbered(passage.text, passage.span.start_line, passage.span.end_line)
        if text.strip()
    }


def _numbered(text: str, start: int, end: int) -> Iterable[tuple[int, str]]:
    # A table row's text repeats its header before it: its own line is the last.
    lines = text.split("\n")[-(end - start + 1) :]
    return enumerate(lines, start)
