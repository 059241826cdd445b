"""What the order of the passages is taken from, and how good an order is."""

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

from seer_otel.retrieval import Passage
from seer_otel.verdict import Ranking

Signal = Literal["rank", "rerank_score", "score", "distance"]

_SORT_KEYS: Final[dict[Signal, Callable[[Passage], float | None]]] = {
    "rank": lambda passage: passage.rank,
    "rerank_score": lambda passage: _descending(passage.rerank_score),
    "score": lambda passage: _descending(passage.score),
    "distance": lambda passage: passage.distance,
}
"""Signals by precedence; the lower the key, the higher the passage. None: no such signal."""


def ranked(
    context: Sequence[Passage], *, list_is_ranked: bool = False
) -> tuple[Ranking, tuple[int, ...]]:
    """
    Return what orders a context, and the positions of its readable passages, the top one first.

    The order is that of the first signal that every passage has; else that of the list, where
    `list_is_ranked`; else there is none: `partial` where some passage has a signal, or `absent`.
    Positions count from 1; ties keep the order given; without a ranking there are no positions.
    """
    passages = {n: passage for n, passage in enumerate(context, start=1) if passage.readable}
    if not passages:
        return "absent", ()
    some_signal = False
    for signal, key in _SORT_KEYS.items():
        keys = {n: key(passage) for n, passage in passages.items()}
        finite = {n: k for n, k in keys.items() if k is not None and -math.inf < k < math.inf}
        if len(finite) == len(passages):
            return signal, tuple(sorted(finite, key=finite.__getitem__))
        some_signal = some_signal or bool(finite)
    if list_is_ranked:
        return "list", tuple(passages)
    return "partial" if some_signal else "absent", ()


def ndcg(relevant: Sequence[bool]) -> float:
    """
    Return the normalised discounted cumulative gain of an order, 0..1; 0 where nothing is relevant.

    DCG = sum of 1 / log2(position + 1) over the relevant positions (Järvelin and Kekäläinen, 2002,
    with binary gains); the ideal has all of them on top.
    """
    discounts = [1 / math.log2(position + 1) for position in range(1, len(relevant) + 1)]
    ideal = math.fsum(discounts[: sum(relevant)])
    gain = math.fsum(d for d, hit in zip(discounts, relevant, strict=True) if hit)
    return gain / ideal if ideal else 0.0


def average_precision(relevant: Sequence[bool]) -> float:
    """Return the mean, over the relevant positions, of relevant so far / position; 0 for none."""
    positions = [position for position, hit in enumerate(relevant, start=1) if hit]
    if not positions:
        return 0.0
    precisions = (found / position for found, position in enumerate(positions, start=1))
    return math.fsum(precisions) / len(positions)


def _descending(score: float | None) -> float | None:
    return None if score is None else -score
