"""Scorer: candidates in, five explained scores each out, best first."""

from typing import Protocol

from pydantic import Field, computed_field

from services.contracts.client import ContractClient, route
from services.contracts.planner import Candidate
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.kit.value import Value
from services.knowledge.model import KnowledgeContext


class Dimension(Value):
    """One of the five scores, with its evidence."""

    value: float = Field(ge=1, le=5)
    reason: str
    """One sentence that names the evidence."""
    parts: dict[str, float] = Field(default={})
    """The value by evidence alone, as `evidence`, if a model decided something as well."""


DIMENSIONS = ("relevance", "coverage", "accuracy", "coherence", "conciseness")
"""Names of the five dimensions, in the paper's order."""


class Score(Value):
    """The paper's five dimensions, each 1 (worst) to 5, and the chance that follows from them."""

    relevance: Dimension
    coverage: Dimension
    accuracy: Dimension
    coherence: Dimension
    conciseness: Dimension
    others: dict[str, Dimension] = Field(default={})
    """Criteria beyond the five, by name: shown beside them, and not part of `overall`."""
    chance: float | None = Field(default=None, ge=0, le=1)
    """Probability that an expert would accept the workflow for this ticket; None without a fit."""
    lowered_by: tuple[str, ...] = ()
    """Reasons, in words, that lower the chance, the heaviest first."""

    @property
    def dimensions(self) -> dict[str, Dimension]:
        """Dimensions by name: the five in the paper's order, then the others."""
        return {name: getattr(self, name) for name in DIMENSIONS} | self.others

    @computed_field  # type: ignore[prop-decorator]
    @property
    def overall(self) -> float:
        """The mean of the five."""
        values = [self.dimensions[name].value for name in DIMENSIONS]
        return sum(values) / len(values)


class ScoreRequest(Value):
    """Candidates for one ticket and the context they were planned from."""

    ticket: TicketDraft
    context: KnowledgeContext
    pages: tuple[PageReading, ...] = ()
    """Readings that the candidates may rest on."""
    candidates: tuple[Candidate, ...]
    deadline_s: float | None = Field(default=None, ge=0)
    """Seconds in which a model may judge; None for the scorer's own limit."""


class ScoredCandidate(Value):
    """A candidate with its score and its lint findings in words."""

    candidate: Candidate
    score: Score
    findings: tuple[str, ...] = ()
    good_enough: bool = True
    """False if it is no answer, even if nothing better exists."""


class ScoreResponse(Value):
    """Candidates, best first."""

    ranked: tuple[ScoredCandidate, ...]


class Scorer(Protocol):
    """Judge of candidates."""

    def score(self, request: ScoreRequest) -> ScoreResponse:
        """Return every candidate with its score, best first.

        Candidates that are good enough come before others, lint-clean ones first, then those of
        the page that fits the ticket best, then by overall score: if the first is not good enough,
        none is.
        """


class ScorerClient(ContractClient):
    """`Scorer` in another process, over HTTP."""

    score = route(Scorer.score, "POST", "/v1/scores")
