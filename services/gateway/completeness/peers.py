"""Pages about the same kind of fault, with what they check."""

from collections.abc import Sequence

from services.contracts.retrieval import PageReading, PeersQuery, Retrieval
from services.kit.errors import NotFoundError
from services.procedure.checks.check import checks_of
from services.procedure.checks.completeness import MOST_PEERS, NEAR_PEERS, Peer
from services.procedure.lowering import lower


def pages_of_a_kind(retrieval: Retrieval, documents: Sequence[str]) -> list[Peer]:
    """Of the first document: pages that tell a procedure, also one without any check.

    Pages that the platform wrote itself are left out: they repeat what it has seen.

    Raises:
        UnavailableError: Retrieval did not answer.
    """
    if not documents:
        return []
    query = PeersQuery(document_id=documents[0], most=MOST_PEERS, least_meaning=NEAR_PEERS)
    try:
        found = retrieval.peers(query)
    except NotFoundError:  # the page was forgotten since
        return []
    return [
        _peer_of(page)
        for page in found
        if page.document_id not in documents and not page.origin and page.procedures
    ]


def _peer_of(page: PageReading) -> Peer:
    checks = (
        check for each in page.procedures for check in checks_of(lower(each, page.document_id))
    )
    return Peer(page.document_id, page.title, tuple(checks))
