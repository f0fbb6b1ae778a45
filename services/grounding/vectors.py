"""Vectors of short texts, kept in memory while they are in use."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from services.kit.recent import Recent
from services.knowledge.ports import Embedder

Vector = NDArray[np.float32]


class RecentVectors:
    """Cosines of texts; asks the embedder only for texts not seen lately, many at once."""

    def __init__(self, embedder: Embedder, capacity: int) -> None:
        """Keeps the vectors of the `capacity` texts used last. Threads may share it."""
        self._embedder = embedder
        self._recent: Recent[str, Vector] = Recent(capacity)

    def of(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vector of each different text."""
        wanted = dict.fromkeys(texts)
        known = self._recent.known(wanted)
        missing = [text for text in wanted if text not in known]
        if missing:
            made = dict(zip(missing, self._embedder.embed(missing), strict=True))
            self._recent.keep(made)
            known |= made
        return known
