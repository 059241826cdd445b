"""Scores of a conversation: did each assistant turn have the evidence for what was expected?"""

from collections.abc import Collection, Iterable, Sequence
from statistics import fmean
from typing import Final, Literal

Role = Literal["user", "assistant"]

WINDOW: Final = 10
"""Assistant turns, the last one included, whose passages count for a turn."""


def assistant_turns(roles: Iterable[Role]) -> tuple[int, ...]:
    """
    Return the indices of the messages that are assistant turns.

    An assistant's message is one when it follows at least one of the user: an opening greeting is
    none, and two in a row are two.
    """
    asked = False
    turns = []
    for index, role in enumerate(roles):
        if role == "user":
            asked = True
        elif asked:
            turns.append(index)
    return tuple(turns)


def turn_window(turn: int, window: int = WINDOW) -> range:
    """Return the turns whose passages count for a turn, both counted from 0."""
    return range(max(0, turn - window + 1), turn + 1)


def turn_recalls(
    supported: Sequence[Collection[int]], statements: int, *, window: int = WINDOW
) -> tuple[float, ...]:
    """
    Return the recall of each assistant turn, 0..1: statements supported in its window / statements.

    A turn whose window holds no passages has supported nothing: 0.

    Args:
        supported: For each assistant turn the statements that the passages retrieved for it
            support.
        statements: How many the expected outcome has.
        window: Assistant turns whose passages count, this one included.

    Raises:
        ValueError: There are no statements, or no window.
    """
    if statements < 1 or window < 1:
        raise ValueError("a recall of turns needs statements, and a window of at least 1")
    recalls = []
    for turn in range(len(supported)):
        seen = frozenset[int]().union(*(supported[each] for each in turn_window(turn, window)))
        recalls.append(len(seen) / statements)
    return tuple(recalls)


def turn_contextual_recall(recalls: Sequence[float]) -> float | None:
    """Return the sum of the turns' recalls / assistant turns; None where there are no turns."""
    return fmean(recalls) if recalls else None
