"""Candidates in, five explained scores each out, best first."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from services.contracts.scorer import (
    DIMENSIONS,
    Dimension,
    Score,
    ScoredCandidate,
    ScoreRequest,
    ScoreResponse,
)
from services.contracts.screened_ticket import screened
from services.grounding.evidence import Evidence
from services.grounding.grounder import Grounded, Grounder
from services.grounding.vectors import RecentVectors
from services.knowledge.ports import Embedder
from services.llm.chat_model import ChatModel
from services.procedure.evidence.consensus import Voice, with_votes
from services.procedure.evidence.drawn import Drawn
from services.procedure.ports import AnswerStore
from services.scorer.approved import Approved
from services.scorer.chance import Chance, chance_of_page, with_chance
from services.scorer.criteria.accuracy import accuracy
from services.scorer.criteria.case import ScoringCase
from services.scorer.criteria.coherence import coherence
from services.scorer.criteria.conciseness import conciseness
from services.scorer.criteria.coverage import coverage
from services.scorer.criteria.relevance import relevance
from services.scorer.fitted import ScoringFit
from services.scorer.judges.deciding import decided_with, told
from services.scorer.judges.fact_judge import FactJudge
from services.scorer.judges.panel import Panel, PanelVerdict
from services.scorer.judges.question import FactQuestion
from services.scorer.judges.questions import questions
from services.scorer.judges.recent_answers import RecentAnswers
from services.scorer.page_facts import PageFacts
from services.scorer.ranking import CandidatePage, ranked
from services.scorer.rule_reading import RuleReadings, is_of_rules
from services.scorer.settings import ScorerSettings
from services.scorer.texts import cited_texts, ticket_text
from services.workflow.lint import lint
from services.workflow.model import Workflow

CRITERIA: dict[str, Callable[[ScoringCase], Dimension]] = {
    "relevance": relevance,
    "coverage": coverage,
    "accuracy": accuracy,
    "coherence": coherence,
    "conciseness": conciseness,
}
"""The paper's five dimensions, whose mean is the score; a further one is shown beside them."""

EVIDENCE = "evidence"
"""The part of a dimension's value that asks no model."""
_LEAST_VOICES = 2


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
        hears_others: bool = True,
    ) -> None:
        """`embedder` is asked only for what the words do not decide.

        With `hears_others` candidates vote on one another's facts; without, each stands for itself.
        `answers` is where the model's answers are kept; without it, in memory. `fitted` stands for
        what is shipped.
        """
        self._settings = settings or ScorerSettings()
        self._fitted = fitted or ScoringFit.shipped()
        self._facts = PageFacts(self._fitted.forests)
        self._hears_others = hears_others
        self.vectors = RecentVectors(embedder, self._settings.remembered_vectors)
        self._panel = _panel(model, self._settings, answers) if model else None

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """See `Scorer.score`."""
        request = request.model_copy(update={"ticket": screened(request.ticket).ticket})
        cases = self.cases(request)
        judged, verdict = self._judged(cases, request.deadline_s)
        scored = [
            ScoredCandidate(
                candidate=candidate,
                score=(score := _score(case, after, verdict, self._fitted.chance)),
                findings=tuple(map(str, case.findings)),
                good_enough=self._is_good_enough(score),
            )
            for candidate, case, after in zip(request.candidates, cases, judged, strict=True)
        ]
        return ScoreResponse(ranked=tuple(ranked(scored, [_place(case) for case in cases])))

    def cases(self, request: ScoreRequest) -> list[ScoringCase]:
        """What the criteria look at, one for each candidate."""
        evidence = Evidence.of(request.context)
        workflows = [candidate.workflow for candidate in request.candidates]
        grounded = Grounder(evidence, self.vectors).ground(workflows)
        texts = cited_texts(workflows, request.pages, request.context)
        readings = RuleReadings(texts, ticket_text(request.ticket))
        approved = Approved(request.pages, ticket_text(request.ticket), readings.source)
        cases = [
            self._case(request, evidence, readings, found, workflow)
            for workflow, found in zip(workflows, grounded, strict=True)
        ]
        cases = self._heard(cases)
        return [replace(c, decided=approved.settle(c.drawn, c.decided)) for c in cases]

    def questions(self, cases: Sequence[ScoringCase]) -> list[FactQuestion]:
        """What a model is asked about them, that first on which most depends."""
        candidates = [(case.drawn, case.decided) for case in cases]
        return questions(candidates, limit=self._settings.judged_facts)

    def _heard(self, cases: list[ScoringCase]) -> list[ScoringCase]:
        """The cases after candidates have voted on one another's facts."""
        if not self._hears_others or len(cases) < _LEAST_VOICES:
            return cases
        voices = [Voice(c.drawn, c.decided, is_of_rules(c.workflow)) for c in cases]
        return [
            replace(case, decided=decided)
            for case, decided in zip(cases, with_votes(voices), strict=True)
        ]

    def _case(
        self,
        request: ScoreRequest,
        evidence: Evidence,
        readings: RuleReadings,
        grounded: tuple[Grounded, ...],
        workflow: Workflow,
    ) -> ScoringCase:
        drawn = Drawn(workflow, readings.source)
        reading = readings.beside(drawn)
        return ScoringCase(
            ticket=request.ticket,
            context=request.context,
            evidence=evidence,
            workflow=workflow,
            grounded=grounded,
            findings=lint(workflow, bindings=request.ticket.labels),
            drawn=drawn,
            reading=reading,
            decided=self._facts.of(drawn, reading),
            weighings=self._fitted.weighings,
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
            for case, facts in zip(cases, told(asked, verdict, len(cases)), strict=True)
        ]
        return judged, verdict

    def _is_good_enough(self, score: Score) -> bool:
        """Relevance hangs on no fact that a model decides: it could be talked into it."""
        return (
            score.overall >= self._settings.least_score
            and score.relevance.value >= self._settings.least_relevance
        )


def _panel(model: ChatModel, settings: ScorerSettings, answers: AnswerStore | None) -> Panel | None:
    if not settings.judge:
        return None
    return Panel(
        FactJudge(model),
        answers or RecentAnswers(settings.remembered_answers),
        deadline_s=settings.deadline_s,
        ticket_tokens=settings.ticket_tokens,
    )


def _score(case: ScoringCase, judged: ScoringCase, verdict: PanelVerdict, fitted: Chance) -> Score:
    """By all that is decided; where a model decided something, what it was before is shown."""
    found = {name: criterion(judged) for name, criterion in CRITERIA.items()}
    if judged.decided != case.decided:
        before = {name: criterion(case) for name, criterion in CRITERIA.items()}
        found = {
            name: dimension.model_copy(update={"parts": {EVIDENCE: before[name].value}})
            for name, dimension in found.items()
        }
    if verdict.withdrawn:
        said = f"{found['coherence'].reason} {verdict.withdrawn}"
        found["coherence"] = found["coherence"].model_copy(update={"reason": said})
    of_page = chance_of_page(case.context.confidence, _place(case).share)
    others = {name: found[name] for name in found if name not in DIMENSIONS}
    score = Score(**{name: found[name] for name in DIMENSIONS}, others=others)
    return with_chance(score, case.workflow.provenance, fitted, of_page)


def _place(case: ScoringCase) -> CandidatePage:
    """The page that most steps cite, and how relevant retrieval found it beside the best one."""
    return CandidatePage(case.drawn.page, case.fits.get(case.drawn.page, 0.0))
