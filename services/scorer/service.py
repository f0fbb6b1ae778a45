"""Scorer service: candidates in, five explained scores each out, best first."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from services.contracts.planner import Candidate
from services.contracts.retrieval import PageReading
from services.contracts.scorer import (
    DIMENSIONS,
    Score,
    ScoredCandidate,
    ScoreRequest,
    ScoreResponse,
)
from services.grounding.grounder import RecentVectors
from services.kit.lru_cache import LruCache
from services.knowledge.ports import Embedder
from services.llm.chat_model import ChatModel
from services.runbook.checking.approvals import ApprovalUse, is_approved_for
from services.runbook.evidence.conditions import with_doubts, without_doubts
from services.runbook.ports import AnswerStore, PreparedStore
from services.scorer.cases import CaseBuilder, ScoringCase, cited_texts, is_served
from services.scorer.chance import Chance, chance_of_page, is_checked, with_chance
from services.scorer.criteria import CRITERIA
from services.scorer.judges.fact_judge import FactJudge
from services.scorer.judges.panel import Panel, PanelVerdict, chances_by_judge, combine_with_judge
from services.scorer.judges.question import FactQuestion
from services.scorer.judges.questions import rank_questions
from services.scorer.page_scores import PageScores, score_checklist
from services.scorer.relevance import TicketFit, relevance
from services.scorer.score_cache import PageScoreCache
from services.scorer.scoring_fit import ScoringFit
from services.scorer.settings import ScorerSettings, ShowFirst
from services.workflow.lint import is_clean, lint
from services.workflow.model import Workflow

EVIDENCE = "evidence"
"""Part of a dimension's value that asks no model."""


class ScorerService:
    """Scorer whose facts are decided by lines, and by a model where they leave them open.

    Implements `Scorer`.
    """

    def __init__(
        self,
        embedder: Embedder,
        settings: ScorerSettings | None = None,
        *,
        model: ChatModel | None = None,
        answers: AnswerStore | None = None,
        fitted: ScoringFit | None = None,
        chance: Callable[[], Chance] | None = None,
        prepared: PreparedStore | None = None,
        counts_votes: bool = True,
    ) -> None:
        """Create the scorer; `embedder` is asked only for what words do not decide.

        With `counts_votes` candidates vote on one another's facts; without, each stands for itself.
        `answers` stores the model's answers, and `prepared` what depends on pages alone; without
        them, both stay in memory. `fitted` replaces the shipped fit, and `chance` the chance in it.
        """
        self._settings = settings or ScorerSettings()
        self._fitted = fitted or ScoringFit.shipped()
        self._chance = chance or (lambda: self._fitted.chance)
        self.vectors = RecentVectors(embedder, self._settings.remembered_vectors)
        self._builder = CaseBuilder(self._fitted, self.vectors, counts_votes=counts_votes)
        self.prepared = PageScoreCache(
            self._score_alone, prepared, fit=self._fitted.hash, embedder=embedder.model_name
        )
        self._panel = None
        if model and self._settings.judge:
            self._panel = Panel(
                FactJudge(model),
                answers or LruCache(self._settings.remembered_answers),
                deadline_s=self._settings.deadline_s,
                ticket_tokens=self._settings.ticket_tokens,
            )

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """See `Scorer.score`."""
        drawn = tuple(c for c in request.candidates if not c.workflow.is_checklist)
        others = request.model_copy(update={"candidates": drawn})
        judged = iter((self._look_up(others) or self._score_by_pages(others)) if drawn else ())
        after = [
            score_checklist(each.workflow, tuple(CRITERIA))
            if each.workflow.is_checklist
            else next(judged)
            for each in request.candidates
        ]
        ticket = TicketFit.of(request.context)
        scored = [
            self._score_candidate(candidate, scores, ticket, request)
            for candidate, scores in zip(request.candidates, after, strict=True)
        ]
        places = [CandidatePage(each.page, ticket.fits.get(each.page, 0.0)) for each in after]
        first = self._settings.show_first
        return ScoreResponse(ranked=tuple(rank_candidates(scored, places, show_first=first)))

    def _look_up(self, request: ScoreRequest) -> list[PageScores] | None:
        """Look the scores up; None if a model, or a workflow of this ticket, has a say."""
        workflows = [candidate.workflow for candidate in request.candidates]
        if self._panel is not None or not all(map(is_served, workflows)):
            return None
        return self.prepared.of(workflows, request.pages)

    def _score_by_pages(self, request: ScoreRequest) -> list[PageScores]:
        cases = self.cases(request)
        judged, verdict = self._ask_judge(cases, request.deadline_s)
        before = [self.of_page(case) for case in cases]
        after = [
            scores if other.decided == case.decided else self.of_page(other)
            for scores, case, other in zip(before, cases, judged, strict=True)
        ]
        return [_with_verdict(*each, verdict) for each in zip(before, after, strict=True)]

    def _score_alone(self, workflow: Workflow, pages: Sequence[PageReading]) -> PageScores:
        """Score the part that depends on the pages alone, of a workflow without votes."""
        texts = {page.document_id: page.text for page in pages}
        (case,) = self._builder.build([workflow], texts, pages)
        return self.of_page(case)

    def cases(self, request: ScoreRequest) -> list[ScoringCase]:
        """Return the input of the criteria, one case for each candidate."""
        workflows = [candidate.workflow for candidate in request.candidates]
        texts = cited_texts(workflows, request.pages, request.context)
        return self._builder.build(workflows, texts, request.pages)

    def of_page(self, case: ScoringCase) -> PageScores:
        """Return the scores of a case that depend on its pages alone."""
        return PageScores.of(case, {name: each(case) for name, each in CRITERIA.items()})

    def questions(self, cases: Sequence[ScoringCase]) -> list[FactQuestion]:
        """Return the questions for a model, the one on which most depends first."""
        candidates = [(case.drawn, case.decided) for case in cases]
        return rank_questions(candidates, limit=self._settings.judged_facts)

    def _score_candidate(
        self, candidate: Candidate, scores: PageScores, ticket: TicketFit, request: ScoreRequest
    ) -> ScoredCandidate:
        dimensions = {"relevance": relevance(scores, ticket), **scores.dimensions}
        others = {name: each for name, each in dimensions.items() if name not in DIMENSIONS}
        of_page = chance_of_page(request.context.confidence, ticket.fits.get(scores.page, 0.0))
        score = with_chance(
            Score(**{name: dimensions[name] for name in DIMENSIONS}, others=others),
            candidate.workflow.provenance,
            self._chance(),
            of_page,
        )
        workflow, limits = candidate.workflow, self._settings
        marked = with_doubts(workflow, scores.conditions, self._fitted.conditions.bars)
        if is_checked(workflow.provenance):
            marked = without_doubts(marked)
        is_drawn_well = workflow.is_checklist or score.overall >= limits.least_score
        # Relevance depends on no fact that a model decides: it could be talked into it.
        is_relevant = score.relevance.value >= limits.least_relevance
        return ScoredCandidate(
            candidate=candidate.model_copy(update={"workflow": marked}),
            score=score,
            findings=tuple(map(str, lint(workflow, bindings=request.ticket.labels))),
            good_enough=is_drawn_well and is_relevant,
        )

    def _ask_judge(
        self, cases: Sequence[ScoringCase], within_s: float | None
    ) -> tuple[Sequence[ScoringCase], PanelVerdict]:
        """Return the cases with the model's decisions on the facts that the lines leave open."""
        if self._panel is None or not cases:
            return cases, PanelVerdict()
        fact_questions = self.questions(cases)
        verdict = self._panel.ask(fact_questions, within_s)
        judged = [
            replace(case, decided=combine_with_judge(case.decided, facts))
            for case, facts in zip(
                cases, chances_by_judge(fact_questions, verdict, len(cases)), strict=True
            )
        ]
        return judged, verdict


