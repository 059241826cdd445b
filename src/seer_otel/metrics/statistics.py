"""How sure a mean is, and how far two rows of numbers go together."""

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

RESAMPLES: Final = 1_000
SEED: Final = 7
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a mean."""

    low: float
    high: float
    degenerate: bool = False
    """One value, or all of them equal: the interval has no width, and says nothing."""


def mean_interval(values: Sequence[float], *, seed: int = SEED) -> Interval:
    """
    Return the interval of the mean of values, one a query.

    The percentile bootstrap (Efron, 1979): 1,000 resamples with replacement, 2.5 and 97.5
    percentiles by linear interpolation, the same for the same seed.

    Raises:
        ValueError: There are no values.
    """
    if not values:
        raise ValueError("an interval needs at least one value")
    if min(values) == max(values):
        return Interval(values[0], values[0], degenerate=True)
    draw = random.Random(seed)
    means = [statistics.fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES)]
    outside = (1 - LEVEL) / 2
    return Interval(percentile(means, outside), percentile(means, 1 - outside))


def difference_interval(
    arm: Sequence[float], other: Sequence[float], *, seed: int = SEED
) -> Interval:
    """
    Return the interval of the mean difference, other less arm: the pairs are resampled.

    Args:
        arm: One value a query.
        other: Those of the other arm, for the same queries in the same order.
        seed: Of the resampling.

    Raises:
        ValueError: There are no values, or not equally many.
    """
    if len(arm) != len(other):
        raise ValueError("arms over different queries cannot be compared")
    return mean_interval([b - a for a, b in zip(arm, other, strict=True)], seed=seed)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share (0..1) of the values lies, linearly interpolated."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return Pearson's r, -1..1; None where one of the rows does not vary."""
    try:
        return statistics.correlation(xs, ys)
    except statistics.StatisticsError:
        return None


def gap(
    values: Sequence[float], truths: Sequence[float], holds: Callable[[float], bool]
) -> float | None:
    """Return the mean of the values whose truth holds, less that of the others; None for want."""
    inside = [value for value, truth in zip(values, truths, strict=True) if holds(truth)]
    outside = [value for value, truth in zip(values, truths, strict=True) if not holds(truth)]
    return statistics.fmean(inside) - statistics.fmean(outside) if inside and outside else None
