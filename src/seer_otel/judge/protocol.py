"""
What a judge is asked, and what it may answer.

A judge is asked twice. First for the requirements of a query, from the query alone: it sees no
passage then, so that K is a property of the query. Then which of the numbered passages support
which of the numbered requirements, all scopes of a retrieval in one question. It answers by
number; every score is computed by code.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from seer_otel.verdict import Usage

_Amount = TypeVar("_Amount", int, float)


@dataclass(frozen=True, slots=True)
class Asked:
    """One query with its requirements, numbered through all scopes of a question."""

    scope: str
    query: str
    requirements: Mapping[int, str]
    """Number to text. Numbers are unique over the whole question."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which passages support which requirements?"""

    asked: tuple[Asked, ...]
    passages: Mapping[int, str]
    """Number (from 1, unique, ascending) to text; texts are distinct documents."""
    run: int = 1
    """Which asking this is, where the same is asked several times; not for the judge to see."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements of one query, found from the query alone; empty: nothing to retrieve."""

    texts: tuple[str, ...]
    usage: Usage = Usage()
    cached: bool = False
    """Whether it is remembered, or was given to another who asked the same."""


@dataclass(frozen=True, slots=True)
class Support:
    """
    A judge's reply to a question.

    `citations` maps requirement numbers to the passage numbers cited, as the judge gave them:
    the caller drops and counts what does not exist, and asks again for what is missing.
    """

    citations: Mapping[int, tuple[int, ...]]
    usage: Usage = Usage()
    low_confidence: frozenset[int] = frozenset()
    """Requirement numbers about which the judge says that it is unsure."""
    cached: bool = False
    """Whether it is remembered, or was given to another who asked the same."""


def total(usages: Iterable[Usage]) -> Usage:
    """Add up what calls cost; tokens and cost are unknown as soon as those of one call are."""
    called = [usage for usage in usages if usage.calls]
    return Usage(
        calls=sum(usage.calls for usage in called),
        input_tokens=_sum([usage.input_tokens for usage in called]),
        output_tokens=_sum([usage.output_tokens for usage in called]),
        cost=_sum([usage.cost for usage in called]),
    )


def _sum(amounts: list[_Amount | None]) -> _Amount | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(amounts) else None


class Judge(Protocol):
    """
    A judge of retrievals.

    Both methods raise a `JudgeError` where there is no answer; they never return a guess for one.
    """

    @property
    def name(self) -> str:
        """`openai/<model>`, `local/<name>` or `replay/<file>`."""
        ...

    @property
    def revision(self) -> str:
        """A short text that changes with whatever can change a verdict."""
        ...

    async def requirements(self, query: str) -> Requirements:
        """List what is needed to answer the query: minimal, disjoint, in the query's language."""
        ...

    async def support(self, question: Question) -> Support:
        """Say which passages support which requirements."""
        ...

    async def aclose(self) -> None:
        """Release what the judge holds."""
        ...
