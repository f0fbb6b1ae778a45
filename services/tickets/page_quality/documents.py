"""Documents of ingestion, if the gateway has one to ask."""

from collections.abc import Iterator

from services.contracts.ingestion import DocumentQuery, IngestedDocument, Ingestion
from services.kit.errors import UnavailableError

_AT_ONCE = 1000


def require_ingestion(ingestion: Ingestion | None) -> Ingestion:
    """Return the ingestion.

    Raises:
        UnavailableError: There is none.
    """
    if ingestion is None:
        raise UnavailableError("this gateway knows no ingestion to ask about pages")
    return ingestion


def all_documents(ingestion: Ingestion) -> Iterator[IngestedDocument]:
    """Yield all documents in the order of their ids, many in one request."""
    after = ""
    while True:
        some = ingestion.documents(DocumentQuery(after=after, limit=_AT_ONCE))
        yield from some
        if len(some) < _AT_ONCE:
            return
        after = some[-1].id
