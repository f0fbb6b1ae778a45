"""All pages that ingestion knows, asked for many at once."""

from collections.abc import Iterator

from services.contracts.ingestion import DocumentQuery, IngestedDocument, Ingestion

_AT_ONCE = 1000


def all_documents(ingestion: Ingestion) -> Iterator[IngestedDocument]:
    """In the order of their ids."""
    after = ""
    while True:
        some = ingestion.documents(DocumentQuery(after=after, limit=_AT_ONCE))
        yield from some
        if len(some) < _AT_ONCE:
            return
        after = some[-1].id
