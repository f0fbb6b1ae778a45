"""What a model's steps may rest on is embedded while the model writes."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context

import structlog

from services.grounding.vectors import RecentVectors

_log = structlog.get_logger()

_AT_ONCE = 4
"""Texts; who says that it is enough waits for no more than these."""


@contextmanager
def embedding_ahead(vectors: RecentVectors, texts: Sequence[str]) -> Iterator[threading.Event]:
    """Meanwhile `vectors` gets to know the texts, one after the other, until the event is set."""
    enough = threading.Event()

    def embed() -> None:
        try:
            for start in range(0, len(texts), _AT_ONCE):
                if enough.is_set():
                    return
                vectors.of(texts[start : start + _AT_ONCE])
        except Exception:  # noqa: BLE001 - the thread's entry point; who needs a vector asks again
            _log.warning("planner.embedding_ahead_failed", exc_info=True)

    threading.Thread(
        target=copy_context().run, args=(embed,), name="embedding-ahead", daemon=True
    ).start()
    try:
        yield enough
    finally:
        enough.set()
