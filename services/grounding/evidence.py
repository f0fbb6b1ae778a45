"""Evidence: the text of the context, cut into sentences that can be looked up by their words."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from services.knowledge.document.markdown import Block, BlockKind, parse
from services.knowledge.model import IncidentNode, KnowledgeContext, Span
from services.language.cues import COMMAND_LEAD_IN
from services.language.sentences import statements
from services.language.words import rarity, tokenise
from services.workflow.model import Citation
from services.workflow.page_code import PageCode, code_parts

_SPACES = re.compile(r"\s+")
MOST_NEAREST = 40
"""Units that `Evidence.nearest` keeps for one text."""


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
    """Commands that it shows, line by line and between pipes."""


class Evidence:
    """Units of a context or of whole pages, without duplicates."""

    def __init__(self, units: Sequence[Unit]) -> None:
        """Index `units` by their words."""
        self.units = tuple(units)
        self._nearest: dict[frozenset[str], list[tuple[Unit, float]]] = {}
        self._unknown_weight = rarity(0, len(self.units))

    @classmethod
    def of(cls, context: KnowledgeContext) -> "Evidence":
        """Build the evidence of a context from the passages of its nodes and its chunks."""
        nodes: list[IncidentNode] = [hit.node for hit in context.nodes]
        passages = [p for node in (*nodes, *context.linked) for p in node.all_passages()]
        texts = [(passage.text, passage.span) for passage in passages]
        texts += [(hit.chunk.text, hit.chunk.span) for hit in context.chunks]
        units = (unit for text, span in texts for unit in _units_of_text(text, span))
        unique = {(unit.document_id, unit.start_line, unit.text): unit for unit in units}
        return cls(list(unique.values()))

    @classmethod
    def of_pages(cls, texts: Mapping[str, str]) -> "Evidence":
        """Build the evidence of whole pages, by their ids: the same for every ticket."""
        return _evidence_of_pages(tuple(texts.items()))

    @cached_property
    def _postings(self) -> dict[str, NDArray[np.intp]]:
        postings: dict[str, list[int]] = defaultdict(list)
        for index, unit in enumerate(self.units):
            for term in unit.terms:
                postings[term].append(index)
        return {term: np.array(positions, np.intp) for term, positions in postings.items()}

    @cached_property
    def _by_line(self) -> dict[str, list[list[int]]]:
        """Positions of the units at each line, from 0, of each document."""
        documents: dict[str, list[list[int]]] = defaultdict(list)
        for position, unit in enumerate(self.units):
            lines = documents[unit.document_id]
            lines += [[] for _ in range(len(lines), unit.end_line + 1)]
            for line in range(unit.start_line, unit.end_line + 1):
                lines[line].append(position)
        return documents

    def contains(self, term: str) -> bool:
        """Return True if any unit contains this stemmed word."""
        return term in self._postings

    def quotes(self, command: str) -> bool:
        """Return True if the sources show each line of this command, spacing and prompts aside.

        A line counts if it is a whole line of a code block, or the first part of a pipe there, a
        cell, a span of code, or what a sentence ends by instructing to run. A truncated line is
        another command: `rm -rf /` is not what `rm -rf /var/cache` says.
        """
        lines = lines_of(command)
        return bool(lines) and all(
            line in self._shown
            or any(instructs(unit.text, line) for unit in self.units if not unit.is_code)
            for line in lines
        )

    @cached_property
    def _shown(self) -> frozenset[str]:
        return frozenset(line for unit in self.units for line in unit.shows)

    @cached_property
    def _weights(self) -> dict[str, float]:
        total = len(self.units)
        return {term: rarity(len(positions), total) for term, positions in self._postings.items()}

    def mass(self, terms: Iterable[str]) -> float:
        """Return the summed weight of some words.

        A word weighs its inverse document frequency over the units: one that is everywhere proves
        little, one that no source contains weighs most.
        """
        weights, unknown = self._weights, self._unknown_weight
        return sum(weights.get(term, unknown) for term in terms)

    def share(self, terms: frozenset[str], present: frozenset[str] | set[str]) -> float:
        """Return the share, 0–1, of the weight of `terms` that is in `present`."""
        total = self.mass(terms)
        return self.mass(terms & present) / total if total else 0.0

    def nearest(self, terms: frozenset[str], limit: int) -> Sequence[tuple[Unit, float]]:
        """Return the units with most of the weight of `terms`, with that share, best first.

        At most `limit`, and never more than `MOST_NEAREST`.
        """
        if terms in self._nearest:
            return self._nearest[terms][:limit]
        total = self.mass(terms)
        masses = np.zeros(len(self.units))
        for term in terms & self._weights.keys():
            masses[self._postings[term]] += self._weights[term]
        best = np.argsort(-masses, kind="stable")[:MOST_NEAREST]
        self._nearest[terms] = [
            (self.units[index], float(masses[index]) / total) for index in best if masses[index]
        ]
        return self._nearest[terms][:limit]

    def cited(self, citations: Sequence[Citation]) -> list[Unit]:
        """Return the units that share a line with a citation, in the order of their lines."""
        cited: dict[str, set[int]] = {citation.document_id: set() for citation in citations}
        for citation in citations:
            lines = self._by_line.get(citation.document_id, [])
            for positions in lines[citation.start_line : citation.end_line + 1]:
                cited[citation.document_id].update(positions)
        return [
            self.units[position]
            for positions in cited.values()
            for position in sorted(positions, key=lambda at: (self.units[at].start_line, at))
        ]


@lru_cache(maxsize=64)
def _evidence_of_pages(texts: tuple[tuple[str, str], ...]) -> Evidence:
    """Build the evidence of pages; cached, since a page's workflows are judged in a row."""
    return Evidence([unit for id_, text in texts for unit in units_of_page(id_, text)])


