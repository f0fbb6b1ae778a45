"""What the context says, cut into sentences that can be looked up by their words."""

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from services.grounding.commands import lines_of, shown_in, tells
from services.knowledge.document.markdown import Block, BlockKind, MarkdownPage, parse
from services.knowledge.model import IncidentNode, KnowledgeContext, Span
from services.language.pieces import statements
from services.language.words import rarity, tokenise
from services.workflow.model import Citation

_SPACES = re.compile(r"\s+")
MOST_NEAREST = 40
"""Units that `Evidence.nearest` looks at for one text."""


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One sentence, list item, table row or code block of a source."""

    text: str
    document_id: str
    start_line: int
    end_line: int
    is_code: bool
    terms: frozenset[str]
    shows: frozenset[str]
    """Commands it shows, line by line and between pipes."""


class Evidence:
    """All units of a context or of whole pages, none twice."""

    def __init__(self, units: Sequence[Unit]) -> None:
        """Indexes `units` by their words."""
        self.units = tuple(units)
        self._nearest: dict[frozenset[str], list[tuple[Unit, float]]] = {}

    @classmethod
    def of(cls, context: KnowledgeContext) -> "Evidence":
        """What the passages of its nodes and its chunks say."""
        unique = {(unit.document_id, unit.start_line, unit.text): unit for unit in _units(context)}
        return cls(list(unique.values()))

    @classmethod
    def of_pages(cls, texts: Mapping[str, str]) -> "Evidence":
        """What whole pages say, by their ids: the same whatever ticket they are used for."""
        return _of_pages(tuple(texts.items()))

    @cached_property
    def _postings(self) -> dict[str, list[int]]:
        postings: dict[str, list[int]] = defaultdict(list)
        for index, unit in enumerate(self.units):
            for term in unit.terms:
                postings[term].append(index)
        return postings

    @cached_property
    def by_document(self) -> dict[str, list[Unit]]:
        """Units of each document in the order of its lines."""
        documents: dict[str, list[Unit]] = defaultdict(list)
        for unit in self.units:
            documents[unit.document_id].append(unit)
        return {
            name: sorted(units, key=lambda unit: unit.start_line)
            for name, units in documents.items()
        }

    def knows(self, term: str) -> bool:
        """Whether any unit holds this stemmed word."""
        return term in self._postings

    def quotes(self, command: str) -> bool:
        """Whether the sources show each line of this command, spacing and prompts aside.

        A line counts where it is a whole line of a code block, or what a pipe there begins with, a
        cell, a span of code, or what a sentence ends by telling to run. A cut-off line is another
        command: `rm -rf /` is not what `rm -rf /var/cache` says.
        """
        lines = lines_of(command)
        return bool(lines) and all(
            line in self._shown
            or any(tells(unit.text, line) for unit in self.units if not unit.is_code)
            for line in lines
        )

    @cached_property
    def _shown(self) -> frozenset[str]:
        return frozenset(line for unit in self.units for line in unit.shows)

    @cached_property
    def _weights(self) -> dict[str, float]:
        total = len(self.units)
        return {term: rarity(len(found), total) for term, found in self._postings.items()}

    @cached_property
    def _unknown_weight(self) -> float:
        return rarity(0, len(self.units))

    def mass(self, terms: Iterable[str]) -> float:
        """The summed weight of some words.

        A word weighs its inverse document frequency over the units: one that is everywhere proves
        little, one that no source holds weighs most.
        """
        weights, unknown = self._weights, self._unknown_weight
        return sum(weights.get(term, unknown) for term in terms)

    def share(self, terms: frozenset[str], found: frozenset[str] | set[str]) -> float:
        """How much of the weight of `terms` is in `found`, 0–1."""
        total = self.mass(terms)
        return self.mass(terms & found) / total if total else 0.0

    def nearest(self, terms: frozenset[str], limit: int) -> Sequence[tuple[Unit, float]]:
        """Units that hold the most of the weight of `terms`, with that share, best first.

        At most `limit`, and never more than `MOST_NEAREST`.
        """
        if terms not in self._nearest:
            self._nearest[terms] = self._find_nearest(terms)
        return self._nearest[terms][:limit]

    def _find_nearest(self, terms: frozenset[str]) -> list[tuple[Unit, float]]:
        total = self.mass(terms)
        masses: dict[int, float] = defaultdict(float)
        for term in terms & self._weights.keys():
            weight = self._weights[term]
            for index in self._postings[term]:
                masses[index] += weight
        best = heapq.nsmallest(MOST_NEAREST, masses.items(), key=lambda item: (-item[1], item[0]))
        return [(self.units[index], mass / total) for index, mass in best]

    def cited(self, citations: Sequence[Citation]) -> list[Unit]:
        """Units that share a line with one of the citations, in the order of their lines."""
        return [
            unit
            for name in dict.fromkeys(citation.document_id for citation in citations)
            for unit in self.by_document.get(name, ())
            if any(
                c.document_id == name
                and unit.start_line <= c.end_line
                and c.start_line <= unit.end_line
                for c in citations
            )
        ]


@lru_cache(maxsize=64)
def _of_pages(texts: tuple[tuple[str, str], ...]) -> Evidence:
    """Remembered, since a page's workflows are judged one after the other."""
    return Evidence([unit for id_, text in texts for unit in units_of_page(id_, text)])


