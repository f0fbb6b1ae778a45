"""Texts of pages, which tell what is a page's own word from what is a ticket's value."""

from collections.abc import Collection

from services.contracts.retrieval import Retrieval
from services.kit.errors import NotFoundError, UnavailableError
from services.knowledge.model import Span
from services.tickets.parameters import fold_words

_LAST_LINE = 1_000_000


class PageTexts:
    """Reader of pages' texts; each is fetched once."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        self._texts: dict[str, str] = {}

    def of(self, document_ids: Collection[str]) -> str:
        """Return the folded words of these pages; of one that cannot be reached there are none."""
        for id_ in document_ids:
            if id_ not in self._texts:
                span = Span(document_id=id_, start_line=1, end_line=_LAST_LINE)
                try:
                    self._texts[id_] = fold_words(self._retrieval.source(span).text)
                except (NotFoundError, UnavailableError):
                    self._texts[id_] = ""
        return "".join(self._texts[id_] for id_ in document_ids)
