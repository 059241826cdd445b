"""The demo application's search engine: BM25 over a few dozen passages."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

_SATURATION: Final = 1.2
_LENGTH: Final = 0.75
"""The usual constants of BM25, k1 and b (Robertson and Zaragoza, 2009)."""


_SKIPPED: Final = re.compile(
    r"(?:an?|and|did|do|does|has|in|is|of|on|or|s|the|to|was|what|when|where|which|who|whose)"
)


@dataclass(frozen=True, slots=True)
class Document:
    """One passage of the corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; the score is BM25's, higher is better."""

    document: Document
    score: float


class Index:
    """BM25 over documents, titles included."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        self._counts = [Counter(_words(f"{d.title} {d.text}")) for d in self._documents]
        self._lengths = [counts.total() for counts in self._counts]
        self._frequency = Counter(word for counts in self._counts for word in counts)

    @classmethod
    def of_demo(cls) -> "Index":
        """Index the passages that come with the package."""
        lines = files(__package__).joinpath("data", "passages.jsonl").read_text("utf-8")
        return cls(Document(**json.loads(line)) for line in lines.splitlines())

    def search(self, query: str, count: int = 5) -> list[Hit]:
        """Return the documents that share words with a query, best first."""
        words = set(_words(query))
        hits = (
            Hit(document, round(self._score(index, words), 3))
            for index, document in enumerate(self._documents)
        )
        found = [hit for hit in hits if hit.score > 0]
        return sorted(found, key=lambda hit: -hit.score)[:count]

    def _score(self, index: int, words: set[str]) -> float:
        counts = self._counts[index]
        mean = sum(self._lengths) / len(self._lengths)
        norm = 1 - _LENGTH + _LENGTH * self._lengths[index] / mean
        return sum(
            self._rarity(word) * n * (_SATURATION + 1) / (n + _SATURATION * norm)
            for word in words
            if (n := counts[word])
        )

    def _rarity(self, word: str) -> float:
        with_it = self._frequency[word]
        return math.log(1 + (len(self._documents) - with_it + 0.5) / (with_it + 0.5))


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.casefold()) if not _SKIPPED.fullmatch(word)]
