"""Choice of a team in rounds: among those that the graph reaches, then, in doubt, among all."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from services.contracts.triage import TeamChance
from services.tickets.triage.by_model import TriageModel
from services.tickets.triage.routing.router import RoutingModel, TeamRanking

REACHED = 8
"""Teams that the first round chooses among."""
_MOST_TEAMS_OFFERED = 60
"""Teams that a model is shown when it may choose among all: the likeliest."""


@dataclass(frozen=True)
class RoutingLimits:
    """Thresholds for a sure choice and for abstaining."""

    sure_from: float
    abstain_below: float
    shown: int = 3
    rounds: int = 2


@dataclass(frozen=True)
class RoutingChoice:
    """The likeliest teams, and how the first of them was chosen."""

    teams: tuple[TeamChance, ...]
    by: Literal["ranker", "model"]
    rounds: int
    is_abstained: bool

    @property
    def team(self) -> str | None:
        """Team that the ticket goes to; None if none is likely enough."""
        return None if self.is_abstained or not self.teams else self.teams[0].team


def choose_by_ranker(
    router: RoutingModel, summary: str, whole: str, limits: RoutingLimits
) -> RoutingChoice:
    """Choose by the ranker, which reads the whole text too if the summary leaves doubt."""
    first, reached = router.rank_with_reached(summary, REACHED)
    pairs = zip(first.teams, first.chances, strict=True)
    kept = [(team, chance) for team, chance in pairs if team in set(reached)]
    ranking, rounds = TeamRanking(tuple(t for t, _ in kept), tuple(c for _, c in kept)), 1
    if _top(ranking) < limits.sure_from and limits.rounds > 1:
        ranking, rounds = _average(first, router.rank([whole])[0] if whole != summary else first), 2
    teams = router.explain(summary, ranking, limits.shown)
    return RoutingChoice(teams, "ranker", rounds, _top(ranking) < limits.abstain_below)


def choose_by_model(
    router: RoutingModel,
    model: TriageModel,
    summary: str,
    whole: str,
    *,
    descriptions: Mapping[str, str],
    limits: RoutingLimits,
    timeout_s: float,
) -> RoutingChoice:
    """Let the model choose among the likeliest teams, and in doubt again among all.

    A choice is in doubt if it is none of the teams, or if the ranker holds another team to be sure.
    Where the model does not answer, the ranker's choice counts.
    """
    ranked = choose_by_ranker(router, summary, whole, limits)
    ranking = router.rank([summary])[0]
    few = router.explain(summary, ranking, REACHED)
    named = model.choose_team(summary, few, descriptions, "", timeout_s)
    if named is None:
        return ranked
    rounds = 1
    doubts = _doubts(named, ranked, limits)
    if doubts and limits.rounds > 1:
        many = router.explain(summary, ranking, _MOST_TEAMS_OFFERED)
        second = model.choose_team(summary, many, descriptions, doubts, timeout_s)
        named, rounds = named if second is None else second, 2
    if not named:
        return replace(ranked, by="model", rounds=rounds, is_abstained=True)
    every = router.explain(summary, ranking, len(ranking.teams))
    head = next(team for team in every if team.team == named)
    others = [team for team in ranked.teams if team.team != named]
    teams = (head, *others[: max(0, len(ranked.teams) - 1)])
    return RoutingChoice(teams, "model", rounds, is_abstained=False)


def _doubts(named: str, ranked: RoutingChoice, limits: RoutingLimits) -> str:
    if not named:
        return "None of the teams shown before was the right one; here are all."
    best = ranked.teams[0]
    if best.team != named and best.chance >= limits.sure_from:
        return f"The choice was {named}; past tickets say {best.team} ({best.chance:.0%})."
    return ""


def _average(first: TeamRanking, second: TeamRanking) -> TeamRanking:
    """Average the chances of two rankings."""
    other_chances = dict(zip(second.teams, second.chances, strict=True))
    means = {
        team: (chance + other_chances[team]) / 2
        for team, chance in zip(first.teams, first.chances, strict=True)
    }
    ordered = sorted(means, key=lambda team: (-means[team], team))
    return TeamRanking(tuple(ordered), tuple(means[team] for team in ordered))


def _top(ranking: TeamRanking) -> float:
    return ranking.chances[0] if ranking.chances else 0.0
