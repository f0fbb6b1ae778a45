"""Candidates in, five explained scores each out, best first; no language model."""

from collections.abc import Callable

from services.contracts.planner import Candidate
from services.contracts.scorer import (
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
from services.scorer.accuracy import accuracy
from services.scorer.branches import TONES
from services.scorer.case import Case
from services.scorer.coherence import coherence
from services.scorer.conciseness import conciseness
from services.scorer.coverage import coverage
from services.scorer.kinship import texts_to_compare
from services.scorer.relevance import relevance
from services.scorer.settings import ScorerSettings
from services.workflow.lint import is_clean, lint

CRITERIA: dict[str, Callable[[Case], Dimension]] = {
    "relevance": relevance,
    "coverage": coverage,
    "accuracy": accuracy,
    "coherence": coherence,
    "conciseness": conciseness,
}
"""The paper's five dimensions; the score is their mean."""


class ScorerService:
    """Implements `Scorer` by looking each step up in the context."""

    def __init__(self, embedder: Embedder, settings: ScorerSettings | None = None) -> None:
        """`embedder` is asked only for what the words do not decide."""
        settings = settings or ScorerSettings()
        self.vectors = RecentVectors(embedder, settings.remembered_vectors)

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """See `Scorer.score`."""
        scored = [self._scored(*pair) for pair in self._cases(request)]
        return ScoreResponse(ranked=tuple(sorted(scored, key=_rank)))

    def _cases(self, request: ScoreRequest) -> list[tuple[Candidate, Case]]:
        evidence = Evidence.of(request.context)
        workflows = [candidate.workflow for candidate in request.candidates]
        grounded = Grounder(evidence, self.vectors).ground(workflows)
        texts = [text for found in grounded for text in texts_to_compare(found)]
        vectors = self.vectors.of([*TONES, *texts] if texts else [])
        return [
            (
                candidate,
                Case(
                    ticket=request.ticket,
                    context=request.context,
                    evidence=evidence,
                    workflow=candidate.workflow,
                    grounded=found,
                    findings=lint(candidate.workflow, bindings=request.ticket.labels),
                    vectors=vectors,
                ),
            )
            for candidate, found in zip(request.candidates, grounded, strict=True)
        ]

    def _scored(self, candidate: Candidate, case: Case) -> ScoredCandidate:
        score = Score(**{name: criterion(case) for name, criterion in CRITERIA.items()})
        return ScoredCandidate(
            candidate=candidate, score=score, findings=tuple(map(str, case.findings))
        )


def _rank(scored: ScoredCandidate) -> tuple[bool, float]:
    dirty = not is_clean(lint(scored.candidate.workflow))
    return dirty, -scored.score.overall
