"""What the context holds of one document, read as a page again: parts with roles."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from services.knowledge.document.markdown import Block, Page, parse
from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import (
    IncidentNode,
    KnowledgeContext,
    Passage,
    SectionRole,
    Span,
)

_MOST_HEAD_LINES = 20
"""Front matter, title and badges; further up stands what belongs to something else."""


@dataclass(frozen=True)
class Part:
    """A section's text with its role, parsed."""

    passage: Passage

    @property
    def role(self) -> SectionRole:
        """What the section does."""
        return self.passage.role

    @property
    def heading(self) -> str:
        """The innermost heading."""
        return self.passage.heading_path[-1] if self.passage.heading_path else ""

    @property
    def depth(self) -> int:
        """Headings above the text; the document's title counts as one."""
        return len(self.passage.heading_path)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its blocks; those below a bold line stand after it."""
        sections = _parsed(self.passage.text, self.passage.span.start_line).sections
        return tuple(block for section in sections for block in section.blocks)

    @property
    def span(self) -> Span:
        """All its lines."""
        return self.passage.span

    def lines(self, start: int, end: int) -> Span:
        """Some of its lines."""
        return Span(document_id=self.span.document_id, start_line=start, end_line=end)


@dataclass(frozen=True)
class Article:
    """One document's part of an incident node."""

    name: str
    node: IncidentNode
    document_id: str
    parts: tuple[Part, ...]
    score: float

    def of_role(self, *roles: SectionRole) -> list[Part]:
        """Parts of these roles in document order."""
        return [part for part in self.parts if part.role in roles]

    @property
    def description(self) -> tuple[Span, ...]:
        """Lines that name and say what fails: the head of the page, at most two passages."""
        described = self.of_role(SectionRole.MEANING, SectionRole.SYMPTOM) or list(self.parts)
        return (self._head, *(part.span for part in described[:2]))

    @property
    def _head(self) -> Span:
        """From the title, which stands above the first passage, to where that begins."""
        first = self.parts[0].span.start_line
        top = max(1, first - _MOST_HEAD_LINES)
        return Span(document_id=self.document_id, start_line=top, end_line=first)


def articles(context: KnowledgeContext) -> list[Article]:
    """The documents of the context, best first: those of the nodes, then those only chunks show.

    Of several documents that tell the same incident, the one whose chunks rank higher leads.
    """
    ranks = {hit.chunk.span.document_id: n for n, hit in reversed(list(enumerate(context.chunks)))}
    found = [
        article
        for hit in context.nodes
        for article in sorted(
            articles_of(hit.node, score=hit.score),
            key=lambda article: ranks.get(article.document_id, len(context.chunks)),
        )
    ]
    known = {article.document_id for article in found}
    found.extend(_of_chunks(context, known))
    return found


def articles_of(node: IncidentNode, *, score: float = 0.0) -> list[Article]:
    """A node, document by document."""
    return [
        Article(
            name=node.name,
            node=node,
            document_id=document_id,
            parts=_parts(p for p in node.all_passages() if p.span.document_id == document_id),
            score=score,
        )
        for document_id in node.document_ids
    ]


def _parts(passages: Iterable[Passage]) -> tuple[Part, ...]:
    ordered = sorted(passages, key=lambda passage: passage.span.start_line)
    return tuple(Part(passage) for passage in ordered)


def _of_chunks(context: KnowledgeContext, known: set[str]) -> Iterator[Article]:
    """Documents of which no node came along: their chunks, roles told by the headings."""
    by_document: dict[str, list[Passage]] = {}
    scores: dict[str, float] = {}
    for hit in context.chunks:
        chunk = hit.chunk
        if chunk.span.document_id in known:
            continue
        scores.setdefault(chunk.span.document_id, hit.score)
        role = role_of_heading(chunk.heading_path[-1]) if chunk.heading_path else None
        by_document.setdefault(chunk.span.document_id, []).append(
            Passage(
                span=chunk.span,
                role=role or SectionRole.PROCEDURE,
                heading_path=chunk.heading_path,
                text=chunk.text,
            )
        )
    for document_id, passages in by_document.items():
        name = next((p.heading_path[0] for p in passages if p.heading_path), document_id)
        node = IncidentNode(id=document_id, name=name, mitigation_steps=tuple(passages))
        yield from articles_of(node, score=scores[document_id])


@lru_cache(maxsize=4096)
def _parsed(text: str, first_line: int) -> Page:
    """Remembered, since the same passages come back with the next ticket."""
    return parse(text, first_line=first_line)


def spans(parts: Sequence[Part]) -> tuple[Span, ...]:
    """The lines of several parts."""
    return tuple(part.span for part in parts)
