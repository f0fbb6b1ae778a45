"""Boosted trees that were fitted elsewhere, read from numbers."""

import math
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

_LEAF = -1


class Tree(BaseModel):
    """One tree as parallel lists, a node each; the first is the root."""

    model_config = ConfigDict(frozen=True)

    sign: list[int]
    """Which sign a node looks at; -1 for a leaf."""
    below: list[float]
    """Of an inner node the threshold up to which the left one follows, of a leaf its value."""
    left: list[int]
    right: list[int]
    missing_left: list[int]
    """1 where the left one follows when nothing is known of the sign."""

    def value(self, signs: Sequence[float | None]) -> float:
        """The value of the leaf that these signs lead to."""
        node = 0
        while self.sign[node] != _LEAF:
            node = self._next(node, signs[self.sign[node]])
        return self.below[node]

    def _next(self, node: int, value: float | None) -> int:
        is_left = self.missing_left[node] == 1 if value is None else value <= self.below[node]
        return self.left[node] if is_left else self.right[node]


class Forest(BaseModel):
    """The chance of something, from named signs."""

    model_config = ConfigDict(frozen=True)

    signs: list[str]
    start: float
    trees: list[Tree]

    def log_odds(self, signs: Mapping[str, float]) -> float:
        """Of the chance."""
        row = [signs.get(name) for name in self.signs]
        return self.start + math.fsum(tree.value(row) for tree in self.trees)

    def chance(self, signs: Mapping[str, float]) -> float:
        """0–1."""
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, self.log_odds(signs)))))
