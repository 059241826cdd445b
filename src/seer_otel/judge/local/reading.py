"""A passage as the local judge reads it, and the passages of one context together."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from seer_otel.judge.local.words import names, script, sentences, shingles, terms

HEADING = 160
"""A first line of at most so many characters, with text below it, is a heading."""

K1, B = 1.5, 0.75
"""BM25's saturation of repeated terms, and its correction for length."""

UNSEEN = 2
"""Passages without any term of the query that a context is thought to hold beside its own."""

_BRACKETS = re.compile(r"\(.*?\)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, read together with the heading above it."""

    text: str
    terms: frozenset[str]
    """Its own and the heading's."""
    said: frozenset[str]
    """Its own."""


@dataclass(frozen=True)
class Page:
    """One passage, read."""

    text: str
    units: tuple[Unit, ...]
    counts: Counter[str]
    length: int
    """Terms, repeats included."""
    heading: str
    pairs: frozenset[tuple[str, str]]
    """The terms that follow each other in a sentence."""
    body: frozenset[str]
    """The terms below the heading."""

    @classmethod
    def read(cls, text: str) -> "Page":
        """Read a passage."""
        said = sentences(text)
        found = [terms(sentence) for sentence in said]
        headed = len(said) > 1 and len(said[0]) <= HEADING and "\n" in text
        above = frozenset(found[0] if headed else ())
        units = tuple(
            Unit(sentence, above.union(words), frozenset(words))
            for sentence, words in zip(said, found, strict=True)
        )
        counts = Counter(term for words in found for term in words)
        return cls(
            text,
            units,
            counts,
            counts.total(),
            said[0] if headed else "",
            frozenset(pair for words in found for pair in pairwise(words)),
            frozenset(term for words in found[headed:] for term in words),
        )

    @cached_property
    def above(self) -> tuple[str, ...]:
        """The terms of the heading, without those in brackets."""
        return tuple(dict.fromkeys(terms(_BRACKETS.sub("", self.heading))))

    @cached_property
    def shingles(self) -> frozenset[str]:
        """The pieces of its words, see `words.shingles`."""
        return frozenset(shingles(self.text))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The terms of the names in the passage."""
        return tuple(dict.fromkeys(term for name in self.names for term in name))

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names in the passage, as terms."""
        return tuple(dict.fromkeys(tuple(terms(name)) for name in names(self.text)))

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """What the passage is about, as terms: its heading, or else the first name in it."""
        return tuple(terms(_BRACKETS.sub("", self.heading))) or next(iter(self.names), ())

    def introduced(self, known: frozenset[str]) -> list[tuple[str, ...]]:
        """Return the names that the passage brings in: not its heading, not known terms alone."""
        return [name for name in self.names if not known.issuperset(name) and not self._heads(name)]

    def _heads(self, name: tuple[str, ...]) -> bool:
        return bool(self.heading) and name == self.subject


class Context:
    """The passages of one context, with what each term is worth among them."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self.pages = {number: Page.read(text) for number, text in texts.items()}
        self._seen = Counter(term for page in self.pages.values() for term in page.counts)
        lengths = [page.length for page in self.pages.values()]
        self._mean_length = sum(lengths) / len(lengths) if any(lengths) else 1.0

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts that the passages are written in, see `words.script`."""
        return frozenset(map(script, self._seen))

    def seen(self, term: str) -> int:
        """Return how many of the passages have a term."""
        return self._seen[term]

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term, in 0..1; 1 where no passage has it."""
        size, seen = len(self.pages) + UNSEEN, self._seen[term]
        return math.log1p((size - seen + 0.5) / (seen + 0.5)) / math.log1p((size + 0.5) / 0.5)

    def bm25(self, page: Page, weights: Mapping[str, float]) -> float:
        """Return the BM25 score of a passage for weighted terms."""
        norm = K1 * (1 - B + B * page.length / self._mean_length)
        return sum(
            weight * count * (K1 + 1) / (count + norm)
            for term, weight in weights.items()
            if (count := page.counts.get(term))
        )
