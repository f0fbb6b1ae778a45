"""Candidates in, five explained scores each out, best first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from services.contracts.planner import SERVED_BY, Candidate
from services.contracts.retrieval import PageReading
from services.contracts.scorer import (
    DIMENSIONS,
    Dimension,
    Score,
    ScoredCandidate,
    ScoreRequest,
    ScoreResponse,
)
from services.grounding.evidence import Evidence
from services.grounding.grounder import Grounder
from services.grounding.vectors import RecentVectors
from services.knowledge.ports import Embedder
from services.llm.chat_model import ChatModel
from services.procedure.evidence.conditions import with_doubts
from services.procedure.evidence.consensus import Voice, with_votes
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.page_lines import CitedPages
from services.procedure.ports import AnswerStore, PreparedStore
from services.scorer.approved import Approved
from services.scorer.as_it_is import scores_as_it_is
from services.scorer.chance import Chance, chance_of_page, with_chance
from services.scorer.criteria.accuracy import accuracy
from services.scorer.criteria.case import ScoringCase
from services.scorer.criteria.coherence import coherence
from services.scorer.criteria.conciseness import conciseness
from services.scorer.criteria.coverage import coverage
from services.scorer.criteria.page_scores import PageScores
from services.scorer.criteria.relevance import TicketFit, relevance
from services.scorer.fitted import ScoringFit
from services.scorer.judges.deciding import decided_with
from services.scorer.judges.deciding import told as said_of
from services.scorer.judges.fact_judge import FactJudge
from services.scorer.judges.panel import Panel, PanelVerdict
from services.scorer.judges.question import FactQuestion
from services.scorer.judges.questions import questions
from services.scorer.judges.recent_answers import RecentAnswers
from services.scorer.page_facts import PageFacts
from services.scorer.prepared import Prepared
from services.scorer.ranking import CandidatePage, ranked
from services.scorer.settings import ScorerSettings
from services.scorer.texts import cited_texts
from services.workflow.lint import lint
from services.workflow.model import Workflow

CRITERIA: dict[str, Callable[[ScoringCase], Dimension]] = {
    "coverage": coverage,
    "accuracy": accuracy,
    "coherence": coherence,
    "conciseness": conciseness,
}
"""Of the paper's five dimensions, whose mean is the score, all but relevance, which is the ticket's
own. A further one is shown beside them."""

EVIDENCE = "evidence"
"""The part of a dimension's value that asks no model."""


