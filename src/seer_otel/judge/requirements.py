"""
The requirements of queries: found once, then remembered.

Every context judged against a query is judged against the same list, so that recalls are
fractions of the same whole.
"""

from collections import OrderedDict
from typing import Protocol

from seer_otel.judge.protocol import Judge, Requirements
from seer_otel.judge.sharing import Sharing
from seer_otel.metrics.documents import document


class RequirementMemory(Protocol):
    """
    Where the requirements of queries are kept.

    Neither method raises: a memory that cannot be read knows nothing.
    """

    async def get(self, query: str, judge: str) -> tuple[str, ...] | None:
        """Return what a judge (name and revision) found for a query; None where it is new."""
        ...

    async def put(self, query: str, judge: str, requirements: tuple[str, ...]) -> None:
        """Keep what a judge found for a query."""
        ...


class RecentRequirements:
    """Keeps the requirements of the queries used last, in this process."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    async def get(self, query: str, judge: str) -> tuple[str, ...] | None:
        """Return what a judge found for a query; None where it is new."""
        found = self._kept.get((query, judge))
        if found is not None:
            self._kept.move_to_end((query, judge))
        return found

    async def put(self, query: str, judge: str, requirements: tuple[str, ...]) -> None:
        """Keep what a judge found; the query unused for longest gives way."""
        self._kept[query, judge] = requirements
        self._kept.move_to_end((query, judge))
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)


class RequirementLists:
    """Asks a judge for the requirements of a query, once however many want them."""

    def __init__(self, judge: Judge, memory: RequirementMemory) -> None:
        self._judge = judge
        self._memory = memory
        self._sharing: Sharing[Requirements] = Sharing()

    async def of(self, query: str) -> Requirements:
        """
        Return the requirements of a query; what they cost is told to the first who asked.

        Cancelling one who waits does not end the question: others may be waiting for it.

        Raises:
            JudgeError: The judge gave no list. Nothing is remembered.
        """
        # Another way of writing the same characters is no other query.
        key = document(query)
        found, shared = await self._sharing.answer(key, lambda: self._find(key, query))
        return Requirements(found.texts, cached=True) if shared else found

    async def aclose(self) -> None:
        """End the questions under way."""
        await self._sharing.aclose()

    async def _find(self, key: str, query: str) -> Requirements:
        judge = f"{self._judge.name}@{self._judge.revision}"
        remembered = await self._memory.get(key, judge)
        if remembered is not None:
            return Requirements(remembered, cached=True)
        found = await self._judge.requirements(query)
        await self._memory.put(key, judge, found.texts)
        return found
