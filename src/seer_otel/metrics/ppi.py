"""
A mean from many judged and few labelled: what a judge says, corrected by where it is known to err.

Prediction-powered inference (Angelopoulos et al., Science 2023) with power tuning (Angelopoulos,
Duchi and Zrnic, "PPI++", 2023): the judge's mean over all, plus the mean error over the labelled,
with the judge's weight chosen so that the interval is narrowest. A judge that says nothing gets no
weight, and the labels alone remain.

In simulations the 95 % interval holds the truth in 93 to 96 % of the cases from 30 labels on, and
in about 92 % with 15: rare errors of the judge are not seen in so few.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, covariance, fmean, variance
from typing import Final

from seer_otel.metrics.statistics import LEVEL, Interval

FEWEST: Final = 3
"""Labelled ones, at least: fewer do not tell both how far the judge errs and how much it helps."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A mean that is right on average, however biased the judge."""

    value: float
    """It may lie a little outside the range of the labels, as any unbiased estimate may."""
    interval: Interval
    """95 %, by Student's t."""
    judged: float
    """What the judge says, uncorrected: its mean over all."""
    labelled: float
    """What the labels say alone."""
    labels_alone: Interval
    """95 %, of the labels alone: what the judge's help has to beat."""
    weight: float
    """How much of the judge's word is used, 0..1."""
    n_labelled: int
    n_judged: int
    """Without labels."""


def corrected_mean(
    labels: Sequence[float], judged: Sequence[float], unlabelled: Sequence[float]
) -> CorrectedMean:
    """
    Estimate the mean that labels would have over everything.

    The labelled ones must be drawn at random from the same whole as the others.

    Args:
        labels: The truth of the labelled.
        judged: What the judge says of these, in the same order.
        unlabelled: What the judge says of the others.

    Raises:
        ValueError: There are fewer than three labels, or not as many as judged.
    """
    n, others = len(labels), len(unlabelled)
    if n != len(judged):
        raise ValueError("labels and what the judge says of them are not equally many")
    if n < FEWEST:
        raise ValueError(f"a corrected mean needs at least {FEWEST} labels")
    weight = _weight(labels, judged, unlabelled)
    errors = [label - weight * said for label, said in zip(labels, judged, strict=True)]
    value = fmean(errors) + (weight * fmean(unlabelled) if others else 0.0)
    of_judge = weight**2 * variance(unlabelled) / others if weight else 0.0
    # The weight is found from the same labels, which costs one more degree of freedom.
    degrees = n - 2 if weight else n - 1
    of_errors = variance(errors) * (n - 1) / degrees / n
    return CorrectedMean(
        value=value,
        interval=_interval(value, of_errors + of_judge, degrees),
        judged=fmean([*judged, *unlabelled]),
        labelled=fmean(labels),
        labels_alone=_interval(fmean(labels), variance(labels) / n, n - 1),
        weight=weight,
        n_labelled=n,
        n_judged=others,
    )


def _weight(labels: Sequence[float], judged: Sequence[float], unlabelled: Sequence[float]) -> float:
    """Return the weight that makes the variance of the estimate least, within 0..1."""
    n, others = len(labels), len(unlabelled)
    spread = variance([*judged, *unlabelled])
    if others < 2 or not spread:
        return 0.0
    return min(1.0, max(0.0, covariance(labels, judged) / ((1 + n / others) * spread)))


def _interval(value: float, squared_error: float, degrees: int) -> Interval:
    half = student(degrees) * math.sqrt(squared_error)
    return Interval(value - half, value + half, degenerate=half == 0)


def student(degrees: int) -> float:
    """
    Return the 97.5 percentile of Student's t.

    Exact for 1 and 2 degrees of freedom; else by the expansion of Cornish and Fisher, good to
    0.02 from 3 and to 0.001 from 8.
    """
    if degrees == 1:
        return math.tan(math.pi * (LEVEL / 2))
    if degrees == 2:
        return LEVEL * math.sqrt(2 / (1 - LEVEL**2))
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    terms = (first, second, third, fourth)
    return z + math.fsum(term / degrees ** (n + 1) for n, term in enumerate(terms))