class ScorerService:
    """Implements `Scorer`: lines decide each fact, and a model what they leave open."""

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
        hears_others: bool = True,
    ) -> None:
        """`embedder` is asked only for what the words do not decide.

        With `hears_others` candidates vote on one another's facts; without, each stands for itself.
        `answers` is where the model's answers are kept, and `prepared` what hangs on pages alone;
        without them, in memory. `fitted` stands for what is shipped, `chance` for the chance in it.
        """
        self._settings = settings or ScorerSettings()
        self._fitted = fitted or ScoringFit.shipped()
        self._chance = chance or (lambda: self._fitted.chance)
        self._facts = PageFacts(self._fitted.forests, self._fitted.conditions)
        self._hears_others = hears_others
        self.vectors = RecentVectors(embedder, self._settings.remembered_vectors)
        self.prepared = Prepared(
            self._alone, prepared, fit=self._fitted.hash, embedder=embedder.model_name
        )
        self._panel = _panel(model, self._settings, answers) if model else None

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """See `Scorer.score`."""
        drawn = tuple(c for c in request.candidates if not c.workflow.is_checklist)
        others = request.model_copy(update={"candidates": drawn})
        judged = iter((self._looked_up(others) or self._made(others)) if drawn else ())
        after = [
            scores_as_it_is(each.workflow, tuple(CRITERIA))
            if each.workflow.is_checklist
            else next(judged)
            for each in request.candidates
        ]
        ticket = TicketFit.of(request.context)
        scored = [
            self._scored(candidate, scores, ticket, request)
            for candidate, scores in zip(request.candidates, after, strict=True)
        ]
        places = [CandidatePage(each.page, ticket.fits.get(each.page, 0.0)) for each in after]
        first = self._settings.show_first
        return ScoreResponse(ranked=tuple(ranked(scored, places, show_first=first)))

    def _looked_up(self, request: ScoreRequest) -> list[PageScores] | None:
        """None where something of this ticket has a say: a model, or what it wrote."""
        workflows = [candidate.workflow for candidate in request.candidates]
        if self._panel is not None or not all(map(_is_served, workflows)):
            return None
        return self.prepared.of(workflows, request.pages)

    def _made(self, request: ScoreRequest) -> list[PageScores]:
        cases = self.cases(request)
        judged, verdict = self._judged(cases, request.deadline_s)
        before = [self.of_page(case) for case in cases]
        after = [
            scores if other.decided == case.decided else self.of_page(other)
            for scores, case, other in zip(before, cases, judged, strict=True)
        ]
        return [_told(*each, verdict) for each in zip(before, after, strict=True)]

    def _alone(self, workflow: Workflow, pages: Sequence[PageReading]) -> PageScores:
        """What hangs on the pages of a workflow that nobody votes on."""
        (case,) = self._cases([workflow], {page.document_id: page.text for page in pages}, pages)
        return self.of_page(case)

    def cases(self, request: ScoreRequest) -> list[ScoringCase]:
        """What the criteria look at, one for each candidate."""
        workflows = [candidate.workflow for candidate in request.candidates]
        texts = cited_texts(workflows, request.pages, request.context)
        return self._cases(workflows, texts, request.pages)

    def _cases(
        self, workflows: Sequence[Workflow], texts: Mapping[str, str], pages: Sequence[PageReading]
    ) -> list[ScoringCase]:
        source, approved = CitedPages(texts), Approved(pages)
        cases = self._heard([self._case(each, source) for each in workflows])
        return [replace(c, decided=approved.settle(c.drawn, c.decided)) for c in cases]

    def of_page(self, case: ScoringCase) -> PageScores:
        """What of its scores hangs on its pages alone."""
        return PageScores.of(case, {name: each(case) for name, each in CRITERIA.items()})

    def questions(self, cases: Sequence[ScoringCase]) -> list[FactQuestion]:
        """What a model is asked about them, that first on which most depends."""
        candidates = [(case.drawn, case.decided) for case in cases]
        return questions(candidates, limit=self._settings.judged_facts)

    def _heard(self, cases: list[ScoringCase]) -> list[ScoringCase]:
        """The cases after candidates have voted on the facts of others of the same page.

        What the platform itself reads of a page is no second voice beside its own.
        """
        if not self._hears_others or all(map(_is_served, (case.workflow for case in cases))):
            return cases
        heard = list(cases)
        for page in {case.drawn.page for case in cases}:
            own = [n for n, case in enumerate(cases) if case.drawn.page == page]
            voices = [Voice(cases[n].drawn, cases[n].decided) for n in own]
            if len(own) > 1:
                for place, decided in zip(own, with_votes(voices), strict=True):
                    heard[place] = replace(cases[place], decided=decided)
        return heard

    def _case(self, workflow: Workflow, source: CitedPages) -> ScoringCase:
        drawn = Drawn(workflow, source)
        told = self._facts.of(drawn)
        evidence = Evidence.of_pages(drawn.texts)
        (grounded,) = Grounder(evidence, self.vectors).ground([workflow])
        return ScoringCase(
            evidence=evidence,
            workflow=workflow,
            grounded=grounded,
            findings=lint(workflow),
            drawn=drawn,
            decided=told.decided,
            conditions=told.conditions,
            weighings=self._fitted.weighings,
        )

    def _scored(
        self, candidate: Candidate, scores: PageScores, ticket: TicketFit, request: ScoreRequest
    ) -> ScoredCandidate:
        found = {"relevance": relevance(scores, ticket), **scores.dimensions}
        others = {name: each for name, each in found.items() if name not in DIMENSIONS}
        of_page = chance_of_page(request.context.confidence, ticket.fits.get(scores.page, 0.0))
        score = with_chance(
            Score(**{name: found[name] for name in DIMENSIONS}, others=others),
            candidate.workflow.provenance,
            self._chance(),
            of_page,
        )
        bars = self._fitted.conditions.bars
        marked = with_doubts(candidate.workflow, scores.conditions, bars)
        return ScoredCandidate(
            candidate=candidate.model_copy(update={"workflow": marked}),
            score=score,
            findings=tuple(map(str, lint(candidate.workflow, bindings=request.ticket.labels))),
            good_enough=self._is_good_enough(score, candidate.workflow),
        )

    def _judged(
        self, cases: Sequence[ScoringCase], within_s: float | None
    ) -> tuple[Sequence[ScoringCase], PanelVerdict]:
        """The cases with what the model says of the facts that the lines leave open."""
        if self._panel is None or not cases:
            return cases, PanelVerdict()
        asked = self.questions(cases)
        verdict = self._panel.ask(asked, within_s)
        judged = [
            replace(case, decided=decided_with(case.decided, facts))
            for case, facts in zip(cases, said_of(asked, verdict, len(cases)), strict=True)
        ]
        return judged, verdict

    def _is_good_enough(self, score: Score, workflow: Workflow) -> bool:
        """Relevance hangs on no fact that a model decides: it could be talked into it."""
        is_drawn_well = workflow.is_checklist or score.overall >= self._settings.least_score
        return is_drawn_well and score.relevance.value >= self._settings.least_relevance


def _panel(model: ChatModel, settings: ScorerSettings, answers: AnswerStore | None) -> Panel | None:
    if not settings.judge:
        return None
    return Panel(
        FactJudge(model),
        answers or RecentAnswers(settings.remembered_answers),
        deadline_s=settings.deadline_s,
        ticket_tokens=settings.ticket_tokens,
    )


def _is_served(workflow: Workflow) -> bool:
    """Whether it is a reading as the platform serves it, and nobody wrote it for this ticket."""
    return bool(workflow.provenance and workflow.provenance.planner == SERVED_BY)


def _told(before: PageScores, after: PageScores, verdict: PanelVerdict) -> PageScores:
    """The scores after a model was heard; where it changed them, what they were is shown."""
    found = after.dimensions
    if after is not before:
        found = {
            name: each.model_copy(update={"parts": {EVIDENCE: before.dimensions[name].value}})
            for name, each in found.items()
        }
    if verdict.withdrawn:
        said = f"{found['coherence'].reason} {verdict.withdrawn}"
        found = found | {"coherence": found["coherence"].model_copy(update={"reason": said})}
    return after if found is after.dimensions else after.model_copy(update={"dimensions": found})
