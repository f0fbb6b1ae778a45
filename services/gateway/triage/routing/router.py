"""Which team a text is for, learned from past tickets: no model, no network, milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.contracts.triage import Team, TeamChance
from services.gateway.triage.routing.cases import all_teams, team_texts
from services.gateway.triage.routing.cross_validation import folds_of, hidden
from services.gateway.triage.routing.entity_graph import EntityGraph
from services.gateway.triage.routing.likeness import Likeness, Query
from services.gateway.triage.routing.ranker import Ranker, Signs
from services.gateway.triage.routing.team_names import TeamNames
from services.gateway.triage.routing.vectors import Array
from services.knowledge.model import Case
from services.knowledge.ports import Embedder

_SCALE = 5.0
"""Brings scores of the regression and cosines to the size of log odds, as the penalty expects."""
_PATHS = 3


@dataclass(frozen=True)
class Ranking:
    """Chances of all teams for one text, the likeliest first."""

    teams: tuple[str, ...]
    chances: tuple[float, ...]


class Router:
    """Past tickets, learned once. Safe to use from several threads."""

    def __init__(
        self,
        cases: Sequence[Case],
        teams: Sequence[Team],
        embedder: Embedder,
        *,
        with_graph: bool = True,
    ) -> None:
        """`cases`: at least two, oldest first; `with_graph` is for measuring what walks add."""
        self.teams = all_teams(cases, teams)
        place = {name: index for index, name in enumerate(self.teams)}
        team = np.array([place[case.team] for case in cases], dtype=np.int64)
        took: Array = np.eye(len(self.teams))[team]
        self._embedder = embedder
        past = self._query([case.text for case in cases])
        self._likeness = Likeness(past, [case.entities for case in cases], took)
        self._graph = EntityGraph(self._likeness.words, took)
        self._names = TeamNames(self._query(team_texts(self.teams, teams)), past.texts)
        self._with_graph = with_graph
        folds = folds_of(team)
        apart = self._likeness.past * (folds[:, None] != folds)
        self._ranker = Ranker.fitted(
            self._signs(
                self._likeness.unseen_scores(folds),
                self._graph.unseen_columns(folds),
                self._names.columns(past),
                apart,
            ),
            team,
            hidden(team, folds),
        )

    def rank(self, texts: Sequence[str]) -> list[Ranking]:
        """The chances of all teams for each text."""
        return self._ranked(texts, self._graph.columns(texts))

    def rank_with_reached(self, text: str, most: int) -> tuple[Ranking, list[str]]:
        """Beside the chances the teams that walks of one and two hops count most for."""
        walked = self._graph.columns([text])
        order = np.argsort(-np.sum(walked, axis=0)[0], kind="stable")[:most]
        return self._ranked([text], walked)[0], [self.teams[index] for index in order]

    def explained(self, text: str, ranking: Ranking, most: int) -> tuple[TeamChance, ...]:
        """The first teams with the paths that lead to them."""
        place = {name: index for index, name in enumerate(self.teams)}
        return tuple(
            TeamChance(
                team=team,
                chance=round(chance, 4),
                why=tuple(self._graph.paths(text, place[team], self.teams, _PATHS)),
            )
            for team, chance in zip(ranking.teams[:most], ranking.chances, strict=False)
        )

    def _ranked(self, texts: Sequence[str], walked: list[Array]) -> list[Ranking]:
        query = self._query(texts)
        alike = self._likeness.to_past(query)
        scores = self._likeness.scores(alike)
        signs = self._signs(scores, walked, self._names.columns(query), alike)
        return [self._ranking(row) for row in self._ranker.chances(signs)]

    def _ranking(self, chances: Array) -> Ranking:
        order = np.argsort(-chances, kind="stable")
        return Ranking(
            tuple(self.teams[index] for index in order),
            tuple(float(chances[index]) for index in order),
        )

    def _query(self, texts: Sequence[str]) -> Query:
        return Query(texts, self._embedder.embed(list(texts)))

    def _signs(self, scores: Array, walked: list[Array], named: list[Array], alike: Array) -> Signs:
        columns = [_SCALE * scores, *(_SCALE * column for column in named)]
        if self._with_graph:
            columns += walked
        return Signs(np.stack(columns, axis=2), alike.max(axis=1))
