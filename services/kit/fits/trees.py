"""Boosted trees that were fitted elsewhere, evaluated from plain numbers."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from services.kit.batches import batches
from services.kit.fits.fitted import FittedNumbers

_LEAF = -1
_ROWS_AT_ONCE = 1024
"""Rows evaluated at once, which bounds the memory of a long table: a number per row and tree."""


class Tree(FittedNumbers):
    """One tree as parallel lists, an entry per node; the first node is the root."""

    sign: list[int]
    """Index of the feature that a node tests; -1 for a leaf."""
    below: list[float]
    """Threshold of an inner node, up to which the left child follows; value of a leaf."""
    left: list[int]
    right: list[int]
    missing_left: list[int]
    """1 if the left child follows when the feature is missing."""

    @model_validator(mode="after")
    def _check_paths(self) -> Self:
        """Check that each path goes on to later nodes until it reaches a leaf."""
        nodes = len(self.sign)
        if {len(self.below), len(self.left), len(self.right), len(self.missing_left)} != {nodes}:
            raise ValueError("the lists of a tree are of different lengths")
        ways = zip(range(nodes), self.sign, self.left, self.right, strict=True)
        if not nodes or any(
            sign != _LEAF and not place < min(left, right) <= max(left, right) < nodes
            for place, sign, left, right in ways
        ):
            raise ValueError("a way through a tree comes to no leaf")
        return self

    def value(self, signs: Sequence[float | None]) -> float:
        """Return the value of the leaf that these features lead to."""
        node = 0
        while self.sign[node] != _LEAF:
            value = signs[self.sign[node]]
            is_left = self.missing_left[node] == 1 if value is None else value <= self.below[node]
            node = self.left[node] if is_left else self.right[node]
        return self.below[node]


class Forest(FittedNumbers):
    """Boosted trees for the probability of an event, from named features."""

    signs: list[str]
    start: float
    trees: list[Tree]

    @model_validator(mode="after")
    def _check_features(self) -> Self:
        used = {sign for tree in self.trees for sign in tree.sign}
        if not used <= {_LEAF, *range(len(self.signs))}:
            raise ValueError(f"a tree looks at signs beyond the {len(self.signs)} that are named")
        return self

    def log_odds(self, signs: Mapping[str, float]) -> float:
        """Return the log-odds of the event."""
        row = [signs.get(name) for name in self.signs]
        return self.start + math.fsum(tree.value(row) for tree in self.trees)

    def chance(self, signs: Mapping[str, float]) -> float:
        """Return the probability of the event, 0–1."""
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, self.log_odds(signs)))))

    def chances(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """Return the probability of each row of features, in the order of `signs`, none missing.

        All trees are walked for many rows at once, one level at a time.
        """
        chances: list[float] = []
        for batch in batches(rows, _ROWS_AT_ONCE):
            table = np.array(batch, dtype=float)
            nodes, numbers = self._nodes, np.arange(len(table))[:, None]
            at = np.broadcast_to(nodes.roots, (len(table), len(nodes.roots)))
            for _ in range(nodes.depth):
                is_left = table[numbers, nodes.sign[at]] <= nodes.below[at]
                at = np.where(is_left, nodes.left[at], nodes.right[at])
            odds = self.start + nodes.value[at].sum(axis=1)
            chances += (1 / (1 + np.exp(-np.clip(odds, -50.0, 50.0)))).tolist()
        return chances

    @cached_property
    def _nodes(self) -> "_Nodes":
        return _Nodes.of(self.trees)


class _Nodes(NamedTuple):
    """The nodes of all trees in one array; a leaf points to itself."""

    roots: NDArray[np.intp]
    sign: NDArray[np.intp]
    below: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: NDArray[np.float64]
    depth: int

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> "_Nodes":
        sizes = [len(tree.sign) for tree in trees]
        roots = np.array([0, *accumulate(sizes)][:-1], dtype=np.intp)
        offsets = np.repeat(roots, sizes)
        sign = np.array([s for tree in trees for s in tree.sign], dtype=np.intp)
        below = np.array([b for tree in trees for b in tree.below], dtype=float)
        is_leaf, own = sign == _LEAF, np.arange(len(sign))
        left, right = (
            np.where(is_leaf, own, offsets + np.array([n for way in ways for n in way], dtype=int))
            for ways in ([tree.left for tree in trees], [tree.right for tree in trees])
        )
        return cls(
            roots=roots,
            sign=np.where(is_leaf, 0, sign),
            below=below,
            left=left,
            right=right,
            value=np.where(is_leaf, below, 0.0),
            depth=max((_depth(tree) for tree in trees), default=0),
        )


def _depth(tree: Tree) -> int:
    """Return the number of tests on the longest path to a leaf."""
    depths = [0] * len(tree.sign)
    for node in reversed(range(len(tree.sign))):
        if tree.sign[node] != _LEAF:
            depths[node] = 1 + max(depths[tree.left[node]], depths[tree.right[node]])
    return depths[0]
