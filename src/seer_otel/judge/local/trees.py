"""Boosted trees, read from data and evaluated without any library."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

Tree = Sequence[Sequence[float]]
"""Its nodes, the root first: a leaf is `[value]`; another `[feature, threshold, left, right]`."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees whose values add up to the log odds of a passage being evidence."""

    features: tuple[str, ...]
    """Names of the columns, in the order that the nodes count them, from 0."""
    trees: tuple[Tree, ...]

    @classmethod
    def read(cls, data: Mapping[str, object]) -> Self:
        """Read a forest as `training` writes it."""
        features, trees = data["features"], data["trees"]
        assert isinstance(features, list)
        assert isinstance(trees, list)
        return cls(tuple(features), tuple(trees))

    def likelihood(self, columns: Mapping[str, Sequence[float]]) -> list[float]:
        """Return the probability for each row of the columns, in 0..1."""
        rows = zip(*(columns[name] for name in self.features), strict=True)
        return [sigmoid(math.fsum(_value(tree, row) for tree in self.trees)) for row in rows]


def sigmoid(log_odds: float) -> float:
    """Return the probability of log odds."""
    return 1 / (1 + math.exp(-log_odds))


def _value(tree: Tree, row: Sequence[float]) -> float:
    node = tree[0]
    while len(node) > 1:
        feature, threshold, left, right = node
        node = tree[int(left if row[int(feature)] <= threshold else right)]
    return node[0]
