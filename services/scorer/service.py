"""Candidates in, five explained scores each out, best first."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from services.contracts.scorer import (
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
from services.scorer.criteria.accuracy import accuracy
from services.scorer.criteria.case import Case
from services.scorer.criteria.coherence import coherence
from services.scorer.criteria.conciseness import conciseness
from services.scorer.criteria.coverage import coverage
from services.scorer.criteria.relevance import relevance
from services.scorer.facts.approved import Approved
from services.scorer.facts.decide import FORESTS, Forests, decide
from services.scorer.facts.drawn import Drawn
from services.scorer.facts.rule_reading import Readings
from services.scorer.facts.texts import cited_texts, ticket_text
from services.scorer.judges.judge import Judge
from services.scorer.judges.likelihood import Likelihood
from services.scorer.judges.opinion import Part
from services.scorer.judges.panel import Panel
from services.scorer.judges.subject import Subject
from services.scorer.merge import merged
from services.scorer.settings import ScorerSettings
from services.scorer.weights import WEIGHTS, Curve, ModelWeights, Weights
from services.workflow.lint import is_clean, lint
from services.workflow.model import Workflow

CRITERIA: dict[str, Callable[[Case], Dimension]] = {
    "relevance": relevance,
    "coverage": coverage,
    "accuracy": accuracy,
    "coherence": coherence,
    "conciseness": conciseness,
}
"""The paper's five dimensions; the score is their mean."""


class ScorerService:
    """Implements `Scorer`: looks each step up in the context; asks a model where there is one."""

    def __init__(
        self,
        embedder: Embedder,
        settings: ScorerSettings | None = None,
        *,
        model: ChatModel | None = None,
        weights: Weights = WEIGHTS,
        forests: Forests = FORESTS,
    ) -> None:
        """`embedder` is asked only for what the words do not decide.

        A model that `weights` do not know is asked and its parts are shown, but has no vote.
        """
        self._settings = settings or ScorerSettings()
        self._forests = forests
        self.vectors = RecentVectors(embedder, self._settings.remembered_vectors)
        fitted = weights.models.get(model.name) if model else None
        self._shares = fitted.weights if fitted else {}
        parts = tuple(_parts(model, self._settings, fitted)) if model else ()
        self._panel = Panel(
            parts, deadline_s=self._settings.deadline_s, ticket_tokens=self._settings.ticket_tokens
        )

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """See `Scorer.score`."""
        request = request.model_copy(update={"ticket": screened(request.ticket).ticket})
        cases = self.cases(request)
        evidence = [_evidence(case) for case in cases]
        scored = [
            ScoredCandidate(
                candidate=candidate,
                score=score,
                findings=tuple(map(str, case.findings)),
                good_enough=self._is_good_enough(score, by_evidence),
            )
            for candidate, case, score, by_evidence in zip(
                request.candidates, cases, self._merged(request, evidence), evidence, strict=True
            )
        ]
        return ScoreResponse(ranked=tuple(sorted(scored, key=_rank)))

    def cases(self, request: ScoreRequest) -> list[Case]:
        """What the criteria look at, one for each candidate."""
        evidence = Evidence.of(request.context)
        workflows = [candidate.workflow for candidate in request.candidates]
        grounded = Grounder(evidence, self.vectors).ground(workflows)
        texts = cited_texts(workflows, request.pages, request.context)
        readings = Readings(texts, ticket_text(request.ticket))
        approved = Approved(request.pages, ticket_text(request.ticket), readings.source)
        cases = [
            self._case(request, evidence, readings, found, workflow)
            for workflow, found in zip(workflows, grounded, strict=True)
        ]
        return [replace(c, decided=approved.settle(c.drawn, c.decided)) for c in cases]

    def _case(
        self,
        request: ScoreRequest,
        evidence: Evidence,
        readings: Readings,
        grounded: tuple[Grounded, ...],
        workflow: Workflow,
    ) -> Case:
        drawn = Drawn(workflow, readings.source)
        reading = readings.beside(drawn)
        return Case(
            ticket=request.ticket,
            context=request.context,
            evidence=evidence,
            workflow=workflow,
            grounded=grounded,
            findings=lint(workflow, bindings=request.ticket.labels),
            drawn=drawn,
            reading=reading,
            decided=decide(drawn, reading, self._forests),
        )

    def _merged(self, request: ScoreRequest, evidence: list[Score]) -> list[Score]:
        if not self._panel.is_seated:
            return evidence
        subject = Subject.of(request, evidence, characters=self._settings.context_characters)
        found = self._panel.ask(subject, request.deadline_s)
        return [
            merged(score, {part: opinions[place] for part, opinions in found.items()}, self._shares)
            for place, score in enumerate(evidence)
        ]

    def _is_good_enough(self, score: Score, by_evidence: Score) -> bool:
        """Relevance is asked of the evidence alone: a model can be talked into it."""
        return (
            score.overall >= self._settings.least_score
            and by_evidence.relevance.value >= self._settings.least_relevance
        )


def _evidence(case: Case) -> Score:
    return Score(**{name: criterion(case) for name, criterion in CRITERIA.items()})


def _parts(
    model: ChatModel, settings: ScorerSettings, fitted: ModelWeights | None
) -> Iterator[Part]:
    """What is asked: all that is switched on, unless it was fitted to have no say."""
    if settings.judge and (fitted is None or fitted.is_heard(Judge.name)):
        yield Judge(
            model, together=settings.judged_together, second_pass_gap=settings.second_pass_gap
        )
    if settings.likelihood and (fitted is None or fitted.is_heard(Likelihood.name)):
        yield Likelihood(model, fitted.likelihood if fitted else Curve())


def _rank(scored: ScoredCandidate) -> tuple[bool, bool, float]:
    dirty = not is_clean(lint(scored.candidate.workflow))
    return not scored.good_enough, dirty, -scored.score.overall
