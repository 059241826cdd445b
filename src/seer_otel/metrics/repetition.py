"""Several runs of the same judgement: their means, their spread, how far they agree."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from statistics import fmean
from typing import Any, Final, TypeVar

from seer_otel.verdict import GroundTruthScores, Scores

_Scores = TypeVar("_Scores", Scores, GroundTruthScores)

Citations = Sequence[Collection[int]]
"""For each requirement of the query the positions cited."""

_REPEATED: Final = ("recall", "precision", "f1", "ndcg", "contextual_precision")


def mean(runs: Sequence[_Scores]) -> _Scores:
    """
    Return the mean of every score over the runs.

    A score that is undefined in some of the runs (precision against labels, where nothing was
    cited) is the mean of the others.
    """
    means: dict[str, Any] = {
        name: fmean(defined)
        for name in _numbers(runs[0])
        if (defined := [value for run in runs if (value := getattr(run, name)) is not None])
    }
    absent = {name: why for name, why in runs[0].absent.items() if name not in means}
    return replace(runs[0], **means, absent=absent)


def spread(runs: Sequence[Scores]) -> Mapping[str, float]:
    """Return, for each score that is defined, its highest less its lowest value."""
    values = {name: [getattr(run, name) for run in runs] for name in _REPEATED}
    return {name: max(each) - min(each) for name, each in values.items() if None not in each}


def agreement(runs: Sequence[Citations]) -> float:
    """
    Return how far the runs agree, 0..1.

    It is the mean, over all pairs of runs, of the share of requirements with the same citations; 1
    where there is no pair, or no requirement.
    """
    shares = [
        fmean([set(mine) == set(theirs) for mine, theirs in zip(one, other, strict=True)])
        for one, other in combinations(runs, 2)
        if one
    ]
    return fmean(shares) if shares else 1.0


def majority(runs: Sequence[Citations]) -> tuple[tuple[int, ...], ...]:
    """Return, for each requirement, the positions that more than half of the runs cite."""
    merged = []
    for cited in zip(*runs, strict=True):
        counts = Counter(position for positions in cited for position in set(positions))
        merged.append(tuple(sorted(p for p, count in counts.items() if 2 * count > len(runs))))
    return tuple(merged)


def _numbers(scores: Scores | GroundTruthScores) -> list[str]:
    others = ("ranking", "absent", "gold_ids_unmatched")
    return [field.name for field in fields(scores) if field.name not in others]
