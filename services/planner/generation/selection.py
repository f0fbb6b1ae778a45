"""Selection of the lines that the model is shown: the best page whole, then other passages."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, zip_longest

from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.kit.observability.redaction import redact
from services.knowledge.model import KnowledgeContext, Span
from services.knowledge.page.block import BlockKind
from services.knowledge.page.parsing import parse_page
from services.llm.chat_model import CHARACTERS_PER_TOKEN
from services.planner.generation.numbered_excerpts import Excerpt, NumberedExcerpts
from services.runbook.model import LineRange

_LEAST_TITLE = 2
"""Minimum of words by which a title differs from words of a sentence."""

_TitledSpan = tuple[str, Span, str]
"""Title, lines, and the text if the page itself is unknown."""
_NUMBER = 8
"""Characters that a line number takes, with its separators."""


def character_count(lines: Sequence[str]) -> int:
    """Count the characters that numbered lines take."""
    return sum(len(line) + _NUMBER for line in lines)


def select_parts(text: str, relevant: Sequence[LineRange], characters: int) -> list[LineRange]:
    """Return line ranges that fit, in page order: the head, relevant lines, then lines near those.

    The whole page if it fits. `relevant` names the most relevant lines first.
    """
    lines = text.split("\n")
    if character_count(lines) <= characters:
        return [(1, len(lines))]
    units = list(_units(text, len(lines)))
    chosen: list[LineRange] = []
    for first, last in _by_nearness(units, relevant):
        taken = character_count(lines[first - 1 : last])
        if taken <= characters:
            chosen.append((first, last))
            characters -= taken
    return list(_join_ranges(sorted(chosen)))


def _units(text: str, last: int) -> Iterator[LineRange]:
    """Yield units that must not be cut: headings, blocks, list items; together the whole page."""
    starts = {1}
    for block in parse_page(text).blocks:
        items = block.children if block.kind is BlockKind.LIST else ()
        starts |= {block.start_line, *(item.start_line for item in items)}
    for start, following in pairwise([*sorted(starts), last + 1]):
        yield start, following - 1


def _by_nearness(units: Sequence[LineRange], relevant: Sequence[LineRange]) -> list[LineRange]:
    """Order the units: the head, the relevant ones (best first), then by distance from those."""
    hits = [
        place
        for first, last in relevant
        for place, unit in enumerate(units)
        if unit[0] <= last and first <= unit[1]
    ]
    near = sorted(
        range(len(units)), key=lambda place: min((abs(place - hit) for hit in hits), default=place)
    )
    return [units[place] for place in dict.fromkeys((0, *hits, *near))]


def _join_ranges(ranges: Sequence[LineRange]) -> Iterator[LineRange]:
    start, end = ranges[0] if ranges else (1, 0)
    for first, last in ranges[1:]:
        if first > end + 1:
            yield start, end
            start = first
        end = last
    if end:
        yield start, end


def select_excerpts(
    request: PlanRequest, *, page_tokens: int, context_tokens: int
) -> NumberedExcerpts:
    """Select the best page, or its relevant parts if it is too long, then other passages.

    Pages that the best one names come first among these, then passages in falling relevance.
    """
    best = best_page(request)
    pages = {page.document_id: _ExcerptSource(page) for page in request.pages if page.text}
    own: list[Excerpt] = []
    if best:
        spans = [span for _, span, _ in _interleaved(request.context)]
        own_spans = [s for s in spans if s.document_id == best.document_id]
        relevant = [(span.start_line, span.end_line) for span in own_spans]
        parts = select_parts(best.text, relevant, int(page_tokens * CHARACTERS_PER_TOKEN))
        source = pages[best.document_id]
        own = [source.excerpt(best.title, first, last) for first, last in parts]
    pieces = (*_named_pages(request, best), *_interleaved(request.context))
    return NumberedExcerpts(own, list(_other_excerpts(pieces, pages, own, context_tokens)))


def best_page(request: PlanRequest) -> PageReading | None:
    """Return the most relevant page; None if its text is unknown."""
    first = next(iter(request.pages), None)
    return first if first and first.text else None


class _ExcerptSource:
    """The lines of a page, verbatim and without secrets."""

    def __init__(self, page: PageReading) -> None:
        self.page = page
        self._lines = page.text.split("\n")

    @cached_property
    def _safe(self) -> Sequence[str]:
        """The redacted lines, of the whole page: a secret may begin above the excerpt."""
        return redact(self.page.text).split("\n")

    def excerpt(self, title: str, first: int, last: int) -> Excerpt:
        """Return the existing lines of a range."""
        lines, safe = self._lines[first - 1 : last], self._safe[first - 1 : last]
        return Excerpt(self.page.document_id, _plain(title), first, tuple(lines), tuple(safe))


def _other_excerpts(
    pieces: Sequence[_TitledSpan],
    pages: dict[str, _ExcerptSource],
    seen: Sequence[Excerpt],
    tokens: int,
) -> Iterator[Excerpt]:
    """Yield excerpts that fit, the last one cut; a piece whose lines are all shown is skipped."""
    left = int(tokens * CHARACTERS_PER_TOKEN)
    shown_excerpts = list(seen)
    for title, span, text in pieces:
        if any(e.holds(span.document_id, span.start_line, span.end_line) for e in shown_excerpts):
            continue
        page = pages.get(span.document_id)
        if page:
            whole = page.excerpt(title, span.start_line, span.end_line)
        else:
            lines, safe = text.split("\n"), redact(text).split("\n")
            start = span.start_line
            whole = Excerpt(span.document_id, _plain(title), start, tuple(lines), tuple(safe))
        kept = 0
        for line in whole.lines:
            if character_count([line]) > left:
                break
            left -= character_count([line])
            kept += 1
        if not kept:
            return
        excerpt = replace(whole, lines=whole.lines[:kept], safe=whole.safe[:kept])
        shown_excerpts.append(excerpt)
        yield excerpt


def _named_pages(request: PlanRequest, best: PageReading | None) -> Iterator[_TitledSpan]:
    """Yield other pages whose titles occur in the best one."""
    best_words = f" {_words(best.text)} " if best else ""
    for page in request.pages[1:]:
        title = _words(page.title)
        if page.text and len(title.split()) >= _LEAST_TITLE and f" {title} " in best_words:
            last = len(page.text.split("\n"))
            span = Span(document_id=page.document_id, start_line=1, end_line=last)
            yield page.title, span, page.text


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _interleaved(context: KnowledgeContext) -> Iterator[_TitledSpan]:
    """Yield passages of nodes and chunks in turn, both in falling relevance."""
    for hit, hit_chunk in zip_longest(context.nodes, context.chunks):
        for passage in hit.node.all_passages() if hit else ():
            title = " > ".join(dict.fromkeys((hit.node.name, *passage.heading_path[-1:])))
            yield title, passage.span, passage.text
        if hit_chunk:
            chunk = hit_chunk.chunk
            yield " > ".join(chunk.heading_path), chunk.span, chunk.text


def _plain(title: str) -> str:
    return " ".join(redact(title).split())
