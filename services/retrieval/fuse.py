"""From what several searches found to one score per document.

A signal is a number in 0–1 that says one thing about a document and the query; documents are
ranked by the weighted sum of theirs. Cosine and BM25 are combined by their values, not by their
ranks (Bruch et al., An Analysis of Fusion Functions for Hybrid Retrieval, 2023).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from services.knowledge.stores.points import words_of_chunk
from services.retrieval.calibration import Order, Signals
from services.retrieval.candidates import Candidates, FoundPoint, chunk_document
from services.retrieval.match import Rarity, Terms, terms_in, terms_of, union
from services.retrieval.query import RetrievalQuery
from services.retrieval.said import is_said

_NEAR_MEANING, _NEAR_WORDS = 1.9, 0.9
"""What orders the parts of one document, and documents before they are looked at more closely."""


_KIND_OF_PAGE = terms_of(
    "alert alarm documentation faq guide how howto incident introduction issue known overview"
    " playbook problem procedure readme reference runbook sop summary troubleshoot troubleshooting"
).words

_LOOKED_AT = 50
"""Documents that are compared word by word."""


class DocumentEvidence(NamedTuple):
    """What was found of one document, and what it is worth."""

    document_id: str
    chunks: tuple[FoundPoint, ...]
    """Best first."""
    nodes: tuple[FoundPoint, ...]
    """Best first."""
    signals: Signals
    score: float
    """The weighted mean of the signals, 0–1."""
    names: tuple[str, ...]
    """Names in the ticket that incidents of the document bear."""


class Ranked(NamedTuple):
    """What was found, ranked."""

    documents: Sequence[DocumentEvidence] = ()
    """Best first."""
    words: Mapping[str, float] = {}
    """Of the query, those that a chunk has, with their weights."""


def rank_documents(query: RetrievalQuery, candidates: Candidates, order: Order) -> Ranked:
    """The nearest documents of the candidates; equal ones by id."""
    chunks, nodes = _by_document(candidates)
    named = {id_ for ids in candidates.named.values() for id_ in ids}
    near = _nearest(chunks, nodes, named)
    reader = _SignalReader(query, candidates, order)
    ranked = [reader.evidence(id_, chunks[id_], nodes[id_]) for id_ in near]
    ranked.sort(key=lambda each: (-each.score, each.document_id))
    return Ranked(ranked, reader.words)


def _nearest(
    chunks: Mapping[str, list[FoundPoint]], nodes: Mapping[str, list[FoundPoint]], named: Set[str]
) -> list[str]:
    """The documents worth a closer look: those of named incidents, then by best chunk or node."""
    best = {
        id_: (
            any(node.id in named for node in nodes[id_]),
            max(relevance(found) for found in (*chunks[id_], *nodes[id_])),
        )
        for id_ in dict.fromkeys((*chunks, *nodes))
    }
    return sorted(best, key=lambda id_: best[id_], reverse=True)[:_LOOKED_AT]


def relevance(found: FoundPoint) -> float:
    """How well one chunk or node matches, to order those of the same document."""
    return _NEAR_MEANING * found.meaning + _NEAR_WORDS * found.words


def _by_document(
    candidates: Candidates,
) -> tuple[dict[str, list[FoundPoint]], dict[str, list[FoundPoint]]]:
    chunks: dict[str, list[FoundPoint]] = defaultdict(list)
    nodes: dict[str, list[FoundPoint]] = defaultdict(list)
    for found in candidates.chunks.values():
        chunks[chunk_document(found)].append(found)
    for found in candidates.nodes.values():
        for document_id in _strings(found.payload["document_ids"]):
            nodes[document_id].append(found)
    return chunks, nodes


def _strings(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def _chunk_terms(found: FoundPoint) -> Terms:
    return terms_in(words_of_chunk(found.payload))


class _SignalReader:
    """Reads the signals of documents for one query."""

    def __init__(self, query: RetrievalQuery, candidates: Candidates, order: Order) -> None:
        chunks = ((id_, each) for id_, each in candidates.chunks.items() if not is_said(each))
        self._terms = {id_: _chunk_terms(found) for id_, found in chunks}
        self._rarity = Rarity(list(self._terms.values()))
        self._order = order
        self._asked = terms_of(query.words)
        self._line = terms_of(query.focus)
        self._names = {
            node_id: name for name, node_ids in candidates.named.items() for node_id in node_ids
        }

    def evidence(
        self, document_id: str, chunks: Sequence[FoundPoint], nodes: Sequence[FoundPoint]
    ) -> DocumentEvidence:
        names = dict.fromkeys(self._names[node.id] for node in nodes if node.id in self._names)
        signals = self._signals(chunks, nodes, bool(names))
        return DocumentEvidence(
            document_id,
            tuple(sorted(chunks, key=relevance, reverse=True)),
            tuple(sorted(nodes, key=relevance, reverse=True)),
            signals,
            self._order.score(signals),
            tuple(names),
        )

    @property
    def words(self) -> Mapping[str, float]:
        """Of the query, those that a chunk has, with their weights."""
        return self._rarity.of_words(self._asked.words)

    def _signals(
        self, chunks: Sequence[FoundPoint], nodes: Sequence[FoundPoint], is_named: bool
    ) -> Signals:
        said = union(self._terms[chunk.id] for chunk in chunks if chunk.id in self._terms)
        titles, headings = _headings(chunks, nodes)
        return Signals(
            meaning=_best(chunk.meaning for chunk in chunks),
            words=_best(chunk.words for chunk in chunks),
            coverage=self._rarity.share_of_words(self._asked.words, said.words),
            runs=self._rarity.share_of_runs(self._asked.runs, said.runs),
            title_said=_best(
                self._rarity.share_of_words(title.words, self._asked.words) for title in titles
            ),
            line_titled=_best(
                self._rarity.share_of_words(self._line.words, heading.words) for heading in headings
            ),
            node_meaning=_best(node.meaning for node in nodes),
            node_words=_best(node.words for node in nodes),
            named=float(is_named),
        )


def _headings(
    chunks: Sequence[FoundPoint], nodes: Sequence[FoundPoint]
) -> tuple[set[Terms], set[Terms]]:
    """Titles and names; and each chunk's whole heading path."""
    paths = [_strings(chunk.payload["heading_path"]) for chunk in chunks]
    names = [str(node.payload["name"]) for node in nodes]
    titles = {_telling(path[0]) for path in paths if path} | {_telling(name) for name in names}
    return titles, titles | {terms_of("\n".join(path)) for path in paths}


def _telling(title: str) -> Terms:
    """A title without words for a kind of page; as it is where it has no other words."""
    terms = terms_of(title)
    words = terms.words - _KIND_OF_PAGE
    return Terms(words, terms.runs) if words else terms


def _best(values: Iterable[float]) -> float:
    return max(values, default=0.0)
