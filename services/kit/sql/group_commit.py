"""Group commit: what several threads ask for at one moment is done in one batch."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class _Asked(Generic[Item, Result]):
    """One thread's item, and what came of it."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.is_done = False
        self.result: Result | None = None
        self.error: Exception | None = None


class GroupCommit(Generic[Item, Result]):
    """While one batch is worked on the next one gathers.

    Whoever gets the turn works for all that wait; they find theirs done when they get it.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[Result]], *, most: int = 64
    ) -> None:
        """`work` gets at most so many items, and gives a result for each."""
        self._work = work
        self._most = most
        self._waiting: list[_Asked[Item, Result]] = []
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def do(self, item: Item) -> Result:
        """The item's result; raises what the work of its batch raised."""
        mine: _Asked[Item, Result] = _Asked(item)
        with self._lock:
            self._waiting.append(mine)
        while not mine.is_done:
            with self._turn:
                if not mine.is_done:
                    self._run()
        if mine.error is not None:
            raise mine.error
        return mine.result  # type: ignore[return-value] # it is done

    def _run(self) -> None:
        with self._lock:
            batch = self._waiting[: self._most]
            del self._waiting[: self._most]
        try:
            results = self._work([asked.item for asked in batch])
            for asked, result in zip(batch, results, strict=True):
                asked.result = result
        except Exception as error:  # noqa: BLE001 - it is raised again to each that asked
            for asked in batch:
                asked.error = error
        finally:
            for asked in batch:
                asked.is_done = True
