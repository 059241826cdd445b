"""Evaluation log records on their way: best effort, for the same scores are on the spans."""

import asyncio
import contextlib
import logging

from seer_otel.errors import NextHopBusy, NextHopRefused
from seer_otel.evaluator.forward.next_hop import NextHop
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.health import Pulse
from seer_otel.evaluator.telemetry.metrics import Telemetry

log = logging.getLogger(__name__)

QUEUED = 1_000
"""Requests that may wait; more are dropped and counted."""
LOOK_S = 5.0
"""Longest time without a sign of life."""


class LogShipper:
    """Sends log records in the background."""

    def __init__(self, endpoint: NextHop, telemetry: Telemetry, pulse: Pulse) -> None:
        self._endpoint = endpoint
        self._telemetry = telemetry
        self._pulse = pulse
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(QUEUED)

    def ship(self, request: bytes) -> None:
        """Queue an export request of the logs signal; empty ones are nothing to send."""
        if not request:
            return
        try:
            self._queue.put_nowait(request)
        except asyncio.QueueFull:
            self._drop("the queue is full")

    async def run(self) -> None:
        """Send what is queued, for ever; one attempt each."""
        while True:
            self._pulse.beat(self._endpoint.patience_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    request = await self._queue.get()
                await self._send(request)

    async def _send(self, request: bytes) -> None:
        try:
            await self._endpoint.send(request, "logs")
        except (NextHopBusy, NextHopRefused) as error:
            self._drop(str(error))

    def _drop(self, why: str) -> None:
        if self._telemetry.total(metrics.LOGS_DROPPED) == 0:
            log.warning("evaluation log records are not taken by the logs endpoint: %s", why)
        self._telemetry.count(metrics.LOGS_DROPPED)
