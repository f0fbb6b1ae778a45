"""Boosted trees that were fitted elsewhere, read from numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import model_validator

from services.kit.fitted import FittedNumbers

_LEAF = -1


class Tree(FittedNumbers):
    """One tree as parallel lists, a node each; the first is the root."""

    sign: list[int]
    """Which sign a node looks at; -1 for a leaf."""
    below: list[float]
    """Of an inner node the threshold up to which the left one follows, of a leaf its value."""
    left: list[int]
    right: list[int]
    missing_left: list[int]
    """1 where the left one follows when nothing is known of the sign."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        """Each way goes on to a later node until it comes to a leaf."""
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
        """The value of the leaf that these signs lead to."""
        node = 0
        while self.sign[node] != _LEAF:
            node = self._next(node, signs[self.sign[node]])
        return self.below[node]

    def _next(self, node: int, value: float | None) -> int:
        is_left = self.missing_left[node] == 1 if value is None else value <= self.below[node]
        return self.left[node] if is_left else self.right[node]


class Forest(FittedNumbers):
    """The chance of something, from named signs."""

    signs: list[str]
    start: float
    trees: list[Tree]

    @model_validator(mode="after")
    def _reads_its_signs(self) -> Self:
        asked = {sign for tree in self.trees for sign in tree.sign}
        if not asked <= {_LEAF, *range(len(self.signs))}:
            raise ValueError(f"a tree looks at signs beyond the {len(self.signs)} that are named")
        return self

    def log_odds(self, signs: Mapping[str, float]) -> float:
        """Of the chance."""
        row = [signs.get(name) for name in self.signs]
        return self.start + math.fsum(tree.value(row) for tree in self.trees)

    def chance(self, signs: Mapping[str, float]) -> float:
        """0–1."""
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, self.log_odds(signs)))))
