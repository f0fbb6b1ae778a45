"""What a workflow rests on that nobody wrote by hand."""

from collections.abc import Collection, Sequence

from services.contracts.retrieval import PageReading

BEGUN_FROM_BOXES = "begun from boxes: nobody was asked for its decisions"


def origin_among(pages: Sequence[PageReading], document_ids: Collection[str]) -> str:
    """How the first of these documents came about that was learned or composed; else empty."""
    told = (page.origin for page in pages if page.document_id in document_ids)
    return next(filter(None, told), "")
