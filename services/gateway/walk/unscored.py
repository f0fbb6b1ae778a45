"""Candidates that no scorer has judged, since it did not answer."""

from collections.abc import Iterable

from services.contracts.planner import Candidate
from services.contracts.scorer import DIMENSIONS, Dimension, Score, ScoredCandidate

REASON = "not judged: the scorer did not answer"
_LEAST = 1.0
"""Nothing speaks for it yet, and no average must gain by it."""


def unscored(candidates: Iterable[Candidate]) -> tuple[ScoredCandidate, ...]:
    """In the planner's order, the extractive one first; none counts as good enough."""
    unknown = Dimension(value=_LEAST, reason=REASON)
    score = Score(**dict.fromkeys(DIMENSIONS, unknown))
    return tuple(
        ScoredCandidate(candidate=each, score=score, findings=(REASON,), good_enough=False)
        for each in candidates
    )
