"""What a model sees of the pages that it chooses among: enough to tell them apart, and no more."""

import hashlib
import random
from dataclasses import dataclass

from services.contracts.retrieval import PageReading, RetrievedContext
from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.gateway.clarify.dialogue import text_of
from services.kit.observability.redaction import redacted
from services.knowledge.document.markdown import parse

MOST_PAGES = 8
"""The right page is among so many for 95 of 100 tickets; beyond, it seldom is."""
_TICKET = 6_000
_HEADINGS = 500
_OPENING = 650
_PASSAGE = 450
"""Characters that are shown: together some 4,000 tokens with eight pages."""
_READ = 20_000
"""Characters of a page whose headings are looked at: so much of a page is parsed once for many."""


@dataclass(frozen=True)
class Shown:
    """A ticket and the pages that may treat it, as a model sees them."""

    ticket: str
    pages: tuple[PageReading, ...]
    """In the order in which they are shown, which says nothing about how likely they are."""
    texts: tuple[str, ...]
    """Of each page what is shown."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the pages."""
        return tuple(page.document_id for page in self.pages)

    @property
    def content(self) -> str:
        """Hash of all that is shown, whatever its order."""
        whole = "\0".join((self.ticket, *sorted(self.texts)))
        return hashlib.sha256(whole.encode()).hexdigest()


def shown_of(ticket: TicketDraft, context: RetrievedContext) -> Shown:
    """The ticket and the pages found for it, shuffled by what they say."""
    told = redacted(text_of(screened(ticket).ticket).strip())[:_TICKET]
    found = [page for page in context.pages if page.score > 0][:MOST_PAGES]
    texts = {page.document_id: _text_of(page, context) for page in found}
    random.Random("\0".join((told, *sorted(texts.values())))).shuffle(found)  # noqa: S311
    return Shown(told, tuple(found), tuple(texts[page.document_id] for page in found))


def _text_of(page: PageReading, context: RetrievedContext) -> str:
    tree = parse(page.text[:_READ])
    lines = tree.lines[tree.body_line - 1 :]
    told = (
        ("path", page.document_id),
        ("headings", "; ".join(s.title for s in tree.sections if s.title)[:_HEADINGS]),
        ("begins", " ".join(" ".join(lines[:_OPENING]).split())[:_OPENING]),
        ("nearest passage", _passage(page, context)),
    )
    return redacted("\n".join(f"{name}: {said}" for name, said in told if said))


def _passage(page: PageReading, context: RetrievedContext) -> str:
    own = (found for found in context.chunks if found.chunk.span.document_id == page.document_id)
    best = max(own, key=lambda found: found.score, default=None)
    return " ".join(best.chunk.text.split())[:_PASSAGE] if best else ""
