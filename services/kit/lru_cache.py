"""A cache of the most recently used values, in memory."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


class LruCache(Generic[Key, Kept]):
    """Bounded cache that evicts the least recently used value; thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Key, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get_many(self, keys: Collection[Key]) -> dict[Key, Kept]:
        """Return the cached values among the keys; this counts as a use."""
        with self._lock:
            hits = {key: self._entries[key] for key in keys if key in self._entries}
            for key in hits:
                self._entries.move_to_end(key)
            return hits

    def keep(self, values: Mapping[Key, Kept]) -> None:
        """Add or replace values; the least recently used ones are evicted."""
        with self._lock:
            for key, value in values.items():
                self._entries[key] = value
                self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
