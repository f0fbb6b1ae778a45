"""Fusion of several searches into one score per document.

A signal is a number in 0–1 that says one thing about a document and the query; documents are ranked
by the weighted sum of theirs. Cosine and BM25 are combined by their values, not by their ranks
(Bruch et al., An Analysis of Fusion Functions for Hybrid Retrieval, 2023).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from services.knowledge.stores.points import chunk_words
from services.retrieval.calibration import Signals, SignalWeights
from services.retrieval.candidates import Candidates, ScoredPoint, chunk_document
from services.retrieval.lifting_texts import is_symptom
from services.retrieval.match import Rarity, Terms, terms_in, terms_of, union
from services.retrieval.query import RetrievalQuery

_NEAR_MEANING, _NEAR_WORDS = 1.9, 0.9
"""Weights of meaning and words in the order within a document, and in the shortlist."""


_KIND_OF_PAGE = terms_of(
    "alert alarm documentation faq guide how howto incident introduction issue known overview"
    " playbook problem procedure readme reference runbook sop summary troubleshoot troubleshooting"
).words

_SHORTLIST = 50
"""Documents that are compared word by word."""


class DocumentEvidence(NamedTuple):
    """A retrieved document with the points that matched, and its score."""

    document_id: str
    chunks: tuple[ScoredPoint, ...]
    """Best first."""
    nodes: tuple[ScoredPoint, ...]
    """Best first."""
    signals: Signals
    score: float
    """The weighted mean of the signals, 0–1."""
    names: tuple[str, ...]
    """Names in the ticket that incidents of the document bear."""


class Ranked(NamedTuple):
    """Ranked documents for a query."""

    documents: Sequence[DocumentEvidence] = ()
    """Best first."""
    words: Mapping[str, float] = {}
    """Words of the query that some chunk contains, with their weights."""


def rank_documents(query: RetrievalQuery, candidates: Candidates, order: SignalWeights) -> Ranked:
    """Rank the nearest documents of the candidates; ties are ordered by id."""
    chunks: dict[str, list[ScoredPoint]] = defaultdict(list)
    nodes: dict[str, list[ScoredPoint]] = defaultdict(list)
    for point in candidates.chunks.values():
        chunks[chunk_document(point)].append(point)
    for point in candidates.nodes.values():
        for document_id in _strings(point.payload["document_ids"]):
            nodes[document_id].append(point)
    named = {id_ for ids in candidates.named.values() for id_ in ids}
    near = shortlist(chunks, nodes, named)
    reader = _SignalReader(query, candidates, order)
    ranked = [reader.evidence(id_, chunks[id_], nodes[id_]) for id_ in near]
    ranked.sort(key=lambda each: (-each.score, each.document_id))
    return Ranked(ranked, reader.words)


def shortlist(
    chunks: Mapping[str, list[ScoredPoint]], nodes: Mapping[str, list[ScoredPoint]], named: Set[str]
) -> list[str]:
    """Return the documents to compare in detail: named incidents, then by best chunk or node."""
    best = {
        id_: (
            any(node.id in named for node in nodes[id_]),
            max(relevance(point) for point in (*chunks[id_], *nodes[id_])),
        )
        for id_ in dict.fromkeys((*chunks, *nodes))
    }
    return sorted(best, key=lambda id_: best[id_], reverse=True)[:_SHORTLIST]


def relevance(point: ScoredPoint) -> float:
    """Return the score of a chunk or node, for the order within one document."""
    return _NEAR_MEANING * point.meaning + _NEAR_WORDS * point.words


def _strings(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


class _SignalReader:
    """Reader of the signals of documents for one query."""

    def __init__(self, query: RetrievalQuery, candidates: Candidates, order: SignalWeights) -> None:
        chunks = ((id_, each) for id_, each in candidates.chunks.items() if not is_symptom(each))
        self._terms = {id_: terms_in(chunk_words(point.payload)) for id_, point in chunks}
        self._rarity = Rarity(list(self._terms.values()))
        self._order = order
        self._query_terms = terms_of(query.words)
        self._focus_terms = terms_of(query.focus)
        self._names = {
            node_id: name for name, node_ids in candidates.named.items() for node_id in node_ids
        }

    def evidence(
        self, document_id: str, chunks: Sequence[ScoredPoint], nodes: Sequence[ScoredPoint]
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
        """Words of the query that some chunk contains, with their weights."""
        return self._rarity.of_words(self._query_terms.words)

    def _signals(
        self, chunks: Sequence[ScoredPoint], nodes: Sequence[ScoredPoint], is_named: bool
    ) -> Signals:
        chunk_terms = union(self._terms[chunk.id] for chunk in chunks if chunk.id in self._terms)
        titles, headings = _headings(chunks, nodes)
        return Signals(
            meaning=_best(chunk.meaning for chunk in chunks),
            words=_best(chunk.words for chunk in chunks),
            coverage=self._rarity.share_of_words(self._query_terms.words, chunk_terms.words),
            runs=self._rarity.share_of_runs(self._query_terms.runs, chunk_terms.runs),
            title_said=_best(
                self._rarity.share_of_words(title.words, self._query_terms.words)
                for title in titles
            ),
            line_titled=_best(
                self._rarity.share_of_words(self._focus_terms.words, heading.words)
                for heading in headings
            ),
            node_meaning=_best(node.meaning for node in nodes),
            node_words=_best(node.words for node in nodes),
            named=float(is_named),
        )


def _headings(
    chunks: Sequence[ScoredPoint], nodes: Sequence[ScoredPoint]
) -> tuple[set[Terms], set[Terms]]:
    """Return the terms of titles and names, and those with each chunk's heading path added."""
    paths = [_strings(chunk.payload["heading_path"]) for chunk in chunks]
    names = [str(node.payload["name"]) for node in nodes]
    titles = {_without_kind_words(path[0]) for path in paths if path} | {
        _without_kind_words(name) for name in names
    }
    return titles, titles | {terms_of("\n".join(path)) for path in paths}


def _without_kind_words(title: str) -> Terms:
    """Return a title's terms without words for a kind of page, unless it has no others."""
    terms = terms_of(title)
    words = terms.words - _KIND_OF_PAGE
    return Terms(words, terms.runs) if words else terms


def _best(values: Iterable[float]) -> float:
    return max(values, default=0.0)