def units_of_page(document_id: str, text: str) -> tuple[Unit, ...]:
    """Return all units of a whole page."""
    lines = max(1, len(text.splitlines()))
    return _units_of_text(text, Span(document_id=document_id, start_line=1, end_line=lines))


@lru_cache(maxsize=8192)
def _units_of_text(text: str, span: Span) -> tuple[Unit, ...]:
    """Return the units of a text; cached, since the same passages recur with the next ticket."""
    units: list[Unit] = []
    for section in parse(text, first_line=span.start_line).sections:
        if section.title:
            units.append(_unit(section.title, span, section.start_line, section.start_line))
        for block in section.blocks:
            for part in block.walk():
                units += _units_of_block(part, span)
    return tuple(units)


def _units_of_block(block: Block, span: Span) -> Iterator[Unit]:
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
        shows=frozenset(shown_commands([text] if is_code else shows)),
    )


def terms_of(text: str) -> frozenset[str]:
    """Return the stemmed words of a text, without stop words."""
    return frozenset(tokenise(text))


_FORBIDS = re.compile(r"\b(?:never|not|cannot|avoid|without)\b|n't\b", re.IGNORECASE)
_CONTINUED = re.compile(r"\\\n\s*|(?<=[|&])[ \t]*\n\s*")
_COMMENT = re.compile(r"\s+#\s.*$")
_SENTENCE_END = " .:;,"


def lines_of(command: str) -> list[str]:
    """Return the lines of a command without prompts, continued ones joined, spaces single."""
    typed = "\n".join(part.text for part in code_parts(PageCode(command)))
    lines = (" ".join(line.split()) for line in _CONTINUED.sub(" ", typed).splitlines())
    return [line for line in lines if line]


def shown_commands(texts: Iterable[str]) -> Iterator[str]:
    """Yield what the texts show: each as a whole, every line, and the first part of a pipe."""
    for lines in map(lines_of, texts):
        yield " ".join(lines)
        for line in lines:
            yield line
            bare = _COMMENT.sub("", line)
            yield bare
            yield bare.split(" | ")[0]


def instructs(sentence: str, command: str) -> bool:
    """Return True if a sentence ends by instructing to run the command, or is just that command."""
    for text in (sentence, sentence.rstrip(_SENTENCE_END)):
        before = text.removesuffix(command)
        if before != text and (
            not before or (COMMAND_LEAD_IN.search(before) and not _FORBIDS.search(before))
        ):
            return True
    return False
