"""How near a ticket comes to what a team is called and says of itself."""

from collections.abc import Sequence

import numpy as np

from services.gateway.triage.routing.cases import entities_of
from services.gateway.triage.routing.likeness import Query
from services.gateway.triage.routing.vectors import Array, SparseSpace


class TeamNames:
    """Names and descriptions of teams: all there is to know of one that never took a ticket."""

    def __init__(self, teams: Query, texts: Sequence[str]) -> None:
        """`texts` of past tickets say how rare each word is."""
        self._space = SparseSpace(
            entities_of, [entities_of(text) for text in (*texts, *teams.texts)]
        )
        self._words = self._space.rows(teams.texts).T.tocsr()
        self._vectors = teams.vectors.astype(float)

    def columns(self, query: Query) -> list[Array]:
        """By words and by meaning: each of shape (texts, teams), a cosine."""
        by_words = (self._space.rows(query.texts) @ self._words).toarray()
        return [by_words, np.asarray(query.vectors.astype(float) @ self._vectors.T)]
