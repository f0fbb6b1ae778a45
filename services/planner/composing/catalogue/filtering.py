"""Which components of a catalogue an instruction may mean: by meaning, and by name."""

import re
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.knowledge.ports import Embedder, Vectors
from services.language.names import parts_of
from services.planner.composing.catalogue.component import Component, Components
from services.planner.composing.words.clauses import clauses

MOST_SHOWN = 15
"""Components that a team is shown for an instruction."""
_OF_EACH_CLAUSE = 3
_MOST_CLAUSES = 8
_KEPT_CATALOGUES = 4


@dataclass(frozen=True)
class Ranked:
    """A component and how near it is."""

    component: Component
    score: float
    """Cosine with the instruction or with one clause of it, whichever is nearer."""
    is_named: bool
    """Whether the instruction names it."""


class ComponentFilter:
    """Keeps the vectors of the latest catalogues. Safe to call from several threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._matrices: dict[str, Vectors] = {}
        self._lock = threading.Lock()

    def ranked(
        self, instruction: str, components: Components, most: int = MOST_SHOWN
    ) -> list[Ranked]:
        """The nearest ones, those that are named first; of each clause the nearest are among them.

        A catalogue that is seen for the first time is embedded whole, which takes long.
        """
        if not len(components):
            return []
        names = list(components.by_name)
        parts = list(dict.fromkeys([instruction, *clauses(instruction)[:_MOST_CLAUSES]]))
        scores = self._matrix(components) @ self._embedder.embed(parts).T
        best = scores.max(axis=1)
        named = self._named(instruction, components)
        chosen = dict.fromkeys(sorted(named, key=lambda name: -best[names.index(name)]))
        tops = [_top(column, _OF_EACH_CLAUSE) for column in scores.T[1:]]
        for rank in zip(*tops, strict=True):
            chosen |= dict.fromkeys(names[place] for place in rank)
        chosen |= dict.fromkeys(names[place] for place in _top(best, most))
        places = {name: place for place, name in enumerate(names)}
        kept = list(chosen)[: max(most, len(named))]
        found = [
            Ranked(components.by_name[name], float(best[places[name]]), name in named)
            for name in kept
        ]
        return sorted(found, key=lambda each: (not each.is_named, -each.score))

    def _matrix(self, components: Components) -> Vectors:
        with self._lock:
            known = self._matrices.get(components.digest)
        if known is not None:
            return known
        made = self._embedder.embed([told_of(each) for each in components.by_name.values()])
        with self._lock:
            self._matrices[components.digest] = made
            while len(self._matrices) > _KEPT_CATALOGUES:
                self._matrices.pop(next(iter(self._matrices)))
        return made

    def _named(self, instruction: str, components: Components) -> set[str]:
        """Those whose name stands in the instruction as a name is written, not as a word is."""
        words = {word.casefold() for word in re.findall(r"[\w.-]+", instruction)}
        words |= {word.strip(".-") for word in words}
        return {
            name
            for name in components.by_name
            if name.casefold() in words
            and (_is_written_as_name(name) or f"`{name}`" in instruction)
        }


def told_of(component: Component) -> str:
    """What a component is found by."""
    words = " ".join(
        part for piece in re.split(r"[\W_]+", component.name) for part in parts_of(piece)
    )
    return f"{words}: {component.description}" if component.description else words


def _is_written_as_name(name: str) -> bool:
    return bool(re.search(r"[_.\d-]|[a-z][A-Z]", name))


def _top(scores: NDArray[np.float32], most: int) -> list[int]:
    count = min(most, len(scores))
    found = np.argpartition(-scores, count - 1)[:count]
    return [int(place) for place in found[np.argsort(-scores[found], kind="stable")]]