def units_of_page(document_id: str, text: str) -> tuple[Unit, ...]:
    """All units of a whole page."""
    lines = max(1, len(text.splitlines()))
    return _of_text(text, Span(document_id=document_id, start_line=1, end_line=lines))


def _units(context: KnowledgeContext) -> Iterator[Unit]:
    nodes: list[IncidentNode] = [found.node for found in context.nodes]
    for node in (*nodes, *context.linked):
        for passage in node.all_passages():
            yield from _of_text(passage.text, passage.span)
    for found in context.chunks:
        yield from _of_text(found.chunk.text, found.chunk.span)


@lru_cache(maxsize=8192)
def _of_text(text: str, span: Span) -> tuple[Unit, ...]:
    """Remembered, since the same passages come back with the next ticket."""
    page = parse(text, first_line=span.start_line)
    return tuple(_of_page(page, span))


def _of_page(page: MarkdownPage, span: Span) -> Iterator[Unit]:
    for section in page.sections:
        if section.title:
            yield _unit(section.title, span, section.start_line, section.start_line)
        for block in section.blocks:
            for part in block.walk():
                yield from _of_block(part, span)


def _of_block(block: Block, span: Span) -> Iterator[Unit]:
    if block.kind is BlockKind.CODE:
        yield _unit(block.text, span, block.start_line, block.end_line, is_code=True)
    elif block.kind is BlockKind.TABLE:
        for row in block.rows:
            text = ": ".join(cell for cell in row.cells if cell)
            yield _unit(text, span, row.line, row.line, shows=(*row.cells, *row.inline_code))
    elif block.kind is BlockKind.PARAGRAPH:
        for sentence in statements(block.text):
            shows = block.inline_code
            yield _unit(sentence, span, block.start_line, block.end_line, shows=shows)


def _unit(
    text: str,
    span: Span,
    start: int,
    end: int,
    *,
    is_code: bool = False,
    shows: Sequence[str] = (),
) -> Unit:
    last = max(span.end_line, span.start_line)
    return Unit(
        text=text if is_code else _SPACES.sub(" ", text).strip(),
        document_id=span.document_id,
        start_line=min(start, last),
        end_line=min(end, last),
        is_code=is_code,
        terms=terms_of(text),
        shows=frozenset(shown_in([text] if is_code else shows)),
    )


@lru_cache(maxsize=32768)
def terms_of(text: str) -> frozenset[str]:
    """The stemmed words of a text, stop words left out."""
    return frozenset(tokenise(text))
