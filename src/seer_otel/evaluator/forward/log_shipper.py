"""Evaluation log records on their way: best effort, for the same scores are on the spans."""

import asyncio
import logging

from seer_otel.errors import NextHopBusy, NextHopRefused
from seer_otel.evaluator.forward.next_hop import NextHop

log = logging.getLogger(__name__)

QUEUED = 1_000
"""Requests that may wait; more are dropped and counted."""


class LogShipper:
    """Sends log records in the background."""

    def __init__(self, endpoint: NextHop) -> None:
        self._endpoint = endpoint
        self._queue: asyncio.Queue[bytes] = asyncio.Queue(QUEUED)
        self.dropped = 0

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
            request = await self._queue.get()
            try:
                await self._endpoint.send(request, "logs")
            except (NextHopBusy, NextHopRefused) as error:
                self._drop(str(error))

    def _drop(self, why: str) -> None:
        if self.dropped == 0:
            log.warning("evaluation log records are not taken by the logs endpoint: %s", why)
        self.dropped += 1