def _with_verdict(before: PageScores, after: PageScores, verdict: PanelVerdict) -> PageScores:
    """Return the scores after the judge; those that it changed show their earlier value."""
    dimensions = after.dimensions
    if after is not before:
        dimensions = {
            name: each.model_copy(update={"parts": {EVIDENCE: before.dimensions[name].value}})
            for name, each in dimensions.items()
        }
    if verdict.withdrawn:
        reason = f"{dimensions['coherence'].reason} {verdict.withdrawn}"
        dimensions = dimensions | {
            "coherence": dimensions["coherence"].model_copy(update={"reason": reason})
        }
    return after.model_copy(update={"dimensions": dimensions})


class CandidatePage(NamedTuple):
    """Page of a candidate."""

    page: str
    share: float
    """Relevance of the page, 0–1."""


def rank_candidates(
    scored: Sequence[ScoredCandidate],
    places: Sequence[CandidatePage],
    *,
    show_first: ShowFirst = ShowFirst.PAGE,
) -> list[ScoredCandidate]:
    """Return the candidates, best first.

    Those that are not good enough, or have errors of form, come last. Candidates of different pages
    are compared by the relevance of their page. Of one page, a workflow whose decisions a person
    has checked comes first, then the page itself or what a model made of it, as `show_first` says;
    several workflows of one page are ordered by their chance.
    """

    def form_order(candidate: ScoredCandidate) -> int:
        """Return the rank of a candidate on its page: checked, first form, other form."""
        workflow = candidate.candidate.workflow
        if is_approved_for(ApprovalUse.ORDER, workflow.provenance):
            return 0
        return 1 if workflow.is_checklist == (show_first is ShowFirst.PAGE) else 2

    best = dict[str, float]()
    for candidate, place in zip(scored, places, strict=True):
        best[place.page] = max(best.get(place.page, 0.0), candidate.score.overall)
    keys = [
        (
            not candidate.good_enough,
            not is_clean(lint(candidate.candidate.workflow)),
            -place.share,
            -best[place.page],
            place.page,
            form_order(candidate),
            -(candidate.score.chance or 0.0),
            -candidate.score.overall,
        )
        for candidate, place in zip(scored, places, strict=True)
    ]
    order = sorted(range(len(scored)), key=keys.__getitem__)
    return [scored[at] for at in order]
