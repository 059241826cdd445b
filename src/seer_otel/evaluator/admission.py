"""
How much is taken: at first more slowly, then less, then nothing for now.

    on disk ──0──────────75 %──────────100 %──► of hold.max_bytes
               at once    ever later     refused, to be sent again

What waits for the judge never fills more than half: a judge that is slow costs scores, no spans.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from seer_otel.errors import Overloaded
from seer_otel.evaluator.hold.store import Store

SLOW_ABOVE: Final = 0.75
SLOWEST_S: Final = 0.5
"""Of an answer, just below the mark."""
MAX_PENDING: Final = 20_000
"""Retrievals on their way; more leave unevaluated (`pressure`)."""
UNDER_WAY_BYTES = 256 * 1024 * 1024
"""Of requests that are being taken, in memory, all together."""


class Admission:
    """Says when, and what, may come in."""

    def __init__(
        self,
        store: Store,
        *,
        max_bytes: int,
        max_pending: int = MAX_PENDING,
    ) -> None:
        """
        Watch a hold.

        Args:
            store: What is on disk.
            max_bytes: On disk, held and queued.
            max_pending: Retrievals that wait for the judge.
        """
        self._store = store
        self.max_bytes = max_bytes
        self._max_pending = max_pending
        self._under_way = 0

    def full(self) -> str | None:
        """Say where the hold is over its mark."""
        size = self._size()
        if size <= self.max_bytes:
            return None
        return f"the hold is full ({size} bytes on disk): the judge or the next hop cannot keep up"

    def is_pressed(self, pending: int, size: int) -> bool:
        """
        Whether one more retrieval leaves unevaluated.

        Args:
            pending: Retrievals on their way already.
            size: Bytes of this one, and of those that come to the hold together with it.
        """
        held = self._store.statistics.held_bytes + size
        return pending >= self._max_pending or (pending > 0 and held > self.max_bytes // 2)

    @contextmanager
    def under_way(self, size: int) -> Iterator[None]:
        """
        Count a request while it is being taken.

        Raises:
            Overloaded: There are too many.
        """
        if self._under_way and self._under_way + size > UNDER_WAY_BYTES:
            raise Overloaded("too many requests are under way", 1.0)
        self._under_way += size
        try:
            yield
        finally:
            self._under_way -= size

    async def wait(self) -> None:
        """
        Wait a little where the hold fills.

        Raises:
            Overloaded: It is full.
        """
        if full := self.full():
            raise Overloaded(full, 2.0)
        if (delay_s := self.delay_s) > 0:
            await asyncio.sleep(delay_s)

    @property
    def delay_s(self) -> float:
        """Seconds that an answer is kept back, so that clients slow down before they must stop."""
        above = self._size() / self.max_bytes - SLOW_ABOVE
        return max(0.0, SLOWEST_S * above / (1 - SLOW_ABOVE))

    def _size(self) -> int:
        statistics = self._store.statistics
        return statistics.held_bytes + statistics.queued_bytes
