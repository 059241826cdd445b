"""
How many questions an endpoint is asked at once.

As many as it takes: half of them when it says that they are too many, or does not answer in time;
one more for every round of answers after that (additive increase, multiplicative decrease: Chiu
and Jain, 1989).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from seer_otel.clock import Clock, SystemClock
from seer_otel.judge.calls import Call

_TOO_MANY: Final = frozenset({"429", "503", "529", "judge_timeout"})


class Slots:
    """
    Places at an endpoint.

    Args:
        most: How many there are while all is well.
        clock: Tells which calls began before the last cut.
    """

    def __init__(self, most: int, clock: Clock | None = None) -> None:
        self._most = most
        self._limit = float(most)
        self._taken = 0
        self._freed = asyncio.Condition()
        self._clock = clock or SystemClock()
        self._cut_s = float("-inf")

    @property
    def limit(self) -> int:
        """How many there are now."""
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a place, and keep it."""
        async with self._freed:
            await self._freed.wait_for(lambda: self._taken < self.limit)
            self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1
            async with self._freed:
                self._freed.notify(self._most)

    def note(self, call: Call) -> None:
        """
        Learn from how a call ended.

        Calls that were under way together and fail together are one sign, not many.
        """
        now = self._clock.monotonic()
        if call.error_type in _TOO_MANY:
            if now - call.duration_s >= self._cut_s:
                self._limit = max(1.0, self._limit / 2)
                self._cut_s = now
        elif call.error_type is None:
            self._limit = min(float(self._most), self._limit + 1 / self._limit)
