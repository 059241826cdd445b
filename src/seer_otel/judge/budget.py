"""
What a judge may spend, by the minute and by the day.

Minutes and days are those of the clock, in UTC. What is spent shows when a call has been answered,
so tokens and money can end up over a limit by what was under way when it was reached; calls cannot.
"""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Protocol

from seer_otel.clock import Clock, SystemClock
from seer_otel.errors import BudgetSpent

_WORDS: Final = {"calls": "calls", "tokens": "tokens", "cost": "in money"}


@dataclass(frozen=True, slots=True)
class Allowance:
    """How much may be spent in some time; None: without limit."""

    calls: int | None = None
    tokens: int | None = None
    """Read and written together."""
    cost: float | None = None
    """In the currency of the prices."""


@dataclass(frozen=True, slots=True)
class Spent:
    """How much was spent."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


class SpendingMemory(Protocol):
    """
    Where the spending of a day is kept.

    Neither method raises: a memory that cannot be read knows nothing.
    """

    async def get(self, day: str) -> Spent | None:
        """Return what was spent on a day (ISO 8601); None where nothing is known."""
        ...

    async def put(self, day: str, spent: Spent) -> None:
        """Keep what has been spent on a day so far."""
        ...


class Budget:
    """
    Watches over what is spent.

    Args:
        minute: For every minute.
        day: For every day.
        memory: Keeps the count of the day; without one it begins anew with the process.
        clock: Tells the minute and the day.
    """

    def __init__(
        self,
        minute: Allowance | None = None,
        day: Allowance | None = None,
        *,
        memory: SpendingMemory | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._allowed = {"minute": minute or Allowance(), "day": day or Allowance()}
        self._spent = dict.fromkeys(self._allowed, Spent())
        self._now = dict.fromkeys(self._allowed, "")
        self._memory = memory
        self._clock = clock or SystemClock()
        self._turning = asyncio.Lock()

    @property
    def limits_cost(self) -> bool:
        """Whether there is a limit on money, for which prices must be known."""
        return any(allowed.cost is not None for allowed in self._allowed.values())

    def remember_in(self, memory: SpendingMemory) -> None:
        """Keep the count of the day where it outlives the process."""
        self._memory = memory

    async def admit(self) -> None:
        """
        Count one more call, before it is made.

        Raises:
            BudgetSpent: There may be none; the message says which limit is reached.
        """
        async with self._turning:
            await self._turn()
        for period, allowed in self._allowed.items():
            spent = self._spent[period]
            for what, words in _WORDS.items():
                limit = getattr(allowed, what)
                if limit is not None and getattr(spent, what) >= limit:
                    raise BudgetSpent(f"the budget of {limit:,} {words} a {period} is spent")
        self._add(calls=1)

    async def spend(self, tokens: int, cost: float) -> None:
        """Count what a call took, once it has been answered."""
        self._add(tokens=tokens, cost=cost)
        if self._memory is not None:
            await self._memory.put(self._now["day"], self._spent["day"])

    def _add(self, *, calls: int = 0, tokens: int = 0, cost: float = 0.0) -> None:
        for period, spent in self._spent.items():
            self._spent[period] = replace(
                spent,
                calls=spent.calls + calls,
                tokens=spent.tokens + tokens,
                cost=spent.cost + cost,
            )

    async def _turn(self) -> None:
        """Begin the count of a new minute or day."""
        now = datetime.fromtimestamp(self._clock.now(), UTC).isoformat()
        minute, day = now[:16], now[:10]
        if minute != self._now["minute"]:
            self._now["minute"], self._spent["minute"] = minute, Spent()
        if day != self._now["day"]:
            known = await self._memory.get(day) if self._memory is not None else None
            self._now["day"], self._spent["day"] = day, known or Spent()
