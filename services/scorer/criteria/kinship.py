"""Do steps that a transition joins have more to do with each other than any two steps have?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from services.grounding.evidence import Evidence, terms_of
from services.grounding.grounder import Grounded
from services.grounding.vectors import Vector

Matrix = NDArray[np.float64]

_SENTENCES = 12
"""Sentences of the sources in which two steps may be said together."""
_NEARLY_ALL = 0.7
"""Share of verbatim steps from which order and words in the sources tell enough: an embedding
costs as much as all the rest."""
_COSINE_AT_NO_WORD = 0.15
"""Mean cosine of joined steps that share no word (even ids of the benchmark)."""


@dataclass(frozen=True)
class Kinship:
    """Ties between the steps of one workflow, as symmetric matrices in the order of the steps."""

    evidence: Evidence
    grounded: tuple[Grounded, ...]
    vectors: Mapping[str, Vector]

    @cached_property
    def shared_words(self) -> Matrix:
        """Weight of the words two steps share, relative to the one that says less."""
        words, weights = self._words, self._weights
        shared = (words * weights) @ words.T
        masses = np.diag(shared)
        return shared / np.maximum(np.minimum.outer(masses, masses), 1e-9)

    @cached_property
    def said_together(self) -> Matrix:
        """How far the one sentence of the sources that says most of both steps says them."""
        near = [
            dict(self.evidence.nearest(terms_of(found.step.text), _SENTENCES))
            for found in self.grounded
        ]
        places = {unit: place for place, unit in enumerate({u: None for n in near for u in n})}
        shares = np.zeros((len(near), max(1, len(places))))
        for row, found in enumerate(near):
            for unit, share in found.items():
                shares[row, places[unit]] = share
        together: Matrix = (shares[:, None, :] * shares[None, :, :]).max(axis=2)
        return together

    @cached_property
    def source_of_other(self) -> Matrix:
        """How much of each of two steps the sentence behind the other one says, the mean."""
        words, weights = self._words, self._weights
        behind = self._incidence(
            [found.unit.terms if found.unit else frozenset() for found in self.grounded]
        )
        masses = np.maximum(words @ weights, 1e-9)
        said: Matrix = (words * weights) @ behind.T / masses[:, None]
        return (said + said.T) / 2

    @cached_property
    def meaning(self) -> Matrix:
        """Mean cosine of two steps, and of each with the sentence behind the other.

        Where both are verbatim from their sources, or nearly all steps are, nobody asked for
        meaning: the words that they share stand for it.
        """
        estimated = _COSINE_AT_NO_WORD + (1 - _COSINE_AT_NO_WORD) * self.shared_words
        if _words_suffice(self.grounded):
            return estimated
        steps = self._stacked([found.step.text for found in self.grounded])
        behind = self._stacked(
            [found.unit.text if found.unit else found.step.text for found in self.grounded]
        )
        across = steps @ behind.T
        known: Matrix = (steps @ steps.T + across + across.T + behind @ behind.T) / 4
        verbatim = np.array([found.verbatim for found in self.grounded])
        return np.where(np.logical_and.outer(verbatim, verbatim), estimated, known)

    def _stacked(self, texts: Sequence[str]) -> Matrix:
        return np.stack([self.vectors[text] for text in texts]).astype(np.float64)

    @cached_property
    def _vocabulary(self) -> dict[str, int]:
        terms = {term: None for found in self.grounded for term in terms_of(found.step.text)}
        return {term: place for place, term in enumerate(terms)}

    @cached_property
    def _weights(self) -> Matrix:
        return np.array([self.evidence.mass((term,)) for term in self._vocabulary])

    @cached_property
    def _words(self) -> Matrix:
        return self._incidence([terms_of(found.step.text) for found in self.grounded])

    def _incidence(self, terms: Sequence[frozenset[str]]) -> Matrix:
        matrix = np.zeros((len(terms), len(self._vocabulary)))
        for row, found in enumerate(terms):
            for term in found & self._vocabulary.keys():
                matrix[row, self._vocabulary[term]] = 1.0
        return matrix


def texts_to_compare(grounded: Sequence[Grounded]) -> list[str]:
    """Texts whose vectors `Kinship.meaning` needs; none where nearly all steps are verbatim."""
    if _words_suffice(grounded):
        return []
    steps = [found.step.text for found in grounded]
    return steps + [found.unit.text for found in grounded if found.unit]


def _words_suffice(grounded: Sequence[Grounded]) -> bool:
    return sum(found.verbatim for found in grounded) >= _NEARLY_ALL * len(grounded)


def excess(ties: Matrix, joined: Sequence[tuple[int, int]]) -> float:
    """How much stronger the ties of joined steps are than those of any two, on average."""
    count = len(ties)
    if not joined or count < 2:
        return 0.0
    any_two = (float(ties.sum()) - float(np.trace(ties))) / (count * (count - 1))
    return sum(float(ties[a, b]) for a, b in joined) / len(joined) - any_two
