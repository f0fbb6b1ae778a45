"""`bench workflows`: every query through the whole walk, the result against the reference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.benches.planning.baselines import best_document, list_items, random_reference
from evaluation.material.page_reader import ReadPages
from evaluation.material.pairs import Pair
from evaluation.material.requests import plan_request, score_request
from evaluation.measures.answer_figures import Answer, Measure, Row
from evaluation.measures.support import SupportCheck
from services.contracts.planner import Candidate, PlanRequest, PlanResponse
from services.contracts.retrieval import Retrieval, RetrievedContext, RetrieveRequest
from services.contracts.scorer import Scorer
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import TicketDraft
from services.knowledge.model import RetrievedNode
from services.knowledge.ports import DocumentStore, Embedder, GraphStore
from services.workflow.model import Workflow

Plan = Callable[[PlanRequest], PlanResponse]
FindContext = Callable[[Pair, TicketDraft], RetrievedContext]
Advance = Callable[[], None]
"""Called once for each query that was answered."""


@dataclass(frozen=True)
class WorkflowBench:
    """The walk from a query to the best workflow, and the measures."""

    find_context: FindContext
    plan: Plan
    scorer: Scorer | None
    """Ranks the candidates; without one the plan's own order stands."""
    documents: DocumentStore
    embedder: Embedder
    support: SupportCheck
    seed: int

    def rows(self, pairs: Sequence[Pair], advance: Advance) -> list[Row]:
        """Answers every form of every pair that has a reference, then measures."""
        answers = []
        referenced = [pair for pair in pairs if pair.reference and pair.reference.steps]
        for pair in referenced:
            for form in pair.forms:
                answers.append(self.answer(pair, form, referenced))
                advance()
        measure = Measure.of(answers, self.embedder, self.support)
        return [measure.row(answer) for answer in answers]

    def answer(self, pair: Pair, form: str, pairs: Sequence[Pair]) -> Answer:
        """The walk: retrieval, planner, scorer. It knows the form of the query and nothing else."""
        ticket = pair.ticket(form)
        context = self.find_context(pair, ticket)
        candidates = self.plan(plan_request(ticket, context)).candidates
        ranked = self._ranked(ticket, context, candidates)
        return Answer(
            pair=pair,
            form=form,
            context=context,
            ranked=tuple(candidate.workflow for candidate in ranked),
            favourite=candidates[0].workflow if candidates else None,
            baselines={
                "list_items": self._list_items(context),
                "random": random_reference(pair, pairs, self.seed),
            },
        )

    def _ranked(
        self, ticket: TicketDraft, context: RetrievedContext, candidates: Sequence[Candidate]
    ) -> list[Candidate]:
        if self.scorer is None or not candidates:
            return list(candidates)
        request = score_request(ticket, context, candidates)
        return [scored.candidate for scored in self.scorer.score(request).ranked]

    def _list_items(self, context: RetrievedContext) -> Workflow | None:
        name = best_document(context)
        document = self.documents.get(name) if name else None
        return list_items(document.for_person()) if document else None


def retrieved(retrieval: Retrieval) -> FindContext:
    """The context that retrieval finds for the ticket: the benchmark proper."""
    return lambda _pair, ticket: retrieval.retrieve(
        RetrieveRequest.of_ticket(ScreenedTicket(ticket))
    )


def gold(graph: GraphStore, read: ReadPages) -> FindContext:
    """The pair's own pages and their nodes: what the planner loses by itself, no headline."""

    def find(pair: Pair, _ticket: TicketDraft) -> RetrievedContext:
        nodes = graph.of_documents(pair.gold_documents)
        hits = [RetrievedNode(node=node, score=1.0, reasons=("gold page",)) for node in nodes]
        pages = read(dict.fromkeys(pair.gold_documents, 1.0))
        return RetrievedContext(nodes=tuple(hits), confidence=1.0, pages=pages)

    return find
