"""Pages as a model sees them when it chooses: enough to tell them apart, and no more."""

import hashlib
import random
from dataclasses import dataclass

from services.contracts.retrieval import PageReading, RetrievedContext
from services.contracts.screened_ticket import ScreenedTicket
from services.kit.observability.redaction import redact
from services.knowledge.document.markdown import parse
from services.tickets.clarify.dialogue import text_of

MOST_PAGES = 8
"""Most pages shown: the right one is among so many for 95 of 100 tickets; beyond, it seldom is."""
_TICKET = 6_000
_HEADINGS = 500
_OPENING = 650
_PASSAGE = 450
"""Characters of a passage that are shown. With all limits, eight pages are some 4,000 tokens."""
_READ = 20_000
"""Characters of a page whose headings are read: so much of a page is parsed once for many."""


@dataclass(frozen=True)
class ShownPages:
    """Ticket and the pages that may treat it, as a model sees them."""

    ticket: str
    pages: tuple[PageReading, ...]
    """Pages in the order in which they are shown, which says nothing about how likely they are."""
    texts: tuple[str, ...]
    """Text that is shown of each page."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the pages."""
        return tuple(page.document_id for page in self.pages)

    @property
    def content(self) -> str:
        """Hash of all that is shown, whatever its order."""
        whole = "\0".join((self.ticket, *sorted(self.texts)))
        return hashlib.sha256(whole.encode()).hexdigest()


def show_pages(ticket: ScreenedTicket, context: RetrievedContext) -> ShownPages:
    """Return the ticket and the pages retrieved for it, shuffled by what they say."""
    ticket_text = redact(text_of(ticket.for_model()).strip())[:_TICKET]
    pages = [page for page in context.pages if page.score > 0][:MOST_PAGES]
    texts = {page.document_id: _text_of(page, context) for page in pages}
    random.Random("\0".join((ticket_text, *sorted(texts.values())))).shuffle(pages)  # noqa: S311
    return ShownPages(ticket_text, tuple(pages), tuple(texts[page.document_id] for page in pages))


def _text_of(page: PageReading, context: RetrievedContext) -> str:
    tree = parse(page.text[:_READ])
    lines = tree.lines[tree.body_line - 1 :]
    own = (match for match in context.chunks if match.chunk.span.document_id == page.document_id)
    nearest = max(own, key=lambda match: match.score, default=None)
    passage = " ".join(nearest.chunk.text.split())[:_PASSAGE] if nearest else ""
    parts = (
        ("path", page.document_id),
        ("headings", "; ".join(s.title for s in tree.sections if s.title)[:_HEADINGS]),
        ("begins", " ".join(" ".join(lines[:_OPENING]).split())[:_OPENING]),
        ("nearest passage", passage),
    )
    return redact("\n".join(f"{name}: {text}" for name, text in parts if text))
