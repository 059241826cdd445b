"""Scores of a ranked list against labels: is it right, is it complete, should it have declined?"""

import bisect
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from seer_otel.metrics.statistics import percentile

FLOOR: Final = 0.05
"""The share of the answerable queries' confidences that lies below the floor."""


@dataclass(frozen=True, slots=True)
class RankedScores:
    """Scores of one list, each in 0..1."""

    recall: float
    """Right documents in the top k / right documents in the corpus."""
    capped_recall: float
    """The same over min(k, right documents): over what a perfect list of k could reach."""
    hit: float
    """1 where the top k holds a right document."""
    rr: float
    """1 / position of the first right document of the whole list; 0 where it has none."""


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """What the labels of the top k say as a set of candidate answers; each in 0..1."""

    recall: float
    """Distinct right labels found / right labels of the query."""
    score: float
    """Recall × min(1, right labels / distinct labels returned): hedging costs."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well one confidence a query tells what can be answered from what cannot."""

    floor: float | None
    """
    5th percentile of the answerable queries' confidences; a query below it is declined. None
    where no answerable query has a confidence.
    """
    accuracy: float | None
    """Declined abstention queries / abstention queries; None for want of them, or of a floor."""
    false_abstention_rate: float | None
    """Declined answerable queries / answerable queries; None for want of a floor."""
    separation_auc: float | None
    """
    Chance that the confidence of an answerable query exceeds that of an abstention query, ties
    counting half; None where there are none of either.
    """


def score(ranking: Sequence[str], right: Collection[str], k: int) -> RankedScores:
    """
    Score the list of one query.

    A document that is listed twice takes two places and counts once.

    Args:
        ranking: Ids of documents, the top one first; it may be longer or shorter than k.
        right: Ids of the right documents in the corpus; at least one.
        k: Places that count, at least 1; the reciprocal rank alone reads the whole list.

    Raises:
        ValueError: There are no right documents (the query is to be declined), or k is 0 or less.
    """
    if not right or k < 1:
        raise ValueError("a list is scored against at least one right document, at k >= 1")
    wanted = frozenset(right)
    found = len(wanted.intersection(ranking[:k]))
    places = (place for place, document in enumerate(ranking, start=1) if document in wanted)
    first = next(places, None)
    return RankedScores(
        recall=found / len(wanted),
        capped_recall=found / min(k, len(wanted)),
        hit=float(found > 0),
        rr=1 / first if first is not None else 0.0,
    )


def candidate_set(returned: Iterable[Collection[str]], right: Collection[str]) -> CandidateSet:
    """
    Score the labels of the top k as a set.

    Args:
        returned: The labels of each document in the top k.
        right: The right labels of the query; at least one.

    Raises:
        ValueError: There are no right labels.
    """
    if not right:
        raise ValueError("a candidate set is scored against at least one right label")
    wanted = frozenset(right)
    labels = frozenset[str]().union(*returned)
    recall = len(labels & wanted) / len(wanted)
    return CandidateSet(recall, recall * min(1.0, len(wanted) / len(labels)) if labels else 0.0)


def abstention(
    answerable: Sequence[float | None], unanswerable: Sequence[float | None]
) -> Abstention:
    """
    Score a confidence as a sign of what cannot be answered.

    A query for which nothing was returned has no confidence (None): it is declined, it ranks
    below every other, and it does not set the floor.

    Args:
        answerable: The confidences of the queries that have right documents.
        unanswerable: Those of the abstention queries. They never set the floor.
    """
    known = [confidence for confidence in answerable if confidence is not None]
    floor = percentile(known, FLOOR) if known else None
    return Abstention(
        floor=floor,
        accuracy=_declined(unanswerable, floor),
        false_abstention_rate=_declined(answerable, floor),
        separation_auc=separation(answerable, unanswerable),
    )


def separation(
    answerable: Sequence[float | None], unanswerable: Sequence[float | None]
) -> float | None:
    """
    Return the chance that an answerable query's confidence exceeds an abstention query's.

    Ties count half (Mann and Whitney, 1947); None where there are none of either.
    """
    if not answerable or not unanswerable:
        return None
    lower = sorted(_comparable(confidence) for confidence in unanswerable)
    won = 0.0
    for confidence in map(_comparable, answerable):
        below = bisect.bisect_left(lower, confidence)
        won += below + (bisect.bisect_right(lower, confidence) - below) / 2
    return won / (len(answerable) * len(unanswerable))


def _declined(confidences: Sequence[float | None], floor: float | None) -> float | None:
    if floor is None or not confidences:
        return None
    return sum(each is None or each < floor for each in confidences) / len(confidences)


def _comparable(confidence: float | None) -> tuple[bool, float]:
    return confidence is not None, confidence or 0.0
