"""
Judges that anyone can write in a minute: a judge worth having is better.

They cite passages for the query as a whole, which is their one requirement.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from seer_otel.errors import ConfigError
from seer_otel.judge.local.words import terms
from seer_otel.judge.protocol import Judge, Question, Requirements, Support

_Rank = Callable[[str, Sequence[str]], list[float]]
"""Scores passages for a query; 0 for those that have nothing in common with it."""

_NEAR_THE_TOP: Final = 0.7
"""Share of the best score from which on a passage is cited; 0.6 to 0.8 do about equally well."""

_K1: Final = 1.2
_B: Final = 0.75


class Baseline:
    """Cites the passages that score nearly as high as the best."""

    revision = "1"

    def __init__(self, name: str, rank: _Rank) -> None:
        self.name = f"baseline/{name}"
        self._rank = rank

    async def requirements(self, query: str) -> Requirements:
        """Take the query for its one requirement."""
        return Requirements((query,))

    async def support(self, question: Question) -> Support:
        """Cite for every requirement of a query the passages that its words find."""
        numbers, texts = list(question.passages), list(question.passages.values())
        citations: dict[int, tuple[int, ...]] = {}
        for asked in question.asked:
            scores = self._rank(asked.query, texts)
            enough = max(_NEAR_THE_TOP * max(scores, default=0.0), math.ulp(0.0))
            cited = tuple(n for n, score in zip(numbers, scores, strict=True) if score >= enough)
            citations.update(dict.fromkeys(asked.requirements, cited))
        return Support(citations)

    async def aclose(self) -> None:
        """Do nothing: nothing is held."""


def everything(query: str, passages: Sequence[str]) -> list[float]:
    """Score all passages alike."""
    return [1.0] * len(passages)


def bm25(query: str, passages: Sequence[str]) -> list[float]:
    """Score by Okapi BM25 (Robertson and Walker, 1994), k1 1.2, b 0.75, over these passages."""
    counts = [Counter(terms(passage)) for passage in passages]
    idf = _idf(counts)
    mean = sum(count.total() for count in counts) / max(1, len(counts)) or 1.0
    wanted = set(terms(query))
    return [
        sum(
            idf.get(term, 0.0)
            * count[term]
            * (_K1 + 1)
            / (count[term] + _K1 * (1 - _B + _B * count.total() / mean))
            for term in wanted
        )
        for count in counts
    ]


def cosine(query: str, passages: Sequence[str]) -> list[float]:
    """Score by the cosine of tf-idf vectors, idf over these passages."""
    counts = [Counter(terms(passage)) for passage in passages]
    idf = _idf(counts)
    asked = _weighted(Counter(terms(query)), idf)
    return [_cosine(asked, _weighted(count, idf)) for count in counts]


_BASELINES: Final[Mapping[str, _Rank]] = {"all": everything, "bm25": bm25, "cosine": cosine}

PREFIX: Final = "baseline:"


def open_baseline(kind: str) -> Judge:
    """
    Open `baseline:all`, `baseline:bm25` or `baseline:cosine`.

    Raises:
        ConfigError: There is no such baseline.
    """
    name = kind.removeprefix(PREFIX)
    if name not in _BASELINES:
        raise ConfigError(f"judge: {kind!r} is none of {', '.join(PREFIX + n for n in _BASELINES)}")
    return Baseline(name, _BASELINES[name])


def _idf(counts: Sequence[Counter[str]]) -> dict[str, float]:
    found = Counter(term for count in counts for term in count)
    return {t: math.log(1 + (len(counts) - n + 0.5) / (n + 0.5)) for t, n in found.items()}


def _weighted(count: Counter[str], idf: Mapping[str, float]) -> dict[str, float]:
    return {term: n * idf[term] for term, n in count.items() if term in idf}


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    product = sum(weight * other.get(term, 0.0) for term, weight in one.items())
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return product / lengths if lengths else 0.0
