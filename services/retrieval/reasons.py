"""Reasons why a chunk or node was retrieved, in a few words for a person."""

from collections.abc import Iterator

from services.knowledge.model import IncidentNode
from services.retrieval.candidates import ScoredPoint
from services.retrieval.fusion import DocumentEvidence
from services.retrieval.lifting_texts import case_of, is_symptom

_CLOSE = 0.5
"""Cosine of all-MiniLM-L6-v2 from which two texts are about the same thing."""
_MUCH = 0.5
_WORDY = 0.7


def chunk_reasons(evidence: DocumentEvidence, point: ScoredPoint) -> tuple[str, ...]:
    """Return the reasons for one chunk of a document."""
    own = []
    if point.meaning >= _CLOSE:
        own.append(f"close in meaning ({point.meaning:.2f})")
    if point.words >= _WORDY:
        own.append("shares the ticket's rare words")
    return (*own, *_document_reasons(evidence)) or ("nearest of what is known",)


def node_reasons(evidence: DocumentEvidence, node: IncidentNode) -> tuple[str, ...]:
    """Return the reasons for one node of a document."""
    point = next((each for each in evidence.nodes if each.id == node.id), None)
    own = []
    if point and point.meaning >= _CLOSE:
        own.append(f"incident close in meaning ({point.meaning:.2f})")
    if point and point.words >= _WORDY:
        own.append("its names and symptoms share the ticket's rare words")
    reasons = (*own, *_document_reasons(evidence))
    return reasons or (f"stands in {evidence.document_id}, which was found",)


def _document_reasons(evidence: DocumentEvidence) -> Iterator[str]:
    for point in evidence.chunks:
        if is_symptom(point) and point.meaning >= _CLOSE:
            yield f"worded like what people write of such a fault ({point.meaning:.2f})"
        if case_of(point) is not None:  # its title would outlive it on other tickets
            yield f"like a ticket that was resolved with it ({point.meaning:.2f})"
    for name in evidence.names[:3]:
        yield f"named in the ticket: {name[:80]}"
    if evidence.signals.runs >= _MUCH:
        yield "quotes the ticket's text word for word"
    if evidence.signals.line_titled >= _MUCH:
        yield "its title or heading says what the ticket says"
