"""Reading and writing go on while the model embeds: stages that hardly wait."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from services.ingestion.jobs.stores import Prepared
from services.knowledge.ports import Vectors

Window = list[Prepared]


def with_vectors(
    windows: Iterable[Window], embed: Callable[[Window], Vectors]
) -> Iterator[tuple[Window, Vectors]]:
    """Each window with the vectors of its chunks, in order.

    While one is embedded the next is read, and while the caller writes one the next is embedded:
    at most three are held. What reading or embedding raises is raised here.
    """
    ahead: deque[tuple[Window, Future[Vectors]]] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="embedding") as embedding:
        try:
            for window in windows:
                ahead.append((window, embedding.submit(embed, window)))
                if len(ahead) > 1:
                    yield _first(ahead)
            while ahead:
                yield _first(ahead)
        finally:
            embedding.shutdown(wait=True, cancel_futures=True)


def _first(ahead: deque[tuple[Window, Future[Vectors]]]) -> tuple[Window, Vectors]:
    window, vectors = ahead.popleft()
    return window, vectors.result()
