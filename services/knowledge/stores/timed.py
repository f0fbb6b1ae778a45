"""Wrappers of stores that measure how long operations take.

A rebuild is not among them: it lasts as long as its caller writes.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from services.kit.observability.metrics import store_timer
from services.knowledge.ports import GraphStore, VectorStore

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_VECTORS = ("upsert", "delete", "delete_document", "search", "count")
_GRAPH = (
    "replace_document",
    "delete_document",
    "get",
    "of_documents",
    "find_names",
    "neighbours",
    "search",
    "count",
    "put_cases",
    "remove_cases",
    "cases",
    "cases_state",
)


def with_timing_of_vectors(store: VectorStore) -> VectorStore:
    """Wrap the store so that its operations are timed."""
    return cast("VectorStore", _TimedStore(store, "vectors", _VECTORS))


def with_timing_of_graph(store: GraphStore) -> GraphStore:
    """Wrap the store so that its operations are timed."""
    return cast("GraphStore", _TimedStore(store, "graph", _GRAPH))


class _TimedStore:
    def __init__(self, store: object, name: str, operations: tuple[str, ...]) -> None:
        self._store = store
        for operation in operations:
            setattr(self, operation, _time_call(name, operation, getattr(store, operation)))

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


def _time_call(
    store: str, operation: str, call: Callable[Arguments, Result]
) -> Callable[Arguments, Result]:
    def observed(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with store_timer(store, operation):
            return call(*args, **kwargs)

    return observed
