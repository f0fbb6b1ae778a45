"""The walk: ticket → retrieval → planner → scorer → the best workflow, or a reasoned refusal.

Between the two stands the closest procedure that is known, marked as not sure.
"""

from collections.abc import Iterable, Iterator
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
from services.contracts.ticket import Fit, TicketDraft
from services.contracts.triage import TriageDecision
from services.gateway.clarify.choosing import Clarify
from services.gateway.clarify.settled_decisions import mark_settled
from services.gateway.metrics import WALK_SECONDS
from services.gateway.ticket.outcome import (
    Failed,
    Outcome,
    Planned,
    Refused,
    Served,
    count_outcome,
)
from services.gateway.ticket.question import Question
from services.gateway.triage.desk import TriageDesk
from services.gateway.triage.handover import nothing_fits
from services.gateway.walk.binding import filled
from services.gateway.walk.finding import Finding, with_choice, with_page_first
from services.gateway.walk.fit import verdict
from services.gateway.walk.progress import Progress
from services.gateway.walk.reconsidering import Reconsidering
from services.gateway.walk.tickets import OpenTicket, Tickets
from services.kit.errors import FlowXpertError, UnavailableError
from services.kit.observability.metrics import stage_timer

_log = structlog.get_logger()

NO_PAGE = "its engineer says that none of the closest pages treats it"
NOT_JUDGED = "not judged: the scorer did not answer"
_LEAST = 1.0
"""Of a score that is not known: no average must gain by it."""


class PartUnavailableError(UnavailableError):
    """A store did not answer retrieval, and is waited for."""


