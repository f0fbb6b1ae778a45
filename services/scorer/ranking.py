"""Which candidate comes first: that of the best page, and of its workflows the likeliest."""

from collections.abc import Sequence
from typing import NamedTuple

from services.contracts.scorer import ScoredCandidate
from services.scorer.settings import ShowFirst
from services.workflow.lint import is_clean, lint


class CandidatePage(NamedTuple):
    """Where a candidate comes from."""

    page: str
    share: float
    """0–1."""


def ranked(
    scored: Sequence[ScoredCandidate],
    places: Sequence[CandidatePage],
    *,
    show_first: ShowFirst = ShowFirst.PAGE,
) -> list[ScoredCandidate]:
    """Return the candidates, best first.

    What is not good enough, or has errors of form, comes last. Candidates of different pages are
    compared by the relevance of their page. Of one page, what a person has checked comes first,
    then the page itself or what a model made of it, as `show_first` says; several workflows of one
    page are ordered by their chance.
    """
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
            _form(candidate, show_first),
            -(candidate.score.chance or 0.0),
            -candidate.score.overall,
        )
        for candidate, place in zip(scored, places, strict=True)
    ]
    order = sorted(range(len(scored)), key=keys.__getitem__)
    return [scored[at] for at in order]


def _form(candidate: ScoredCandidate, show_first: ShowFirst) -> int:
    """Return the place of a candidate among those of its page: checked, first form, other form."""
    workflow = candidate.candidate.workflow
    origin = workflow.provenance
    if origin is not None and origin.is_approved:
        return 0
    return 1 if workflow.is_checklist == (show_first is ShowFirst.PAGE) else 2
