"""Which candidate comes first: that of the best page, and of its workflows the likeliest."""

from collections.abc import Sequence
from typing import NamedTuple

from services.contracts.scorer import ScoredCandidate
from services.workflow.lint import is_clean, lint

_PAGE_WEIGHT = 20.0
"""Points of overall for the page that retrieval found. The scores are about the logic of workflows:
alone they took the right page in 64 % of the tickets of even ids, retrieval does in 77 %."""


class CandidatePage(NamedTuple):
    """Where a candidate comes from."""

    page: str
    share: float
    """0–1."""


def ranked(
    scored: Sequence[ScoredCandidate], places: Sequence[CandidatePage]
) -> list[ScoredCandidate]:
    """Best first; what is not good enough, or has errors of form, comes last.

    A page counts by its relevance and its best workflow. Workflows of one page are ordered by
    their chance, which knows beside the five scores who read the page.
    """
    worth = dict[str, float]()
    for candidate, place in zip(scored, places, strict=True):
        value = candidate.score.overall + _PAGE_WEIGHT * place.share
        worth[place.page] = max(worth.get(place.page, value), value)
    keys = [
        (
            not candidate.good_enough,
            not is_clean(lint(candidate.candidate.workflow)),
            -worth[place.page],
            place.page,
            -(candidate.score.chance or 0.0),
            -candidate.score.overall,
        )
        for candidate, place in zip(scored, places, strict=True)
    ]
    order = sorted(range(len(scored)), key=keys.__getitem__)
    return [scored[at] for at in order]
