"""
What is remembered of the judge, on disk: requirements, answers, spending.

A disk that is full, or fails, makes judging dearer, and does not stop it.
"""

import json
import logging
from hashlib import sha256
from typing import Any, Final

from seer_otel.clock import Clock
from seer_otel.errors import StorageFailed
from seer_otel.evaluator.hold.store import Store
from seer_otel.judge.budget import Spent
from seer_otel.judge.protocol import Support

log = logging.getLogger(__name__)

_REMIND_S: Final = 60.0
"""Seconds between two log lines about the same trouble."""


class _Memory:
    """One table of the hold."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._told_s = float("-inf")

    async def _first(self, query: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row that a query finds."""
        try:
            return await self._store.run(lambda db: db.execute(query, values).fetchone())
        except StorageFailed as error:
            self._tell(error)
            return None

    async def _write(self, statement: str, *values: object) -> None:
        try:
            await self._store.run(lambda db: db.execute(statement, values))
        except StorageFailed as error:
            self._tell(error)

    def _tell(self, error: StorageFailed) -> None:
        now = self._clock.monotonic()
        if now - self._told_s >= _REMIND_S:
            self._told_s = now
            log.warning("the judge's memory cannot be used: %s", error)


class StoredRequirements(_Memory):
    """A `RequirementMemory` that outlives the process."""

    async def get(self, query: str, judge: str) -> tuple[str, ...] | None:
        """Return what the judge once listed for the query; None: nothing yet."""
        row = await self._first(
            "SELECT texts FROM requirements WHERE query=? AND judge=?", _digest(query), judge
        )
        return None if row is None else tuple(json.loads(row[0]))

    async def put(self, query: str, judge: str, requirements: tuple[str, ...]) -> None:
        """Remember what the judge lists for the query."""
        await self._write(
            "INSERT OR IGNORE INTO requirements VALUES (?, ?, ?, ?)",
            _digest(query),
            judge,
            json.dumps(requirements),
            self._clock.now(),
        )


class StoredAnswers(_Memory):
    """An `AnswerMemory` that outlives the process; it holds numbers, and no text."""

    async def get(self, question: bytes) -> Support | None:
        """Return the answer to a question; None where it is new."""
        row = await self._first("SELECT citations, unsure FROM answers WHERE question=?", question)
        if row is None:
            return None
        citations = {int(n): tuple(cited) for n, cited in json.loads(row[0]).items()}
        return Support(citations, low_confidence=frozenset(json.loads(row[1])))

    async def put(self, question: bytes, answer: Support) -> None:
        """Remember an answer."""
        await self._write(
            "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)",
            question,
            json.dumps(dict(answer.citations)),
            json.dumps(sorted(answer.low_confidence)),
            self._clock.now(),
        )


class StoredSpending(_Memory):
    """A `SpendingMemory` that outlives the process: the count of the last day."""

    async def get(self, day: str) -> Spent | None:
        """Return what was spent on a day; None where nothing is known."""
        row = await self._first("SELECT calls, tokens, cost FROM spending WHERE day=?", day)
        return None if row is None else Spent(*row)

    async def put(self, day: str, spent: Spent) -> None:
        """Keep what has been spent on a day so far, and forget the days before."""
        await self._write(
            "INSERT OR REPLACE INTO spending VALUES (?, ?, ?, ?)",
            day,
            spent.calls,
            spent.tokens,
            spent.cost,
        )
        await self._write("DELETE FROM spending WHERE day < ?", day)


def _digest(query: str) -> bytes:
    return sha256(query.encode("utf-8", "surrogatepass")).digest()
