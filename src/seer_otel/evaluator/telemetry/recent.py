"""How fast counters have been growing of late."""

from collections import deque
from collections.abc import Sequence
from typing import Final

from seer_otel.clock import Clock
from seer_otel.evaluator.telemetry.metrics import Metric, Telemetry

EVERY_S: Final = 10.0
"""Seconds between two looks."""
FOR_S: Final = 60.0
"""Seconds that a rate is over."""


class Recent:
    """Rates of some counters over the last minute, or since the start where that is less."""

    def __init__(self, telemetry: Telemetry, clock: Clock, counters: Sequence[Metric]) -> None:
        self._telemetry = telemetry
        self._clock = clock
        self._counters = counters
        self._looks = deque([self._now()], maxlen=int(FOR_S / EVERY_S) + 1)

    def look(self) -> None:
        """Take a sample."""
        self._looks.append(self._now())

    def per_minute(self) -> dict[str, float]:
        """Return the rate of each counter, by its name."""
        then_s, before = self._looks[0]
        now_s, after = self._now()
        minutes = max(now_s - then_s, 1.0) / 60
        return {name: (after[name] - before[name]) / minutes for name in after}

    def _now(self) -> tuple[float, dict[str, float]]:
        totals = {each.name: self._telemetry.total(each) for each in self._counters}
        return self._clock.monotonic(), totals
