"""Do two steps that a transition joins speak of the same thing?"""

from collections.abc import Callable, Sequence

from services.scorer.case import Case
from services.scorer.evidence import terms_of
from services.scorer.grounding import Grounded

_SENTENCES = 12
"""Sentences of the sources in which two steps may be said together."""

Tie = Callable[[Case, Grounded, Grounded], float]


def shared_words(case: Case, first: Grounded, second: Grounded) -> float:
    """Weight of the words they share, relative to the one that says less."""
    a, b = terms_of(first.step.text), terms_of(second.step.text)
    least = min(case.evidence.mass(a), case.evidence.mass(b))
    return case.evidence.mass(a & b) / least if least else 0.0


def said_together(case: Case, first: Grounded, second: Grounded) -> float:
    """How far the one sentence of the sources that says most of both says them."""
    near = dict(case.evidence.nearest(terms_of(first.step.text), _SENTENCES))
    shares = [
        near[unit] * share
        for unit, share in case.evidence.nearest(terms_of(second.step.text), _SENTENCES)
        if unit in near
    ]
    return max(shares, default=0.0)


def source_of_other(case: Case, first: Grounded, second: Grounded) -> float:
    """How much of each step the sentence behind the other one says."""
    return (_said_by(case, first, second) + _said_by(case, second, first)) / 2


def meaning(case: Case, first: Grounded, second: Grounded) -> float:
    """Mean cosine of the two steps, and of each with the sentence behind the other.

    Where both are verbatim from their sources nobody asked for meaning: their words stand for it.
    """
    if first.verbatim and second.verbatim:
        return _COSINE_AT_NO_WORD + (1 - _COSINE_AT_NO_WORD) * shared_words(case, first, second)
    sides = [(first.step.text, second.step.text)]
    if second.unit:
        sides.append((first.step.text, second.unit.text))
    if first.unit:
        sides.append((first.unit.text, second.step.text))
    if first.unit and second.unit:
        sides.append((first.unit.text, second.unit.text))
    cosines = [float(case.vectors[a] @ case.vectors[b]) for a, b in sides]
    return sum(cosines) / len(cosines)


_COSINE_AT_NO_WORD = 0.2
"""Mean cosine of joined steps that share no word (even ids of the benchmark)."""


def over_transitions(tie: Tie) -> Callable[[Case], float]:
    """The mean of a tie over all transitions."""

    def sign(case: Case) -> float:
        values = [tie(case, a, b) for a, b in case.edges]
        return sum(values) / len(values) if values else 0.0

    return sign


def texts_to_compare(grounded: tuple[Grounded, ...], edges: Sequence[tuple[int, int]]) -> list[str]:
    """Texts whose vectors `meaning` needs, for transitions given by places in `grounded`."""
    texts: list[str] = []
    for a, b in edges:
        pair = grounded[a], grounded[b]
        if not all(found.verbatim for found in pair):
            texts += [found.step.text for found in pair]
            texts += [found.unit.text for found in pair if found.unit]
    return texts


def _said_by(case: Case, step: Grounded, other: Grounded) -> float:
    if other.unit is None:
        return 0.0
    return case.evidence.share(terms_of(step.step.text), other.unit.terms)
