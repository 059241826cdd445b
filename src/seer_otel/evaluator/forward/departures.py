"""What has left and is still in the outbox: forgotten as soon as may be, never sent again."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from seer_otel.errors import StorageFailed
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of the spans of a request, carriers aside."""

    forwarded: int = 0
    dead_lettered: int = 0


class Departures:
    """Entries of the outbox that the next hop has, or that are dead letters."""

    def __init__(self, store: Store, telemetry: Telemetry) -> None:
        self._store = store
        self._telemetry = telemetry
        self._unforgotten: deque[tuple[Sequence[int], Fate]] = deque()
        self._one_at_a_time = asyncio.Lock()
        self._told = False
        self.ids: set[int] = set()
        """Of the entries that are still on disk."""

    async def add(self, ids: Sequence[int], fate: Fate) -> None:
        """Forget entries that have left, and count them; now, or where the disk refuses, later."""
        self._unforgotten.append((ids, fate))
        self.ids.update(ids)
        await self.forget()

    async def forget(self) -> None:
        """Forget what the disk would not forget before."""
        async with self._one_at_a_time:
            while self._unforgotten:
                ids, fate = self._unforgotten[0]
                try:
                    await self._store.sent(ids)
                except StorageFailed as error:
                    if not self._told:
                        log.warning("%s; what has left is forgotten later", error)
                    self._told = True
                    return
                self._told = False
                self._unforgotten.popleft()
                self.ids.difference_update(ids)
                self.count(fate)

    def count(self, fate: Fate) -> None:
        """Count what has left."""
        self._telemetry.count(metrics.FORWARDED, fate.forwarded)
        self._telemetry.count(metrics.DEAD_LETTERED, fate.dead_lettered)
