"""
A circuit breaker: an endpoint that is down is left alone for a while.

    closed ──failures in a row──► open ──time──► half open, one probe ──answered──► closed
                                    ▲                        │
                                    └──for twice as long─────┘ failed
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from seer_otel.clock import Clock, SystemClock
from seer_otel.errors import BudgetSpent, JudgeError, JudgeFailed, JudgeTimeout

_AT_FAULT = re.compile(r"connection|401|403|404|408|409|429|5\d\d")
"""Error types that say something of the endpoint, rather than of what it was asked."""
_PROBE_S = 1.0
"""Seconds after which to look how a probe has ended."""

Sleep = Callable[[float], Awaitable[object]]


class Breaker:
    """
    Lets questions through to an endpoint, unless it keeps failing.

    Args:
        failures: How many in a row open the circuit.
        open_s: Seconds that it stays open at first; each time that the probe fails, twice as long.
        most_s: Seconds that it stays open at most.
        patience_s: Seconds from the first opening during which `wait` waits for an answer.
        sleep: Waits.
        clock: Tells when the time is over.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        open_s: float = 5.0,
        most_s: float = 300.0,
        patience_s: float = 0.0,
        sleep: Sleep = asyncio.sleep,
        clock: Clock | None = None,
    ) -> None:
        self._most_failures = failures
        self._first_open_s = self._open_s = open_s
        self._most_s = most_s
        self._patience_s = patience_s
        self._sleep = sleep
        self._clock = clock or SystemClock()
        self._failures = 0
        self._probe_s: float | None = None
        """When a question may go through again; None while the circuit is closed."""
        self._probing = False
        self._opened_s = 0.0
        """When the circuit first opened since there was an answer."""

    async def wait(self) -> None:
        """Wait while the circuit is open, unless it has been for longer than there is patience."""
        while (open_s := self._remaining_s()) > 0:
            if self._clock.monotonic() + open_s > self._opened_s + self._patience_s:
                return
            await self._sleep(open_s)

    @contextmanager
    def question(self) -> Iterator[None]:
        """
        Put one question to the endpoint, and learn from how it ends.

        Raises:
            JudgeFailed: The circuit is open (`circuit_open`); nothing was sent.
        """
        probe = self._enter()
        try:
            yield
        except BudgetSpent:
            raise  # nothing was sent
        except JudgeError as error:
            if isinstance(error, JudgeTimeout) or _AT_FAULT.fullmatch(error.error_type):
                self._failed(probe)
            else:
                self._answered()  # whatever it said
            raise
        else:
            self._answered()
        finally:
            if probe:
                self._probing = False

    def _remaining_s(self) -> float:
        """Return how long no question can go through, as far as is known."""
        if self._probe_s is None:
            return 0.0
        if self._probing:
            return _PROBE_S
        return self._probe_s - self._clock.monotonic()

    def _enter(self) -> bool:
        """Return whether this question is the probe."""
        if self._probe_s is None:
            return False
        if self._remaining_s() > 0:
            raise JudgeFailed("the judge keeps failing, and is left alone now", "circuit_open")
        self._probing = True
        return True

    def _answered(self) -> None:
        self._failures = 0
        self._probe_s = None
        self._open_s = self._first_open_s

    def _failed(self, probe: bool) -> None:
        self._failures += 1
        now = self._clock.monotonic()
        if probe:
            self._open_s = min(self._most_s, 2 * self._open_s)
        elif self._probe_s is not None or self._failures < self._most_failures:
            return  # open already, or not yet
        else:
            self._opened_s = now
        self._probe_s = now + self._open_s
