"""Where in a document its chunks and incident nodes stand."""

from collections.abc import Iterable

from services.contracts.ingestion import DocumentPlace
from services.knowledge.model import Chunk, IncidentNode


def places_of_chunks(chunks: Iterable[Chunk]) -> tuple[DocumentPlace, ...]:
    """Of the chunks that the document is cut into."""
    return tuple(
        DocumentPlace(
            id=chunk.id,
            name=" › ".join(chunk.heading_path),
            start_line=chunk.span.start_line,
            end_line=chunk.span.end_line,
        )
        for chunk in chunks
    )


def places_of_nodes(nodes: Iterable[IncidentNode], document_id: str) -> tuple[DocumentPlace, ...]:
    """Of merged nodes, by the lines of this document that they know."""
    places = []
    for node in nodes:
        spans = [p.span for p in node.all_passages() if p.span.document_id == document_id]
        if spans:
            start = min(span.start_line for span in spans)
            end = max(span.end_line for span in spans)
            name = node.name
            places.append(DocumentPlace(id=node.id, name=name, start_line=start, end_line=end))
    return tuple(sorted(places, key=lambda place: place.start_line))
