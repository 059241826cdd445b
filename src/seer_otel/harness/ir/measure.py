"""From lists and labels to numbers: the scores of each query, their means, and what differs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Final

from seer_otel.harness.ir.arms import Arm
from seer_otel.harness.ir.eval_set import EvalSet
from seer_otel.harness.ir.levels import Level
from seer_otel.metrics import ranked
from seer_otel.metrics.ranked import Abstention
from seer_otel.metrics.statistics import Interval, difference_interval, mean_interval

Scores = Mapping[str, float]
"""The scores of one list, by name."""

RR: Final = "rr"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over queries."""

    value: float
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one arm is above another, over the same queries."""

    arm: str
    over: str
    score: str
    mean: Mean

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves no doubt which arm is the better one."""
        return self.mean.interval.low > 0 or self.mean.interval.high < 0


@dataclass(frozen=True)
class AtLevel:
    """What comes of all arms at one level."""

    level: Level
    answerable: Sequence[str]
    """The queries that have right documents, in the order of the set; the means are over these."""
    unanswerable: Sequence[str]
    """The abstention queries."""
    scores: Mapping[str, Sequence[Scores]]
    """By arm: the scores of each answerable query, in the same order."""
    means: Mapping[str, Mapping[str, Mean]]
    """By arm and score; empty where no query is answerable."""
    differences: Sequence[Difference]
    """Of every pair of arms, the later one over the earlier."""
    by_kind: Mapping[str, Mapping[str, Mean]]
    """By kind of query and arm: the recall in the most places."""


@dataclass(frozen=True, slots=True)
class Signal:
    """The score of an arm's top document, as a sign of what cannot be answered."""

    arm: str
    abstention: Abstention
    answerable: Sequence[float | None]
    unanswerable: Sequence[float | None]


def at_level(level: Level, eval_set: EvalSet, arms: Sequence[Arm], ks: Sequence[int]) -> AtLevel:
    """
    Score all arms at one level.

    Args:
        level: What is right.
        eval_set: The queries.
        arms: Lists for all of these queries.
        ks: Places that count, ascending.
    """
    answerable = [query.id for query in eval_set.queries if query.id in level.right]
    scores = {
        arm.name: [_scores(level, query, arm.ids(query), ks) for query in answerable]
        for arm in arms
    }
    names = list(scores[arms[0].name][0]) if answerable else []
    columns = {
        arm: {name: [each[name] for each in own] for name in names} for arm, own in scores.items()
    }
    return AtLevel(
        level=level,
        answerable=answerable,
        unanswerable=[query.id for query in eval_set.queries if query.id not in level.right],
        scores=scores,
        means={
            arm: {name: mean(values) for name, values in own.items()}
            for arm, own in columns.items()
        },
        differences=[
            difference(arm, over, name, columns[arm][name], columns[over][name])
            for over, arm in combinations(columns, 2)
            for name in names
        ],
        by_kind=_by_kind(level, eval_set, scores, f"recall@{ks[-1]}"),
    )


def mean(values: Sequence[float]) -> Mean:
    """Return the mean of values, one a query; at least one."""
    return Mean(fmean(values), mean_interval(values), len(values))


def difference(
    arm: str, over: str, score: str, values: Sequence[float], others: Sequence[float]
) -> Difference:
    """Return how far the values of one arm are above those of another, pair by pair."""
    above = fmean(values) - fmean(others)
    return Difference(
        arm, over, score, Mean(above, difference_interval(others, values), len(values))
    )


def signals(eval_set: EvalSet, arms: Sequence[Arm]) -> list[Signal]:
    """Score the confidence of every arm that has one, at the strictest level."""
    right = eval_set.levels[0].right
    found = []
    for arm in arms:
        if arm.has_scores:
            sides: tuple[list[float | None], list[float | None]] = ([], [])
            for query in eval_set.queries:
                sides[query.id not in right].append(arm.confidence(query.id))
            found.append(Signal(arm.name, ranked.abstention(*sides), *sides))
    return found


def _scores(level: Level, query: str, ids: Sequence[str], ks: Sequence[int]) -> Scores:
    scores: dict[str, float] = {}
    for k in ks:
        own = ranked.score(ids, level.right[query], k)
        labels = ranked.candidate_set(map(level.labels_of, ids[:k]), level.wanted[query])
        scores |= {
            f"recall@{k}": own.recall,
            f"capped_recall@{k}": own.capped_recall,
            f"hit@{k}": own.hit,
            f"candidate_set_recall@{k}": labels.recall,
            f"candidate_set_score@{k}": labels.score,
            RR: own.rr,
        }
    return scores


def _by_kind(
    level: Level, eval_set: EvalSet, scores: Mapping[str, Sequence[Scores]], name: str
) -> dict[str, dict[str, Mean]]:
    kinds = _kinds(eval_set)
    answerable = [query.id for query in eval_set.queries if query.id in level.right]
    found: dict[str, dict[str, Mean]] = {}
    for kind in sorted({kinds[id_] for id_ in answerable}):
        found[kind] = {
            arm: mean(
                [
                    each[name]
                    for id_, each in zip(answerable, own, strict=True)
                    if kinds[id_] == kind
                ]
            )
            for arm, own in scores.items()
        }
    return found


def _kinds(eval_set: EvalSet) -> dict[str, str]:
    wanted = eval_set.levels[0].wanted
    kinds = {}
    for query in eval_set.queries:
        labels = len(wanted.get(query.id, ()))
        derived = "several answers" if labels > 1 else "one answer" if labels else "no answer"
        kinds[query.id] = query.kind or derived
    return kinds
