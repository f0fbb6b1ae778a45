"""Fewer pairs that stand for all: equal shares of every set, and one form of each query."""

import random
from collections.abc import Mapping, Sequence

from evaluation.material.pairs import Pair, by_group
from evaluation.measures.figures import LEAST_SET


def stratified(pairs: Sequence[Pair], size: int, seed: int) -> list[Pair]:
    """At most `size` pairs, as many of each set and tier as of the others, in the given order.

    A set that is used up leaves its share to the others. Sets too small for a mean over sets get
    none while a larger one is there. A larger sample by the same seed holds the smaller one, so
    that recorded answers go on counting. `size` 0 takes all.
    """
    if not 0 < size < len(pairs):
        return list(pairs)
    groups = by_group(pairs)
    large = {name: of for name, of in groups.items() if len(of) >= LEAST_SET}
    chosen = large or groups
    taken = {
        pair.id
        for name, share in _shares({name: len(of) for name, of in chosen.items()}, size).items()
        for pair in _shuffled(chosen[name], f"{seed}/{name}")[:share]
    }
    return [pair for pair in pairs if pair.id in taken]


def first_form_only(pair: Pair) -> Pair:
    """The pair with the first of its headline forms and no other."""
    form = pair.headline_forms[0]
    return pair.model_copy(update={"forms": {form: pair.forms[form]}})


def _shares(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """One to each set in turn until nothing is left to give."""
    shares = dict.fromkeys(sizes, 0)
    left = min(total, sum(sizes.values()))
    while left:
        for name in sizes:
            if left and shares[name] < sizes[name]:
                shares[name] += 1
                left -= 1
    return shares


def _shuffled(pairs: Sequence[Pair], seed: str) -> list[Pair]:
    drawn = list(pairs)
    random.Random(seed).shuffle(drawn)  # noqa: S311
    return drawn
