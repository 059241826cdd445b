"""Time, passed in, so that waiting can be tested without waiting."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where a component gets its time from."""

    def now(self) -> float:
        """Wall-clock time in seconds since the epoch. It may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start. It never goes backwards."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        """Wall-clock time in seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()
