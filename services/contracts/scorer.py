"""Scorer: candidates in, five explained scores each out, best first."""

from typing import Protocol

from pydantic import Field, computed_field

from services.contracts.planner import Candidate
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.kit.http.client import ServiceClient
from services.kit.value import Value
from services.knowledge.model import KnowledgeContext


class Dimension(Value):
    """One of the five scores, with what it saw."""

    value: float = Field(ge=1, le=5)
    reason: str
    """One sentence that names the evidence."""
    parts: dict[str, float] = Field(default={})
    """The value by the evidence alone, as `evidence`, where a model decided something beside it."""


DIMENSIONS = ("relevance", "coverage", "accuracy", "coherence", "conciseness")
"""In the paper's order."""


class Score(Value):
    """The paper's five dimensions, each 1 (worst) to 5, and the chance that follows from them."""

    relevance: Dimension
    coverage: Dimension
    accuracy: Dimension
    coherence: Dimension
    conciseness: Dimension
    others: dict[str, Dimension] = Field(default={})
    """Criteria beyond the five, by name: shown beside them, and no part of `overall`."""
    chance: float | None = Field(default=None, ge=0, le=1)
    """That an expert would accept the workflow for this ticket; None where nothing was fitted."""
    lowered_by: tuple[str, ...] = ()
    """What lowers the chance, in words, the heaviest first."""

    @property
    def dimensions(self) -> dict[str, Dimension]:
        """By name: the five in the paper's order, then the others."""
        return {name: getattr(self, name) for name in DIMENSIONS} | self.others

    @computed_field  # type: ignore[prop-decorator]
    @property
    def overall(self) -> float:
        """The mean of the five, always."""
        values = [self.dimensions[name].value for name in DIMENSIONS]
        return sum(values) / len(values)


class ScoreRequest(Value):
    """Candidates for one ticket and the context they were planned from."""

    ticket: TicketDraft
    context: KnowledgeContext
    pages: tuple[PageReading, ...] = ()
    """The readings that the candidates may rest on."""
    candidates: tuple[Candidate, ...]
    deadline_s: float | None = Field(default=None, ge=0)
    """Seconds in which a model may judge; the scorer's own limit where it is None."""


class ScoredCandidate(Value):
    """A candidate with its score and its lint findings in words."""

    candidate: Candidate
    score: Score
    findings: tuple[str, ...] = ()
    good_enough: bool = True
    """False when it is no answer, even if nothing better is there."""


class ScoreResponse(Value):
    """Candidates, best first."""

    ranked: tuple[ScoredCandidate, ...]


class Scorer(Protocol):
    """Judges candidates."""

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """Every candidate comes back, best first.

        Those that are good enough stand before others, lint-clean ones first, then those of the
        page that fits the ticket best, then by overall: when the first is not good enough, none is.
        """


class ScorerClient:
    """`Scorer` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """See `Scorer.score`."""
        return ScoreResponse.model_validate(self._client.post("/v1/scores", request))
