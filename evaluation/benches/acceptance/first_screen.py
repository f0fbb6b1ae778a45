"""The first screen for a ticket: how surely a page fits, other near pages, and the best one.

Each line says where it stands on its page, so that a reader can name it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.benches.acceptance.steps_text import to_steps_text
from evaluation.material.requests import plan_request, score_request
from services.contracts.planner import Planner
from services.contracts.retrieval import Retrieval, RetrievedContext, RetrieveRequest
from services.contracts.scorer import ScoredCandidate, Scorer
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import Fit, TicketDraft
from services.knowledge.model import RetrievedChunk
from services.runbook.checklist.shown import AS_IT_IS
from services.runbook.checklist.text import page_lines
from services.tickets.walk.binding import substitute_labels
from services.tickets.walk.fit import Thresholds, judge_candidate
from services.workflow.model import Workflow

MOST_PAGES = 3
"""Pages that stand side by side where none is sure."""
_MOST_LINES = 4
_HEADS = {
    Fit.SURE: "This page treats the fault.",
    Fit.UNSURE: "Closest known pages; it is not sure that one of them treats the fault.",
    None: "Nothing that is known treats this fault: hand the ticket over. Closest pages:",
}


@dataclass(frozen=True)
class TicketWalk:
    """The walk from a ticket to its first screen, as the platform goes it."""

    retrieval: Retrieval
    planner: Planner
    scorer: Scorer
    thresholds: Thresholds

    def screen(self, ticket: TicketDraft) -> "Screen":
        """Return what an engineer sees first."""
        context = self.retrieval.retrieve(RetrieveRequest.of_ticket(ScreenedTicket(ticket)))
        near = _nearest(context)
        fit = self.thresholds.fit_of(context)
        ranked = self._ranked(ticket, context) if fit else ()
        if fit is None or not ranked:
            return Screen(None, near)
        fit = judge_candidate(ticket, context, ranked[0], fit).fit
        return Screen(fit, near, ranked[0].candidate.workflow)

    def _ranked(self, ticket: TicketDraft, context: RetrievedContext) -> Sequence[ScoredCandidate]:
        made = self.planner.plan(plan_request(ticket, context)).candidates
        if not made:
            return ()
        return substitute_labels(
            self.scorer.score(score_request(ticket, context, made)).ranked, ScreenedTicket(ticket)
        )


@dataclass(frozen=True)
class Screen:
    """A first screen."""

    fit: Fit | None
    """None where nothing that is known comes near."""
    near: Sequence[RetrievedChunk]
    """Best passage of each of the nearest pages, in falling relevance."""
    workflow: Workflow | None = None

    def text(self) -> str:
        """Return it for a reader."""
        own = self._page_ids()
        cards = sorted(self.near, key=lambda hit: hit.chunk.span.document_id not in own)
        cards = [] if self.fit is Fit.SURE else cards[:MOST_PAGES]
        parts = [_HEADS[self.fit], *map(_card, cards)]
        if self.workflow is not None:
            parts.append("\n".join([f"=== {', '.join(own)} ===", *_body(self.workflow)]))
        return "\n\n".join(parts) + "\n"

    def _page_ids(self) -> tuple[str, ...]:
        origin = self.workflow.provenance if self.workflow else None
        return origin.document_ids if origin else ()


def _body(workflow: Workflow) -> Iterator[str]:
    if workflow.is_checklist:
        yield AS_IT_IS
        for line in page_lines(workflow):
            yield f"{line.line or '':>4} | {line}".rstrip()
    else:
        yield to_steps_text(workflow, has_lines=True)


def _card(hit: RetrievedChunk) -> str:
    """Return page and section, with the lines that came near."""
    chunk = hit.chunk
    first = chunk.span.start_line
    lines = [line.strip() for line in chunk.text.split("\n") if line.strip()][:_MOST_LINES]
    head = " › ".join((chunk.span.document_id, *chunk.heading_path))
    return "\n".join([f"* {head} (from line {first})", *(f"    {line}" for line in lines)])


def _nearest(context: RetrievedContext) -> list[RetrievedChunk]:
    best: dict[str, RetrievedChunk] = {}
    for hit in context.chunks:
        best.setdefault(hit.chunk.span.document_id, hit)
    return list(best.values())
