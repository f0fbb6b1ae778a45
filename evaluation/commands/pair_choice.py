"""Which pairs of a file a benchmark takes."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.material.pairs import Pair


def chosen_pairs(path: Path, sample: int, seed: int) -> "Sequence[Pair]":
    """All pairs, or as many of them as a sample takes, in the order of the file."""
    from evaluation.material.pairs import read_pairs  # noqa: PLC0415

    pairs = read_pairs(path)
    if 0 < sample < len(pairs):
        drawn = set(random.Random(seed).sample(range(len(pairs)), sample))  # noqa: S311
        pairs = [pair for place, pair in enumerate(pairs) if place in drawn]
    return pairs


def stratified_pairs(path: Path, sample: int, seed: int, forms: str) -> "Sequence[Pair]":
    """Pairs with a reference, as many of each set."""
    from evaluation.benches.sampling import first_form_only, stratified  # noqa: PLC0415
    from evaluation.material.pairs import read_pairs  # noqa: PLC0415

    referenced = [pair for pair in read_pairs(path) if pair.reference and pair.reference.steps]
    chosen = stratified(referenced, sample, seed)
    return [first_form_only(pair) for pair in chosen] if forms == "first" else chosen
