"""Adapter of `AnswerStore` in memory: where no database is at hand."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping

from services.procedure.ports import JudgedAnswer


class RecentAnswers:
    """Those that were asked for last; safe to share between threads."""

    def __init__(self, size: int) -> None:
        """At most `size` answers."""
        self._size = size
        self._known: OrderedDict[str, JudgedAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, keys: Collection[str]) -> dict[str, JudgedAnswer]:
        """See `AnswerStore.known`."""
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
            return found

    def keep(self, answers: Mapping[str, JudgedAnswer]) -> None:
        """See `AnswerStore.keep`."""
        with self._lock:
            for key, answer in answers.items():
                self._known[key] = answer
                self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