class Walk:
    """Takes one ticket from received to planned, refused or failed.

    It may be killed anywhere and run again, also twice at once: a ticket is concluded in one
    transaction, and only once.
    """

    def __init__(
        self,
        tickets: Tickets,
        *,
        finding: Finding,
        reconsidering: Reconsidering | None = None,
        planner: Planner,
        scorer: Scorer,
        clarify: Clarify,
        nearest_documents: int,
        model_within_s: float,
        degrade_after_s: float = 0.0,
        triage: TriageDesk | None = None,
    ) -> None:
        """`model_within_s` and `degrade_after_s` count from when the walk was asked for.

        The latter is how long a store or the scorer that does not answer is waited for. `triage`
        takes what nothing fits.
        """
        self._tickets = tickets
        self.catching_up = tickets.catching_up
        self._finding = finding
        self.reconsidering = reconsidering
        self._planner = planner
        self._scorer = scorer
        self._clarify = clarify
        self._nearest_documents = nearest_documents
        self._model_within_s = model_within_s
        self._degrade_after_s = degrade_after_s
        self._triage = triage

    def run(self, ticket_id: str) -> None:
        """Walk the ticket; nothing when it is concluded already.

        Raises:
            FlowXpertError: A retryable one: something did not answer, try again later.
        """
        opened = self._tickets.open(ticket_id)
        if opened is None:
            return
        with Progress(self._tickets, ticket_id) as progress:
            try:
                outcome = self._walk(opened, progress)
            except FlowXpertError as error:
                if error.retryable:
                    raise
                _log.exception("gateway.walk_failed", ticket_id=ticket_id)
                outcome = Failed(f"{type(error).__name__}: {error}")
            walk = opened.walk
            with stage_timer("gateway", "store"):
                seconds = self._tickets.conclude(
                    ticket_id,
                    outcome,
                    progress.rest(),
                    walk=walk,
                    is_by_choice=opened.is_by_choice,
                )
        if seconds is not None:
            status = outcome.status.value
            WALK_SECONDS.labels(status).observe(time() - opened.created_at)
            count_outcome(outcome)
            _log.info("gateway.walk_concluded", ticket_id=ticket_id, status=status)

    def _walk(self, opened: OpenTicket, progress: Progress) -> Outcome:
        seconds: dict[str, float] = {}
        progress.note("planning")
        with _stage("retrieve", seconds):
            found_for = self._finding.of(opened)
        ticket, context, found, choice, words = found_for
        if context.degraded and not self._has_waited(opened):
            raise PartUnavailableError(f"no answer from {', '.join(context.degraded)}; waiting")
        told = {"without": context.degraded} if context.degraded else {}
        reasons = list(context.chunks[0].reasons) if context.chunks else []
        confidence = context.confidence
        progress.note("retrieved", confidence=confidence, fit=found, reasons=reasons, **told)
        if opened.is_no_page:
            return self._refused(opened, NO_PAGE, context)
        if found is None:
            questions = self._clarify.questions(None, context, opened.asked)
            return self._refused(opened, _why_refused(context), context, questions)

        with _stage("plan", seconds):
            candidates = tuple(self._candidates(opened, ticket, context, progress))
        progress.note("drafted", candidates=len(candidates))
        if not candidates:
            reason = "the documents that fit describe no procedure"
            return self._refused(opened, reason, context)

        with _stage("score", seconds):
            request = ScoreRequest(
                ticket=ticket,
                context=context,
                pages=context.pages,
                candidates=candidates,
                deadline_s=self._time_left(opened),
            )
            ranked, unjudged = self._ranked(opened, request)
        ranked = with_page_first(ranked, opened.asked.page)
        ranked = with_choice(filled(ranked, ticket), choice)
        verdicts = tuple(verdict(ticket, context, scored, found, choice) for scored in ranked)
        best = ranked[0].candidate.workflow
        is_sure = verdicts[0].fit is Fit.SURE
        questions = self._clarify.questions(
            best, context, opened.asked, is_sure=is_sure, words=words
        )
        without = (*context.degraded, *unjudged)
        return Planned(
            mark_settled(ranked, opened.asked),
            verdicts,
            seconds,
            questions,
            without,
            asks_page=not opened.is_by_choice and self._finding.asks(opened, found_for),
            served=_served(context),
        )

    def _ranked(
        self, opened: OpenTicket, request: ScoreRequest
    ) -> tuple[tuple[ScoredCandidate, ...], tuple[str, ...]]:
        """Best first; as they were planned, and marked, where the scorer stays away."""
        try:
            return self._scorer.score(request).ranked, ()
        except UnavailableError:
            if not self._has_waited(opened):
                raise
            return _unscored(request.candidates), ("scorer",)

    def _has_waited(self, opened: OpenTicket) -> bool:
        """Whether what does not answer was waited for long enough."""
        return time() >= opened.created_at + self._degrade_after_s

    def _refused(
        self,
        opened: OpenTicket,
        reason: str,
        context: RetrievedContext,
        questions: tuple[Question, ...] = (),
    ) -> Refused:
        """Nothing fits: the ticket goes to a team, with what was found."""
        nearest, served = self._nearest(context), _served(context)
        without: tuple[str, ...] = context.degraded
        decided: TriageDecision | None = None
        if self._triage is not None:
            note = partial(nothing_fits, nearest=nearest, reason=reason)
            try:
                decided = self._triage.decide(opened.draft, note, within_s=self._time_left(opened))
            except UnavailableError:
                if not self._has_waited(opened):
                    raise
                without = (*without, "triage")
        return Refused(reason, nearest, decided, questions, without, served)

    def _candidates(
        self,
        opened: OpenTicket,
        ticket: TicketDraft,
        context: RetrievedContext,
        progress: Progress,
    ) -> Iterator[Candidate]:
        """What the planner writes, told as it comes."""
        request = PlanRequest(
            ticket=ticket,
            context=context,
            pages=context.pages,
            deadline_s=self._time_left(opened),
        )
        for candidate in self._planner.stream(request):
            origin = candidate.workflow.provenance
            progress.note("candidate", planner=origin.planner if origin else "")
            yield candidate

    def _time_left(self, opened: OpenTicket) -> float:
        """Seconds that a model may still work on the ticket."""
        return max(0.0, opened.created_at + self._model_within_s - time())

    def _nearest(self, context: RetrievedContext) -> tuple[NearestDocument, ...]:
        """The best passage of each of the closest documents."""
        best: dict[str, NearestDocument] = {}
        for found in context.chunks:
            span = found.chunk.span
            if len(best) == self._nearest_documents:
                break
            best.setdefault(
                span.document_id,
                NearestDocument(
                    document_id=span.document_id,
                    heading_path=found.chunk.heading_path,
                    start_line=span.start_line,
                    end_line=span.end_line,
                    score=found.score,
                    reasons=found.reasons,
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


def _served(context: RetrievedContext) -> Served | None:
    """None where a part of retrieval was missing: such signs teach nothing."""
    return None if context.degraded else Served(context.signs, context.is_alert)


def _unscored(candidates: Iterable[Candidate]) -> tuple[ScoredCandidate, ...]:
    """What no scorer has judged, in the planner's order; none counts as good enough."""
    unknown = Dimension(value=_LEAST, reason=NOT_JUDGED)
    score = Score(**dict.fromkeys(DIMENSIONS, unknown))
    return tuple(
        ScoredCandidate(candidate=each, score=score, findings=(NOT_JUDGED,), good_enough=False)
        for each in candidates
    )
