"""Comparison of a model's nodes of a document with the structural ones."""

from collections.abc import Iterable, Sequence

from services.ingestion.graph_build.estimate import DocumentCounts
from services.ingestion.graph_build.incidents import index_of_same
from services.knowledge.model import Attribute, IncidentNode


class GraphComparison(DocumentCounts):
    """Counts of one document or of several together."""

    names_shared: int = 0
    """Number of the model's incidents that the structure has too."""
    names_added: int = 0
    """Number of incidents that only the model saw."""
    names_lost: int = 0
    """Number of the structure's incidents that the model did not name."""
    lines: int = 0
    """Lines with text in the structural nodes, headings apart."""
    lines_of_model: int = 0
    """Lines with text that the model's nodes have too."""
    lines_same_field: int = 0
    """Lines that both have, in the field that the structure puts them into."""


class FieldLines(DocumentCounts):
    """Lines of one field in both graphs, over all incidents of the documents."""

    structure: int = 0
    model: int = 0
    both: int = 0


def compare(structural: Sequence[IncidentNode], built: Sequence[IncidentNode]) -> GraphComparison:
    """Compare the nodes of one document by structure and by a model."""
    matched = [index_of_same(node, structural) for node in built]
    by_field = compare_fields(structural, built)
    lines, of_model = lines_of(structural), lines_of(built)
    return GraphComparison(
        names_shared=sum(place is not None for place in matched),
        names_added=sum(place is None for place in matched),
        names_lost=len(set(range(len(structural))) - set(matched)),
        lines=len(lines),
        lines_of_model=len(lines & of_model),
        lines_same_field=sum(each.both for each in by_field.values()),
    )


def compare_fields(
    structural: Iterable[IncidentNode], built: Iterable[IncidentNode]
) -> dict[Attribute, FieldLines]:
    """Compare the lines of each field of one document's nodes."""
    structural, built, by_field = list(structural), list(built), {}
    for each in Attribute:
        ours, theirs = _lines(structural, each), _lines(built, each)
        both = len(ours & theirs)
        by_field[each] = FieldLines(structure=len(ours), model=len(theirs), both=both)
    return by_field


def lines_of(nodes: Sequence[IncidentNode]) -> set[int]:
    """Return the numbers of the lines with text that nodes of one document hold."""
    return {line for attribute in Attribute for line in _lines(nodes, attribute)}


def _lines(nodes: Iterable[IncidentNode], attribute: Attribute) -> set[int]:
    return {
        line
        for node in nodes
        for passage in node.passages(attribute)
        # A table row's text repeats its header before it: its own line is the last.
        for line, text in enumerate(
            passage.text.split("\n")[passage.span.start_line - passage.span.end_line - 1 :],
            passage.span.start_line,
        )
        if text.strip()
    }
