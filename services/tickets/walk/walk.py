"""The walk: ticket → retrieval → planner → scorer → the best workflow, or a reasoned refusal.

Between the two stands the closest procedure that is known, marked as not sure.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter, time

import structlog

from services.contracts.gateway import NearestDocument
from services.contracts.planner import Candidate, Planner, PlanRequest
from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import (
    DIMENSIONS,
    Dimension,
    Score,
    ScoredCandidate,
    Scorer,
    ScoreRequest,
)
from services.contracts.screened_ticket import ScreenedTicket
from services.contracts.ticket import Fit
from services.contracts.triage import TriageDecision
from services.kit.errors import FlowXpertError, UnavailableError
from services.kit.observability.metrics import stage_timer
from services.tickets.clarify.dialogue import mark_settled
from services.tickets.clarify.question_selection import QuestionSelector
from services.tickets.metrics import WALK_SECONDS
from services.tickets.ticket.outcome import (
    FailedOutcome,
    PlannedOutcome,
    RefusedOutcome,
    ServedPages,
    WalkOutcome,
    count_outcome,
)
from services.tickets.ticket.question import ClarifyingQuestion
from services.tickets.triage.handover import note_without_workflow
from services.tickets.triage.team_router import TeamRouter
from services.tickets.walk.binding import substitute_labels
from services.tickets.walk.context_builder import ContextBuilder, mark_chosen, put_page_first
from services.tickets.walk.fit import judge_candidate
from services.tickets.walk.page_reranker import PageReranker
from services.tickets.walk.progress import WalkProgress
from services.tickets.walk.walk_store import OpenTicket, WalkStore

_log = structlog.get_logger()

NO_PAGE = "its engineer says that none of the closest pages treats it"
NOT_JUDGED = "not judged: the scorer did not answer"
_LEAST = 1.0
"""Value of a missing score, the lowest, so that no average gains by it."""


class PartUnavailableError(UnavailableError):
    """A store did not answer retrieval, and is waited for."""


class Walk:
    """Walk of one ticket from received to planned, refused or failed.

    It may be killed anywhere and run again, also twice at once: a ticket is concluded in one
    transaction, and only once.
    """

    def __init__(
        self,
        tickets: WalkStore,
        *,
        context_builder: ContextBuilder,
        page_reranker: PageReranker | None = None,
        planner: Planner,
        scorer: Scorer,
        clarify: QuestionSelector,
        nearest_documents: int,
        model_within_s: float,
        degrade_after_s: float = 0.0,
        triage: TeamRouter | None = None,
    ) -> None:
        """Count `model_within_s` and `degrade_after_s` from when the walk was asked for.

        The latter is how long a store or the scorer that does not answer is waited for. `triage`
        takes what nothing fits.
        """
        self._tickets = tickets
        self.catch_up = tickets.catch_up
        self._context_builder = context_builder
        self.page_reranker = page_reranker
        self._planner = planner
        self._scorer = scorer
        self._clarify = clarify
        self._nearest_documents = nearest_documents
        self._model_within_s = model_within_s
        self._degrade_after_s = degrade_after_s
        self._triage = triage

    def run(self, ticket_id: str) -> None:
        """Walk the ticket; do nothing if it is concluded already.

        Raises:
            FlowXpertError: A retryable one: something did not answer, try again later.
        """
        opened = self._tickets.open(ticket_id)
        if opened is None:
            return
        with WalkProgress(self._tickets, ticket_id) as progress:
            try:
                outcome = self._walk(opened, progress)
            except FlowXpertError as error:
                if error.retryable:
                    raise
                _log.exception("gateway.walk_failed", ticket_id=ticket_id)
                outcome = FailedOutcome(f"{error.name}: {error}")
            with stage_timer("gateway", "store"):
                seconds = self._tickets.conclude(
                    ticket_id,
                    outcome,
                    progress.take_pending(),
                    walk=opened.walk,
                    is_by_choice=opened.is_by_choice,
                )
        if seconds is not None:
            status = outcome.status.value
            WALK_SECONDS.labels(status).observe(time() - opened.created_at)
            count_outcome(outcome)
            _log.info("gateway.walk_concluded", ticket_id=ticket_id, status=status)

    def _walk(self, opened: OpenTicket, progress: WalkProgress) -> WalkOutcome:
        seconds: dict[str, float] = {}
        progress.note("planning")
        with _stage("retrieve", seconds):
            retrieved = self._context_builder.build(opened)
        ticket, context, fit, choice, words = retrieved
        whole = ticket.for_person()
        if context.degraded and not self._has_waited(opened):
            raise PartUnavailableError(f"no answer from {', '.join(context.degraded)}; waiting")
        facts = {"without": context.degraded} if context.degraded else {}
        reasons = list(context.chunks[0].reasons) if context.chunks else []
        confidence = context.confidence
        progress.note("retrieved", confidence=confidence, fit=fit, reasons=reasons, **facts)
        if opened.is_no_page:
            return self._refuse(opened, NO_PAGE, context)
        if fit is None:
            questions = self._clarify.questions(None, context, opened.dialogue)
            return self._refuse(opened, _why_refused(context), context, questions)

        with _stage("plan", seconds):
            candidates = tuple(self._candidates(opened, ticket, context, progress))
        progress.note("drafted", candidates=len(candidates))
        if not candidates:
            reason = "the documents that fit describe no procedure"
            return self._refuse(opened, reason, context)

        with _stage("score", seconds):
            request = ScoreRequest(
                ticket=whole,
                context=context,
                pages=context.pages,
                candidates=candidates,
                deadline_s=self._time_left(opened),
            )
            ranked, unjudged = self._ranked(opened, request)
        ranked = put_page_first(ranked, opened.dialogue.page)
        ranked = mark_chosen(substitute_labels(ranked, ticket), choice)
        verdicts = tuple(judge_candidate(whole, context, scored, fit, choice) for scored in ranked)
        best = ranked[0].candidate.workflow
        is_sure = verdicts[0].fit is Fit.SURE
        questions = self._clarify.questions(
            best, context, opened.dialogue, is_sure=is_sure, words=words
        )
        without = (*context.degraded, *unjudged)
        return PlannedOutcome(
            mark_settled(ranked, opened.dialogue),
            verdicts,
            seconds,
            questions,
            without,
            asks_page=not opened.is_by_choice
            and self._context_builder.needs_model(opened, retrieved),
            served=_served_pages(context),
        )

    def _ranked(
        self, opened: OpenTicket, request: ScoreRequest
    ) -> tuple[tuple[ScoredCandidate, ...], tuple[str, ...]]:
        """Score the candidates, best first; in the planner's order if the scorer stays away.

        Returns the candidates and the names of the parts that did not answer.
        """
        try:
            return self._scorer.score(request).ranked, ()
        except UnavailableError:
            if not self._has_waited(opened):
                raise
            unknown = Dimension(value=_LEAST, reason=NOT_JUDGED)
            score = Score(**dict.fromkeys(DIMENSIONS, unknown))
            unscored = (
                ScoredCandidate(
                    candidate=each, score=score, findings=(NOT_JUDGED,), good_enough=False
                )
                for each in request.candidates
            )
            return tuple(unscored), ("scorer",)

    def _has_waited(self, opened: OpenTicket) -> bool:
        """Return True if what does not answer was waited for long enough."""
        return time() >= opened.created_at + self._degrade_after_s

    def _refuse(
        self,
        opened: OpenTicket,
        reason: str,
        context: RetrievedContext,
        questions: tuple[ClarifyingQuestion, ...] = (),
    ) -> RefusedOutcome:
        """Build the refusal of a ticket that nothing fits, with the team that it goes to."""
        nearest, served = self._nearest(context), _served_pages(context)
        without: tuple[str, ...] = context.degraded
        decided: TriageDecision | None = None
        if self._triage is not None:
            note = partial(note_without_workflow, nearest=nearest, reason=reason)
            try:
                decided = self._triage.decide(opened.ticket, note, within_s=self._time_left(opened))
            except UnavailableError:
                if not self._has_waited(opened):
                    raise
                without = (*without, "triage")
        return RefusedOutcome(reason, nearest, decided, questions, without, served)

    def _candidates(
        self,
        opened: OpenTicket,
        ticket: ScreenedTicket,
        context: RetrievedContext,
        progress: WalkProgress,
    ) -> Iterator[Candidate]:
        """Yield the planner's candidates as they come, each noted as progress."""
        request = PlanRequest(
            ticket=ticket.for_person(),
            context=context,
            pages=context.pages,
            deadline_s=self._time_left(opened),
        )
        for candidate in self._planner.stream(request):
            origin = candidate.workflow.provenance
            progress.note("candidate", planner=origin.planner if origin else "")
            yield candidate

    def _time_left(self, opened: OpenTicket) -> float:
        """Return the seconds that a model may still work on the ticket."""
        return max(0.0, opened.created_at + self._model_within_s - time())

    def _nearest(self, context: RetrievedContext) -> tuple[NearestDocument, ...]:
        """Return the best passage of each of the closest documents."""
        best: dict[str, NearestDocument] = {}
        for match in context.chunks:
            span = match.chunk.span
            if len(best) == self._nearest_documents:
                break
            best.setdefault(
                span.document_id,
                NearestDocument(
                    document_id=span.document_id,
                    heading_path=match.chunk.heading_path,
                    start_line=span.start_line,
                    end_line=span.end_line,
                    score=match.score,
                    reasons=match.reasons,
                ),
            )
        return tuple(best.values())


@contextmanager
def _stage(name: str, seconds: dict[str, float]) -> Iterator[None]:
    start = perf_counter()
    with stage_timer("gateway", name):
        yield
    seconds[name] = round(perf_counter() - start, 6)


def _why_refused(context: RetrievedContext) -> str:
    if not context.chunks and not context.nodes:
        return "nothing that is known comes near this ticket"
    return (
        "nothing that is known is specific enough: the closest document treats this very fault "
        f"with a chance of {context.confidence:.0%}"
    )


def _served_pages(context: RetrievedContext) -> ServedPages | None:
    """Return the retrieved pages; None if retrieval was degraded: such signs teach nothing."""
    return None if context.degraded else ServedPages(context.signs, context.is_alert)
