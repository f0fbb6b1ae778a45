"""Retrieval service: from a request to ranked knowledge."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from services.contracts.retrieval import (
    MOST_SIGNS,
    RIVAL_SCORE,
    NodeQuery,
    NodeSummary,
    NodeSurroundings,
    PageReading,
    PageSigns,
    PeersQuery,
    RetrievalStore,
    RetrievedContext,
    RetrieveRequest,
    SourceText,
)
from services.kit.errors import UnavailableError
from services.kit.observability.metrics import stage_timer
from services.knowledge.document.links import LinkResolver, parts_of
from services.knowledge.model import (
    IncidentNode,
    RetrievedChunk,
    RetrievedNode,
    Span,
)
from services.knowledge.ports import (
    CaseArchive,
    DocumentNotFoundError,
    DocumentStore,
    Embedder,
    GraphStore,
    SymptomTexts,
    VectorStore,
)
from services.knowledge.stores.points import chunk_of
from services.retrieval.calibration import Calibration, SignalWeights, confidence
from services.retrieval.candidates import find_candidates
from services.retrieval.fusion import DocumentEvidence, Ranked, rank_documents, relevance
from services.retrieval.lifting_texts import ResolvedCases, SymptomIndex, case_of, is_symptom
from services.retrieval.pages import NoReadings, Pages
from services.retrieval.query import RetrievalQuery, read_query
from services.retrieval.reasons import chunk_reasons, node_reasons
from services.retrieval.settings import RetrievalSettings
from services.retrieval.surroundings import surroundings
from services.runbook.ports import BoxSource, ReadingSource

_LINKING_DOCUMENTS = 2
"""Documents whose links are followed: those that compete for the answer."""
_MOST_TREATS = 300
"""Characters of what a page treats by which similar pages are searched for."""
_OFFERED = 3
"""Pages that an engineer may choose instead of the best one."""
_DECAY_IN_DOCUMENT = 0.9
"""Factor for each further part of a document, so that no document crowds out the others."""


class _GraphContext(NamedTuple):
    """Nodes that the graph adds for the best documents."""

    nodes: tuple[RetrievedNode, ...] = ()
    targets: Sequence[str] = ()
    linked: tuple[IncidentNode, ...] = ()


class RetrievalService:
    """Retrieval over the stores. Implements `contracts.retrieval.Retrieval`."""

    def __init__(
        self,
        vectors: VectorStore,
        graph: GraphStore,
        documents: DocumentStore,
        embedder: Embedder,
        settings: RetrievalSettings | None = None,
        *,
        readings: ReadingSource | None = None,
        boxes: BoxSource | None = None,
        archive: CaseArchive | None = None,
        symptom_texts: SymptomTexts | None = None,
        calibration: Callable[[], Calibration] | None = None,
    ) -> None:
        """Create the service over the stores that ingestion writes; nothing is written here.

        `calibration` returns the calibration in use; without it, the shipped one is.
        """
        chosen = settings or RetrievalSettings()
        self._resolved = (
            ResolvedCases(
                archive,
                embedder.model_name,
                most=chosen.resolved_cases,
                min_similarity=chosen.alike_from,
            )
            if archive is not None
            else None
        )
        self._symptoms = (
            SymptomIndex(symptom_texts, embedder.model_name) if symptom_texts is not None else None
        )
        self._vectors = vectors
        self._graph = graph
        self._documents = documents
        self._embedder = embedder
        self._settings = chosen
        self._calibration = calibration or cache(Calibration.shipped)
        self._pages = Pages(documents, readings or NoReadings(), boxes or NoReadings())

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        """See `Retrieval.retrieve`."""
        query = read_query(request)
        ranking = self._calibration().of(is_alert=query.is_alert)
        (ranked, words), missing = self._rank(query, request, ranking.order)
        graph_context = _GraphContext()
        if "graph" not in missing:
            try:
                graph_context = self._graph_context(ranked, request)
            except UnavailableError:
                if missing:
                    raise
                missing = ("graph",)
        return RetrievedContext(
            chunks=self._chunks(ranked, request.top_chunks),
            nodes=graph_context.nodes,
            linked=graph_context.linked,
            words=dict(words),
            confidence=confidence(ranked, ranking.curve),
            pages=self._readings(ranked, graph_context.targets, request.without),
            degraded=missing,
            signs=tuple(
                PageSigns(
                    document_id=each.document_id,
                    signs={n: round(value, 4) for n, value in each.signals._asdict().items()},
                )
                for each in ranked[:MOST_SIGNS]
            ),
            is_alert=query.is_alert,
        )

    def _graph_context(
        self, ranked: Sequence[DocumentEvidence], request: RetrieveRequest
    ) -> _GraphContext:
        nodes = self._nodes(ranked, request.top_nodes)
        targets = [id_ for id_ in self._targets(nodes) if id_ not in request.without]
        own = {each.node.id for each in nodes}
        linked = self._graph.of_documents(targets) if targets else ()
        unseen = tuple(node for node in linked if node.id not in own)
        return _GraphContext(nodes, targets, unseen[: self._settings.max_linked])

    def evidence(self, request: RetrieveRequest) -> list[DocumentEvidence]:
        """Return the evidence for each retrieved document, the best document first."""
        query = read_query(request)
        order = self._calibration().of(is_alert=query.is_alert).order
        return list(self._rank(query, request, order)[0].documents)

    def _rank(
        self, query: RetrievalQuery, request: RetrieveRequest, order: SignalWeights
    ) -> tuple[Ranked, tuple[RetrievalStore, ...]]:
        """Rank the documents, those excluded left out; name the stores that did not answer."""
        if query.is_empty:
            return Ranked(), ()
        with stage_timer("retrieval", "search"):
            candidates = find_candidates(
                query,
                self._embedder,
                self._vectors,
                self._graph,
                limit=self._settings.candidates,
            )
            limit, is_ticket = self._settings.candidates, request.with_cases and candidates.meaning
            if self._symptoms is not None and is_ticket:
                candidates = self._symptoms.add_to(candidates, self._vectors, limit=limit)
            if self._resolved is not None and is_ticket:
                candidates = self._resolved.add_to(candidates, self._vectors, limit=limit)
        with stage_timer("retrieval", "rank"):
            ranked = rank_documents(query, candidates, order)
        kept = [each for each in ranked.documents if each.document_id not in request.without]
        return ranked._replace(documents=kept), candidates.missing

    def source(self, span: Span) -> SourceText:
        """See `Retrieval.source`."""
        document = self._documents.get(span.document_id)
        if document is None:
            raise DocumentNotFoundError(
                f"expected the id of an ingested document, got {span.document_id!r}"
            )
        whole = document.for_person()
        lines = whole.text.split("\n")[span.start_line - 1 : span.end_line]
        return SourceText(span=span, document_title=whole.title, text="\n".join(lines))

    def peers(self, query: PeersQuery) -> list[PageReading]:
        """See `Retrieval.peers`."""
        document = self._documents.get(query.document_id)
        if document is None:
            raise DocumentNotFoundError(
                f"expected the id of an ingested document, got {query.document_id!r}"
            )
        own, title = self._pages.of({document.id: 1.0}), document.for_person().title
        treats = next((p.treats for page in own for p in page.procedures), "")
        request = RetrieveRequest(
            title=title, description=treats[:_MOST_TREATS], without=(document.id,)
        )
        near = [e for e in self.evidence(request) if e.signals.meaning >= query.least_meaning]
        return list(self._pages.of({each.document_id: each.score for each in near[: query.most]}))

    def nodes(self, query: NodeQuery) -> list[NodeSummary]:
        """See `Retrieval.nodes`."""
        nodes = self._graph.search(query.text, start=query.start, limit=query.limit)
        return [NodeSummary.of(node) for node in nodes]

    def surroundings(self, node_id: str, *, hops: int = 1) -> NodeSurroundings:
        """See `Retrieval.surroundings`."""
        return surroundings(self._graph, node_id, hops)

    def _chunks(self, ranked: Sequence[DocumentEvidence], most: int) -> tuple[RetrievedChunk, ...]:
        scored = []
        for each in ranked[:most]:
            own = [f for f in each.chunks if case_of(f) is None and not is_symptom(f)]
            for place, point in enumerate(own[: self._settings.chunks_per_document]):
                scored.append((_score(each, place), each, point))
        scored.sort(key=lambda item: -item[0])
        return tuple(
            RetrievedChunk(
                chunk=chunk_of(point.payload), score=score, reasons=chunk_reasons(each, point)
            )
            for score, each, point in scored[:most]
        )

    def _nodes(self, ranked: Sequence[DocumentEvidence], most: int) -> tuple[RetrievedNode, ...]:
        """Return the nodes of the best documents, those that matched before the others."""
        best = ranked[:most]
        matched = {point.id: relevance(point) for each in best for point in each.nodes}
        by_document: dict[str, list[IncidentNode]] = {}
        for node in self._graph.of_documents([each.document_id for each in best]):
            for document_id in node.document_ids:
                by_document.setdefault(document_id, []).append(node)
        scored: dict[str, tuple[float, DocumentEvidence, IncidentNode]] = {}
        for each in best:
            own = sorted(
                by_document.get(each.document_id, ()), key=lambda n: -matched.get(n.id, 0.0)
            )
            for place, node in enumerate(own[: self._settings.nodes_per_document]):
                scored.setdefault(node.id, (_score(each, place), each, node))
        ordered = sorted(scored.values(), key=lambda item: -item[0])[:most]
        return tuple(
            RetrievedNode(
                node=node,
                score=score,
                reasons=node_reasons(each, node),
                resolved=self._resolved.of_document(each.document_id) if self._resolved else (),
            )
            for score, each, node in ordered
        )

    def _targets(self, nodes: Sequence[RetrievedNode]) -> list[str]:
        """Return the documents that the best ones hand over to, in the order of the links."""
        leading: set[str] = set()
        linked: dict[str, None] = {}
        for each in nodes:
            leading.update(each.node.document_ids[:1])
            if len(leading) > _LINKING_DOCUMENTS:
                break
            linked.update(dict.fromkeys(each.node.linked_documents))
        links = list(linked)[: self._settings.max_linked]
        if not links:
            return []
        resolver = LinkResolver(self._documents.ids_with(parts_of(links)))
        resolved = (resolver.resolve(link) for link in links)
        return list(dict.fromkeys(id_ for id_ in resolved if id_))

    def _readings(
        self, ranked: Sequence[DocumentEvidence], targets: Sequence[str], without: Sequence[str]
    ) -> tuple[PageReading, ...]:
        """Return the pages of the best documents, then of those that they hand over to.

        The pages that may be the answer list their links if they are mostly links, except for the
        documents `without`.
        """
        scores = {each.document_id: _score(each, 0) for each in ranked}
        best = list(scores)[: self._settings.pages]
        wanted = dict.fromkeys((*best, *targets[: self._settings.linked_pages]))
        near = {
            each.document_id: _passage_relevance(each) for each in ranked[: self._settings.pages]
        }
        with stage_timer("retrieval", "read"):
            pages = self._pages.of({id_: scores.get(id_, 0.0) for id_ in wanted})
            bar = RIVAL_SCORE * max((page.score for page in pages), default=0.0)
            links = {
                page.document_id: tuple(
                    link.model_copy(update={"nearness": scores.get(link.document_id, 0.0)})
                    for link in self._pages.links_of(page)
                    if link.document_id not in without
                )
                for place, page in enumerate(pages)
                if page.score >= bar > 0 or place < _OFFERED
            }
        return tuple(
            page.model_copy(
                update={
                    "near": near.get(page.document_id, {}),
                    "links": links.get(page.document_id, ()),
                }
            )
            for page in pages
        )


def _score(evidence: DocumentEvidence, place: int) -> float:
    """Return the document's score, reduced for its further parts."""
    return evidence.score * _DECAY_IN_DOCUMENT**place


def _passage_relevance(evidence: DocumentEvidence) -> dict[int, float]:
    """Return the relevance of each passage of a document, by its first line."""
    own = (point for point in evidence.chunks if case_of(point) is None and not is_symptom(point))
    return {chunk_of(point.payload).span.start_line: round(relevance(point), 4) for point in own}
