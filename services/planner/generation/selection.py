"""Which lines the model is shown: the best page whole, then passages of other pages."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import zip_longest

from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.kit.observability.redaction import redacted
from services.knowledge.model import IncidentNode, KnowledgeContext, RetrievedChunk, Span
from services.llm.tokens import CHARACTERS_PER_TOKEN
from services.planner.generation.parts import cost, parts
from services.planner.generation.shown import Excerpt, Shown

_LEAST_TITLE = 2
"""Words of a title that tell a page from a word of the sentence."""

_Piece = tuple[str, Span, str]
"""Title, lines, and the text where the page itself is not known."""


def shown(request: PlanRequest, *, page_tokens: int, context_tokens: int) -> Shown:
    """The best page, its parts near what was found where it is too long, then other passages.

    Pages that the best one names come first among these, then passages in falling relevance.
    """
    best = best_page(request)
    pages = {page.document_id: _PageLines(page) for page in request.pages if page.text}
    own = list(_own(pages[best.document_id], request.context, page_tokens)) if best else []
    pieces = (*_named(request, best), *_by_turns(request.context))
    return Shown(own, list(_others(pieces, pages, own, context_tokens)))


def best_page(request: PlanRequest) -> PageReading | None:
    """The most relevant page; None where its text is not known."""
    first = next(iter(request.pages), None)
    return first if first and first.text else None


class _PageLines:
    """The lines of a page, as they stand and without secrets."""

    def __init__(self, page: PageReading) -> None:
        self.page = page

    @cached_property
    def _lines(self) -> Sequence[str]:
        return self.page.text.split("\n")

    @cached_property
    def _safe(self) -> Sequence[str]:
        """Of the whole page: a secret may begin before the lines that are shown."""
        return redacted(self.page.text).split("\n")

    def excerpt(self, title: str, first: int, last: int) -> Excerpt:
        """Those of the lines that there are."""
        lines, safe = self._lines[first - 1 : last], self._safe[first - 1 : last]
        return Excerpt(self.page.document_id, _plain(title), first, tuple(lines), tuple(safe))


def _own(page: _PageLines, context: KnowledgeContext, tokens: int) -> Iterator[Excerpt]:
    spans = (span for _, span, _ in _by_turns(context))
    id_, text = page.page.document_id, page.page.text
    found = [(span.start_line, span.end_line) for span in spans if span.document_id == id_]
    for first, last in parts(text, found, int(tokens * CHARACTERS_PER_TOKEN)):
        yield page.excerpt(page.page.title, first, last)


def _others(
    pieces: Sequence[_Piece], pages: dict[str, _PageLines], seen: Sequence[Excerpt], tokens: int
) -> Iterator[Excerpt]:
    """What fits, the last one cut; no line that is shown already is shown again with all others."""
    left = int(tokens * CHARACTERS_PER_TOKEN)
    known = list(seen)
    for title, span, text in pieces:
        if any(e.holds(span.document_id, span.start_line, span.end_line) for e in known):
            continue
        page = pages.get(span.document_id)
        whole = page.excerpt(title, span.start_line, span.end_line) if page else None
        excerpt = _cut(whole or _alone(title, span, text), left)
        if not excerpt.lines:
            return
        left -= cost(excerpt.lines)
        known.append(excerpt)
        yield excerpt


def _alone(title: str, span: Span, text: str) -> Excerpt:
    """A passage of a page of which nothing else is known."""
    lines, safe = text.split("\n"), redacted(text).split("\n")
    return Excerpt(span.document_id, _plain(title), span.start_line, tuple(lines), tuple(safe))


def _cut(excerpt: Excerpt, characters: int) -> Excerpt:
    kept = 0
    for line in excerpt.lines:
        characters -= cost([line])
        if characters < 0:
            break
        kept += 1
    lines, safe = excerpt.lines[:kept], excerpt.safe[:kept]
    return Excerpt(excerpt.document_id, excerpt.title, excerpt.start, lines, safe)


def _named(request: PlanRequest, best: PageReading | None) -> Iterator[_Piece]:
    """Other pages whose title stands in the best one."""
    said = f" {_words(best.text)} " if best else ""
    for page in request.pages[1:]:
        title = _words(page.title)
        if page.text and len(title.split()) >= _LEAST_TITLE and f" {title} " in said:
            last = len(page.text.split("\n"))
            span = Span(document_id=page.document_id, start_line=1, end_line=last)
            yield page.title, span, page.text


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _by_turns(context: KnowledgeContext) -> Iterator[_Piece]:
    """Passages of nodes and chunks by turns, both in falling relevance."""
    nodes = [list(_of_node(hit.node)) for hit in context.nodes]
    chunks = [_of_chunk(hit) for hit in context.chunks]
    for pieces, chunk in zip_longest(nodes, chunks):
        yield from pieces or ()
        if chunk:
            yield chunk


def _of_node(node: IncidentNode) -> Iterator[_Piece]:
    for passage in node.all_passages():
        title = " > ".join(dict.fromkeys((node.name, *passage.heading_path[-1:])))
        yield title, passage.span, passage.text


def _of_chunk(hit: RetrievedChunk) -> _Piece:
    return " > ".join(hit.chunk.heading_path), hit.chunk.span, hit.chunk.text


def _plain(title: str) -> str:
    return " ".join(redacted(title).split())
