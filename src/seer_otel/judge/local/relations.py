"""How the passages of a context stand to each other: near twins, versions, and who names whom."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from seer_otel.judge.local.patterns import EXPIRING, IN_FORCE, OUTDATED, YEAR
from seer_otel.judge.local.reading import Context, Page

Columns = dict[str, list[float]]
"""Feature name to one value a passage, in the order of the context."""

RARE = 3
"""A term that at most so many passages have may name one of them."""


@dataclass(frozen=True, slots=True)
class Twin:
    """The passage that another one resembles most, by its place in the context."""

    place: int
    likeness: float
    """Terms in common over terms in either, in 0..1."""


class Relations:
    """What the passages of one context are to each other, whatever is asked."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.pages: Sequence[Page] = tuple(context.pages.values())

    @cached_property
    def twins(self) -> list[Twin | None]:
        """For each passage the one most like it; None for a passage that is alone."""
        count = len(self.pages)
        best: list[Twin | None] = [None] * count
        for one in range(count):
            for other in range(one + 1, count):
                likeness = self._likeness(one, other)
                for a, b in ((one, other), (other, one)):
                    known = best[a]
                    if known is None or (likeness, self.pages[b].text) > (
                        known.likeness,
                        self.pages[known.place].text,
                    ):
                        best[a] = Twin(b, likeness)
        return best

    def _likeness(self, one: int, other: int) -> float:
        a, b = self.pages[one].counts.keys(), self.pages[other].counts.keys()
        common = len(a & b)
        return common / (len(a) + len(b) - common) if common else 0.0

    @cached_property
    def ended(self) -> list[float]:
        """How surely each passage says that it is out of date: 0, 0.5 or 1."""
        return [
            1.0 if OUTDATED.search(page.text) else 0.5 if EXPIRING.search(page.text) else 0.0
            for page in self.pages
        ]

    @cached_property
    def valid(self) -> list[float]:
        """Whether each passage says that it is in force: 0 or 1."""
        return [float(bool(IN_FORCE.search(page.text))) for page in self.pages]

    @cached_property
    def years(self) -> list[frozenset[int]]:
        """The years that each passage speaks of."""
        return [frozenset(map(int, YEAR.findall(page.text))) for page in self.pages]

    @cached_property
    def subjects(self) -> list[frozenset[str]]:
        """The terms in each passage's heading that few passages have."""
        return [
            frozenset(term for term in page.above if self.context.seen(term) <= RARE)
            for page in self.pages
        ]

    def fresh_terms(self, place: int, known: Mapping[str, float]) -> Iterator[str]:
        """Yield the terms of names that a passage brings in, of those that few passages have."""
        page = self.pages[place]
        for term in page.named:
            if term not in known and self.context.seen(term) <= RARE:
                yield term


def named_in(subject: frozenset[str], page: Page) -> float:
    """Return the share of a subject's terms that another passage has, in 0..1."""
    return sum(term in page.counts for term in subject) / len(subject) if subject else 0.0


def mean_rank(values: Sequence[float]) -> list[float]:
    """Return 1 / (1 + how many are greater) for each value; equal ones share their mean place."""
    ordered = sorted(values, reverse=True)
    first: dict[float, int] = {}
    for place, value in enumerate(ordered):
        first.setdefault(value, place)
    count = {value: ordered.count(value) for value in first}
    return [1 / (1 + first[value] + (count[value] - 1) / 2) for value in values]


def relative(values: Sequence[float]) -> list[float]:
    """Return each value as a share of the greatest, in 0..1; all 0 where that is 0."""
    greatest = max(values, default=0.0)
    return [value / greatest if greatest > 0 else 0.0 for value in values]


def gap(values: Sequence[float]) -> list[float]:
    """Return how far each value is above the greatest of the others."""
    ordered = sorted(values, reverse=True)
    second = ordered[1] if len(ordered) > 1 else 0.0
    return [value - (second if value == ordered[0] else ordered[0]) for value in values]


def logit(probability: float) -> float:
    """Return the log odds of a probability, kept within ±6."""
    bounded = min(max(probability, 0.0025), 0.9975)
    return math.log(bounded / (1 - bounded))
