"""Choice of the components that an instruction may mean, by meaning and by name."""

import re
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.knowledge.ports import Embedder, Vectors
from services.language.names import parts_of
from services.language.sentences import sentences
from services.language.verbs import begins_with_verb
from services.planner.composing.component import Component, Components

_JOINT = re.compile(
    r"\s*;\s*|\s*,?\s+(?:and\s+)?(?:then|afterwards|after that|finally)\s*,?\s+"
    r"|\s*,\s+(?:and\s+)?|\s+and\s+|\n+",
    re.IGNORECASE,
)
_CERTAIN = re.compile(r";|then|after|finally|\n", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_LEAD_WORD = r"(?:please|first|next|then|and|also|finally|now)[\s,]+"
_LEAD = re.compile(rf"^{_LEAD_WORD}", re.IGNORECASE)
_LEADS = re.compile(rf"^(?:{_LEAD_WORD})+", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)")


def clauses(text: str) -> list[str]:
    """Divide an instruction into clauses of one action each; quoted text is not cut."""
    parts: list[str] = []
    for line in text.splitlines():
        for sentence in sentences(_BULLET.sub("", line)):
            parts += _parts(sentence)
    stripped = (_LEADS.sub("", part.strip(" \t,;.:")) for part in parts)
    return [part for part in stripped if part]


def _parts(sentence: str) -> list[str]:
    """Cut a sentence at joints that are followed by an action of its own."""
    quoted = [match.span() for match in _QUOTED.finditer(sentence)]
    parts, begin = [], 0
    for joint in _JOINT.finditer(sentence):
        if joint.start() < begin or any(a < joint.end() and joint.start() < b for a, b in quoted):
            continue
        rest = _LEAD.sub("", sentence[joint.end() :])
        if begins_with_verb(rest) or (_CERTAIN.search(joint[0]) and rest[:1].isalpha()):
            parts.append(sentence[begin : joint.start()])
            begin = joint.end()
    return [*parts, sentence[begin:]]


MOST_SHOWN = 15
"""Number of components that a team is shown for an instruction."""
_OF_EACH_CLAUSE = 3
_MOST_CLAUSES = 8
_KEPT_CATALOGUES = 4


@dataclass(frozen=True)
class RankedComponent:
    """A component with its similarity to an instruction."""

    component: Component
    score: float
    """Cosine with the instruction or with one of its clauses, whichever is higher."""
    is_named: bool
    """True if the instruction names the component."""


class ComponentFilter:
    """Ranking of components, with cached vectors of the latest catalogues. Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._matrices: dict[str, Vectors] = {}
        self._lock = threading.Lock()

    def rank(
        self, instruction: str, components: Components, most: int = MOST_SHOWN
    ) -> list[RankedComponent]:
        """Return the nearest components, named ones first.

        Those nearest to each clause are among them. A catalogue seen for the first time is embedded
        whole, which takes long.
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
        candidates = [
            RankedComponent(components.by_name[name], float(best[places[name]]), name in named)
            for name in kept
        ]
        return sorted(candidates, key=lambda each: (not each.is_named, -each.score))

    def _matrix(self, components: Components) -> Vectors:
        with self._lock:
            cached = self._matrices.get(components.digest)
        if cached is not None:
            return cached
        made = self._embedder.embed([search_text(each) for each in components.by_name.values()])
        with self._lock:
            self._matrices[components.digest] = made
            while len(self._matrices) > _KEPT_CATALOGUES:
                self._matrices.pop(next(iter(self._matrices)))
        return made

    def _named(self, instruction: str, components: Components) -> set[str]:
        """Return components that the instruction names as identifiers, not as plain words."""
        words = {word.casefold() for word in re.findall(r"[\w.-]+", instruction)}
        words |= {word.strip(".-") for word in words}
        return {
            name
            for name in components.by_name
            if name.casefold() in words
            and (re.search(r"[_.\d-]|[a-z][A-Z]", name) or f"`{name}`" in instruction)
        }


def search_text(component: Component) -> str:
    """Return the text by which a component is searched."""
    words = " ".join(
        part for piece in re.split(r"[\W_]+", component.name) for part in parts_of(piece)
    )
    return f"{words}: {component.description}" if component.description else words


def _top(scores: NDArray[np.float32], most: int) -> list[int]:
    count = min(most, len(scores))
    indices = np.argpartition(-scores, count - 1)[:count]
    return [int(place) for place in indices[np.argsort(-scores[indices], kind="stable")]]
