"""The choice of a team in rounds: among those that the graph reaches, then, in doubt, among all."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from services.contracts.triage import TeamChance
from services.gateway.triage.by_model import TriageModel
from services.gateway.triage.routing.router import Ranking, Router

REACHED = 8
"""Teams that the first round chooses among."""
_MOST_TEAMS_ASKED = 60
"""Teams that a model is shown when it may choose among all: the likeliest."""


@dataclass(frozen=True)
class Limits:
    """From when a choice is sure, and from when there is one at all."""

    sure_from: float
    abstain_below: float
    shown: int = 3
    rounds: int = 2


@dataclass(frozen=True)
class Chosen:
    """The likeliest teams, and how the first of them was found."""

    teams: tuple[TeamChance, ...]
    by: Literal["ranker", "model"]
    rounds: int
    is_abstained: bool

    @property
    def team(self) -> str | None:
        """The team the ticket goes to; None when none is likely enough."""
        return None if self.is_abstained or not self.teams else self.teams[0].team


def choose(router: Router, summary: str, whole: str, limits: Limits) -> Chosen:
    """Without a model: the ranker, which reads the whole text too when the summary leaves doubt."""
    first, reached = router.rank_with_reached(summary, REACHED)
    found, rounds = _only(first, set(reached)), 1
    if _top(found) < limits.sure_from and limits.rounds > 1:
        found, rounds = _both(first, router.rank([whole])[0] if whole != summary else first), 2
    teams = router.explained(summary, found, limits.shown)
    return Chosen(teams, "ranker", rounds, _top(found) < limits.abstain_below)


def choose_by_model(
    router: Router,
    model: TriageModel,
    summary: str,
    whole: str,
    *,
    descriptions: Mapping[str, str],
    limits: Limits,
    timeout_s: float,
) -> Chosen:
    """The model chooses among the likeliest; doubted, or none of them, it chooses again among all.

    A choice is doubted when the ranker holds another team to be sure. What the model does not
    answer the ranker has answered before.
    """
    ranked = choose(router, summary, whole, limits)
    ranking = router.rank([summary])[0]
    few = router.explained(summary, ranking, REACHED)
    named = model.choice(summary, few, descriptions, "", timeout_s)
    if named is None:
        return ranked
    rounds = 1
    doubts = _doubts(named, ranked, limits)
    if doubts and limits.rounds > 1:
        many = router.explained(summary, ranking, _MOST_TEAMS_ASKED)
        second = model.choice(summary, many, descriptions, doubts, timeout_s)
        named, rounds = named if second is None else second, 2
    if not named:
        return replace(ranked, by="model", rounds=rounds, is_abstained=True)
    every = router.explained(summary, ranking, len(ranking.teams))
    return Chosen(_first(named, every, ranked.teams), "model", rounds, is_abstained=False)


def _doubts(named: str, ranked: Chosen, limits: Limits) -> str:
    if not named:
        return "None of the teams shown before was the right one; here are all."
    best = ranked.teams[0]
    if best.team != named and best.chance >= limits.sure_from:
        return f"The choice was {named}; past tickets say {best.team} ({best.chance:.0%})."
    return ""


def _first(
    named: str, every: tuple[TeamChance, ...], shown: tuple[TeamChance, ...]
) -> tuple[TeamChance, ...]:
    """The named team before the others that are shown."""
    head = next(team for team in every if team.team == named)
    others = [team for team in shown if team.team != named]
    return (head, *others[: max(0, len(shown) - 1)])


def _only(ranking: Ranking, reached: set[str]) -> Ranking:
    kept = [pair for pair in zip(ranking.teams, ranking.chances, strict=True) if pair[0] in reached]
    return Ranking(tuple(team for team, _ in kept), tuple(chance for _, chance in kept))


def _both(one: Ranking, other: Ranking) -> Ranking:
    """The mean of both chances."""
    also = dict(zip(other.teams, other.chances, strict=True))
    means = {
        team: (chance + also[team]) / 2 for team, chance in zip(one.teams, one.chances, strict=True)
    }
    ordered = sorted(means, key=lambda team: (-means[team], team))
    return Ranking(tuple(ordered), tuple(means[team] for team in ordered))


def _top(ranking: Ranking) -> float:
    return ranking.chances[0] if ranking.chances else 0.0
