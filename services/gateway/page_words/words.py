"""Which pages stand nearest, with what people said of them on tickets of one family.

The words of distinct people count once each, and only for the text of which they were said. They
change which pages are shown first, never how likely a page is said to be.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from services.contracts.retrieval import RIVAL_SCORE, PageReading
from services.knowledge.screening.document import hash_of

MOST_NEAREST = 3


@dataclass(frozen=True)
class PageWords:
    """What counts of it for the pages of one ticket."""

    taken: Mapping[str, int] = field(default_factory=dict)
    """How many people took a page, by its document."""
    refused_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Who refused a page, where that is enough and nobody took it since."""

    def nearest(self, pages: Iterable[PageReading]) -> list[PageReading]:
        """The best of the pages that were found and not refused.

        Those that people took stand first where they come near the best one.
        """
        best = [page for page in found_pages(pages) if page.document_id not in self.refused_by]
        nearest = best[:MOST_NEAREST]
        bar = RIVAL_SCORE * nearest[0].score if nearest else 0.0

        def taken(page: PageReading) -> int:
            return self.taken.get(page.document_id, 0) if page.score >= bar else 0

        return sorted(nearest, key=taken, reverse=True)

    def refused(self, pages: Iterable[PageReading]) -> list[PageReading]:
        """Return the best of the refused pages that were found all the same."""
        refused = [page for page in found_pages(pages) if page.document_id in self.refused_by]
        return refused[:MOST_NEAREST]


def found_pages(pages: Iterable[PageReading]) -> list[PageReading]:
    """The pages that were found, best first; others are only linked."""
    return sorted((page for page in pages if page.score > 0), key=lambda page: -page.score)


def page_hash(page: PageReading) -> str:
    """Hash of the page's whole text."""
    return hash_of(page.stored_text or page.text)
