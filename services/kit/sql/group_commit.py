"""Group commit: simultaneous requests of several threads are done in one batch."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _PendingItem(Generic[Item, Result]):
    """One thread's item, and its result."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.is_done = False
        self.result: Result | None = None
        self.error: Exception | None = None


class GroupCommit(Generic[Item, Result]):
    """Executor that gathers the next batch while one is worked on.

    The thread that gets the lock works for all that wait; they find theirs done when they get it.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[Result]], *, most: int = 64
    ) -> None:
        """Take a function of at most `most` items that returns a result for each."""
        self._work = work
        self._most = most
        self._waiting: list[_PendingItem[Item, Result]] = []
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def submit(self, item: Item) -> Result:
        """Return the item's result; raise what the work of its batch raised."""
        pending: _PendingItem[Item, Result] = _PendingItem(item)
        with self._lock:
            self._waiting.append(pending)
        while not pending.is_done:
            with self._turn:
                if not pending.is_done:
                    self._run()
        if pending.error is not None:
            raise pending.error
        return pending.result  # type: ignore[return-value] # it is done

    def _run(self) -> None:
        with self._lock:
            batch = self._waiting[: self._most]
            del self._waiting[: self._most]
        try:
            results = self._work([pending.item for pending in batch])
            for pending, result in zip(batch, results, strict=True):
                pending.result = result
        except Exception as error:  # noqa: BLE001 - it is raised again to each that asked
            for pending in batch:
                pending.error = error
        finally:
            for pending in batch:
                pending.is_done = True
