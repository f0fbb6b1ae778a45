"""Routing model, learned from past tickets: no language model, no network, milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.contracts.triage import Team, TeamChance
from services.knowledge.model import Case
from services.knowledge.ports import Embedder
from services.tickets.triage.routing.cases import all_teams, team_texts
from services.tickets.triage.routing.entity_graph import EntityGraph
from services.tickets.triage.routing.ranker import Ranker, TeamFeatures
from services.tickets.triage.routing.similarity import (
    Array,
    QueryTexts,
    SimilarityRegression,
    TeamNames,
)

_SCALE = 5.0
"""Factor that brings scores and cosines to the size of log odds, as the penalty expects."""
_PATHS = 3


@dataclass(frozen=True)
class TeamRanking:
    """Chances of all teams for one text, the likeliest first."""

    teams: tuple[str, ...]
    chances: tuple[float, ...]


class RoutingModel:
    """Routing model trained once on past tickets; safe to use from several threads."""

    def __init__(
        self,
        cases: Sequence[Case],
        teams: Sequence[Team],
        embedder: Embedder,
        *,
        with_graph: bool = True,
    ) -> None:
        """Train on `cases`: at least two, oldest first.

        `with_graph` is for measuring what graph walks add.
        """
        self.teams = all_teams(cases, teams)
        place = {name: index for index, name in enumerate(self.teams)}
        team = np.array([place[case.team] for case in cases], dtype=np.int64)
        team_matrix: Array = np.eye(len(self.teams))[team]
        self._embedder = embedder
        past = self._query([case.text for case in cases])
        self._regression = SimilarityRegression(
            past, [case.entities for case in cases], team_matrix
        )
        self._graph = EntityGraph(self._regression.words, team_matrix)
        self._names = TeamNames(self._query(team_texts(self.teams, teams)), past.texts)
        self._with_graph = with_graph
        folds = folds_of(team)
        unseen_similarity = self._regression.past_similarity * (folds[:, None] != folds)
        self._ranker = Ranker.fitted(
            self._features(
                self._regression.unseen_scores(folds),
                self._graph.unseen_columns(folds),
                self._names.columns(past),
                unseen_similarity,
            ),
            team,
            is_team_unseen(team, folds),
        )

    def rank(self, texts: Sequence[str]) -> list[TeamRanking]:
        """Return the chances of all teams for each text."""
        return self._rank(texts, self._graph.columns(texts))

    def rank_with_reached(self, text: str, most: int) -> tuple[TeamRanking, list[str]]:
        """Return the chances, and the teams that walks of one and two hops count most for."""
        hop_scores = self._graph.columns([text])
        order = np.argsort(-np.sum(hop_scores, axis=0)[0], kind="stable")[:most]
        return self._rank([text], hop_scores)[0], [self.teams[index] for index in order]

    def explain(self, text: str, ranking: TeamRanking, most: int) -> tuple[TeamChance, ...]:
        """Return the first teams with the paths that lead to them."""
        place = {name: index for index, name in enumerate(self.teams)}
        return tuple(
            TeamChance(
                team=team,
                chance=round(chance, 4),
                why=tuple(self._graph.paths(text, place[team], self.teams, _PATHS)),
            )
            for team, chance in zip(ranking.teams[:most], ranking.chances, strict=False)
        )

    def _rank(self, texts: Sequence[str], hop_scores: list[Array]) -> list[TeamRanking]:
        query = self._query(texts)
        similarity = self._regression.similarity(query)
        scores = self._regression.scores(similarity)
        features = self._features(scores, hop_scores, self._names.columns(query), similarity)
        rankings = []
        for chances in self._ranker.chances(features):
            order = np.argsort(-chances, kind="stable")
            teams = tuple(self.teams[index] for index in order)
            rankings.append(TeamRanking(teams, tuple(float(chances[index]) for index in order)))
        return rankings

    def _query(self, texts: Sequence[str]) -> QueryTexts:
        return QueryTexts(texts, self._embedder.embed(list(texts)))

    def _features(
        self, scores: Array, hop_scores: list[Array], name_scores: list[Array], similarity: Array
    ) -> TeamFeatures:
        columns = [_SCALE * scores, *(_SCALE * column for column in name_scores)]
        if self._with_graph:
            columns += hop_scores
        return TeamFeatures(np.stack(columns, axis=2), similarity.max(axis=1))


FOLDS = 5


def folds_of(team: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the fold of each ticket.

    Folds are runs of neighbours, since the next ticket comes from later or from elsewhere, not from
    in between; where tickets lie sorted by team, so that runs would hide whole teams, every fifth.
    """
    places = np.arange(len(team))
    runs = places * min(FOLDS, max(2, len(team) // 2)) // max(1, len(team))
    turns = places % FOLDS
    return (
        runs
        if is_team_unseen(team, runs).mean() <= 2 * is_team_unseen(team, turns).mean() + 0.2
        else turns
    )


def is_team_unseen(team: NDArray[np.int64], folds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell for each ticket whether no other fold holds a ticket of the same team."""
    size = int(team.max()) + 1
    inside = np.bincount(folds * size + team, minlength=(int(folds.max()) + 1) * size)
    return np.asarray(inside[folds * size + team] == np.bincount(team, minlength=size)[team])
