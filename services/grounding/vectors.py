"""Vectors of short texts, kept in memory while they are in use."""

import threading
from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from services.knowledge.ports import Embedder

Vector = NDArray[np.float32]


class RecentVectors:
    """Cosines of texts; asks the embedder only for texts not seen lately, many at once."""

    def __init__(self, embedder: Embedder, capacity: int) -> None:
        """Keeps the vectors of the `capacity` texts used last. Threads may share it."""
        self._embedder = embedder
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vector of each different text."""
        wanted = dict.fromkeys(texts)
        with self._lock:
            known = {text: self._vectors[text] for text in wanted if text in self._vectors}
        missing = [text for text in wanted if text not in known]
        if missing:
            known.update(zip(missing, self._embedder.embed(missing), strict=True))
        self._remember(known)
        return known

    def _remember(self, vectors: dict[str, Vector]) -> None:
        with self._lock:
            for text, vector in vectors.items():
                self._vectors[text] = vector
                self._vectors.move_to_end(text)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
