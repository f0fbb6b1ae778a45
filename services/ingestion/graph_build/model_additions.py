"""The structural nodes of a document with what a model adds to them."""

from collections.abc import Sequence

from services.ingestion.graph_build.incidents import same_words
from services.knowledge.model import Attribute, IncidentNode, Passage
from services.knowledge.stores.merge import merge


def joined(structural: Sequence[IncidentNode], built: Sequence[IncidentNode]) -> list[IncidentNode]:
    """All structural nodes, none with less than it had, then the incidents that only the model saw.

    Lines that a structural node has stay in the field they are in: where a heading says what they
    are, a model is not believed against it.
    """
    nodes = list(structural)
    for node in built:
        place = match(node, nodes)
        if place is None:
            nodes.append(node)
        else:
            nodes[place] = _with(nodes[place], node)
    return nodes


def match(node: IncidentNode, among: Sequence[IncidentNode]) -> int | None:
    """The place of the node of the same incident: of its name, else of one of its other names."""
    by_name = (n for n, other in enumerate(among) if same_words(node.name, other.name))
    by_alias = (
        n
        for n, other in enumerate(among)
        if any(same_words(node.name, alias) for alias in other.aliases)
    )
    return next(by_name, next(by_alias, None))


def _with(node: IncidentNode, built: IncidentNode) -> IncidentNode:
    mine = [(p.span.start_line, p.span.end_line) for p in node.all_passages()]
    new = {
        each.value: tuple(p for p in built.passages(each) if not _overlaps(p, mine))
        for each in Attribute
    }
    return merge([node, built.model_copy(update=new)])


def _overlaps(passage: Passage, ranges: Sequence[tuple[int, int]]) -> bool:
    span = passage.span
    return any(start <= span.end_line and span.start_line <= end for start, end in ranges)
