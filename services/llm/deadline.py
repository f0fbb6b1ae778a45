"""Iteration with a deadline over a source that may block for ever."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")


class _EndOfItems:
    """Marker after the last item, with the error that ended the source, if any."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def iterate_with_deadline(
    source: Callable[[], Generator[Item, None, None]], within_s: float
) -> Generator[Item, None, None]:
    """Yield the items of `source`, which is read in its own thread; its errors are raised here.

    A time limit of a socket counts from the last byte, so that a server that sends signs of life
    and nothing else is waited for without end. When time is over, or nobody wants more, the thread
    stops after the item it waits for.

    Raises:
        TimeoutError: Not all items came within `within_s` seconds.
    """
    ends = time.monotonic() + within_s
    made: SimpleQueue[Item | _EndOfItems] = SimpleQueue()
    unwanted = threading.Event()

    def make() -> None:
        try:
            with closing(source()) as items:
                for item in items:
                    made.put(item)
                    if unwanted.is_set():
                        return
            made.put(_EndOfItems())
        except BaseException as error:  # noqa: BLE001 - the thread's entry point hands it over
            made.put(_EndOfItems(error))

    threading.Thread(target=copy_context().run, args=(make,), name="in-time", daemon=True).start()
    try:
        while True:
            item = made.get(timeout=max(0.0, ends - time.monotonic()))
            if isinstance(item, _EndOfItems):
                break
            yield item
    except Empty as error:
        raise TimeoutError(f"not all came within {within_s:.1f} s") from error
    finally:
        unwanted.set()
    if item.error is not None:
        raise item.error
