"""The port `AnswerStore`: what a model said about lines of a page, kept while they stand so."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol


class AnswerStore(Protocol):
    """Answers by a key of all that they depend on: lines, question, options, prompt and model.

    Safe to share between threads.
    """

    def get(self, key: str) -> tuple[float, ...] | None:
        """The chances of the options, none where the model contradicted itself; None if unknown."""

    def put(self, key: str, chances: Sequence[float]) -> None:
        """Keep an answer in the place of an earlier one."""


class RecentAnswers:
    """Those that were asked for last, in memory."""

    def __init__(self, size: int) -> None:
        """At most `size` answers."""
        self._size = size
        self._known: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> tuple[float, ...] | None:
        """See `AnswerStore.get`."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: str, chances: Sequence[float]) -> None:
        """See `AnswerStore.put`."""
        with self._lock:
            self._known[key] = tuple(chances)
            self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
