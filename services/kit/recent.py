"""What was used last, kept in memory."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


class Recent(Generic[Key, Kept]):
    """At most so many values; threads may share it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: OrderedDict[Key, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, keys: Collection[Key]) -> dict[Key, Kept]:
        """Those of the keys that are here, which counts as a use."""
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
            return found

    def keep(self, values: Mapping[Key, Kept]) -> None:
        """Add or replace; what was not used for longest goes."""
        with self._lock:
            for key, value in values.items():
                self._known[key] = value
                self._known.move_to_end(key)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
