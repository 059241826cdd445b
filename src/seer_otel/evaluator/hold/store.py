"""
What the service has accepted and not yet handed on, and what it remembers of what has left.

    arrival ──► held (pipeline) ──release──► outbox ──sent──► gone; its key is remembered
                  │        └──deadline──► held (left) ──verdict──► carrier in the outbox
                held (copy) ──────────────verdict──► carrier in the outbox
                held (event) ─────────────verdict──► outbox

Each arrow is one transaction, so a crash leaves a span on one side of it.
"""

import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from pathlib import Path

from seer_otel.clock import Clock
from seer_otel.errors import ConfigError, StorageFailed
from seer_otel.evaluator.hold import transactions
from seer_otel.evaluator.hold.database import Database, T
from seer_otel.evaluator.hold.entries import (
    Arrived,
    Held,
    Key,
    Outgoing,
    Queued,
    Release,
    Statistics,
)
from seer_otel.evaluator.hold.folder import lock
from seer_otel.evaluator.hold.pruning import Memory, prune
from seer_otel.evaluator.hold.room import shortage

PAGE_BYTES = 4 * 1024 * 1024
"""Read at once of what an earlier process left behind."""


class Store:
    """The hold: one folder, one process."""

    def __init__(
        self, folder: Path, clock: Clock, *, forwarding: bool = True, memory: Memory | None = None
    ) -> None:
        """
        Open, or make, the folder. Without `forwarding` nothing is put into the outbox.

        Raises:
            ConfigError: Another process uses it, or it cannot be written.
        """
        self._folder = folder
        self._clock = clock
        self._started_s = clock.now() - clock.monotonic()
        self._forwarding = forwarding
        self._memory = memory or Memory()
        self._lock = lock(folder)
        try:
            self._database = Database(folder / "hold.sqlite3")
        except ConfigError:
            os.close(self._lock)
            raise
        self.statistics = Statistics()

    async def aclose(self) -> None:
        """Write what waits and let go of the folder."""
        await self._database.aclose()
        os.close(self._lock)

    @property
    def trouble(self) -> str | None:
        """What keeps the disk from taking what arrives; None where nothing does."""
        refused = self._database.trouble
        return f"the disk refuses writes ({refused})" if refused else self._shortage()

    @property
    def busy_s(self) -> float:
        """For how many seconds the write under way has been waiting for the disk."""
        return self._database.busy_s

    async def count(self) -> None:
        """Count what an earlier process left."""
        self.statistics = await self._database.run(transactions.sizes)

    async def left_behind(self) -> AsyncIterator[Held]:
        """Yield what an earlier process left in the hold, the oldest first."""
        last = 0
        while page := await self._held_after(last):
            last = page[-1][0]
            for _, held in page:
                yield held

    async def _held_after(self, last: int) -> list[tuple[int, Held]]:
        return await self._database.run(lambda db: transactions.held_after(db, last, PAGE_BYTES))

    async def hold(
        self, arrivals: Sequence[Held], passing: Mapping[Key, Outgoing] | None = None
    ) -> list[Arrived]:
        """
        Store arrivals; return, for each, what it was.

        Args:
            arrivals: What came, at once.
            passing: Of those that are let through at once, should they be new: how they leave.

        Raises:
            StorageFailed: None of them is kept.
        """
        self._want_room()
        passing = passing or {}
        now = self._now()

        def arrive(db: sqlite3.Connection, arrival: Held) -> Arrived:
            outcome = transactions.arrive(db, arrival, forwarding=self._forwarding)
            if outcome != "held" or arrival.key not in passing:
                return outcome
            release = Release([passing[arrival.key]])
            transactions.leave(db, arrival.key, lambda _: release, now, forwarding=self._forwarding)
            return "passed"

        def job(db: sqlite3.Connection) -> list[Arrived]:
            return [arrive(db, arrival) for arrival in arrivals]

        outcomes = await self._database.run(job)
        for arrival, outcome in zip(arrivals, outcomes, strict=True):
            if outcome == "held":
                self.statistics.held_spans += 1
                self.statistics.held_bytes += len(arrival.request)
            elif outcome == "queued":
                self._count([arrival.passing])
            elif outcome == "passed" and self._forwarding:
                self._count([passing[arrival.key]])
        return outcomes

    async def release(self, key: Key, build: Callable[[Held], Release]) -> Held | None:
        """
        Move a retrieval on, in one transaction.

        `build` is called in the hold's thread with the entry as it then stands, and again where
        the disk has to be tried again. Returns that entry, or None where it was gone already.

        Raises:
            StorageFailed: It is still held.
        """
        now = self._now()
        done = await self._database.run(
            lambda db: transactions.leave(db, key, build, now, forwarding=self._forwarding)
        )
        if done is None:
            return None
        held, release = done
        if self._forwarding:
            self._count(release.outgoing)
        if held.origin != "left":
            self.statistics.held_spans -= 1
        if not release.carrier_is_due:
            self.statistics.held_bytes -= len(held.request)
        return held

    async def queue(self, outgoing: Outgoing) -> int:
        """
        Put something into the outbox; return the number of its entry.

        Raises:
            StorageFailed: It is not there.
        """
        self._want_room()
        ids = await self._database.run(lambda db: transactions.queue(db, [outgoing]))
        self._count([outgoing])
        return ids[0]

    async def waiting(self, max_bytes: int, besides: Collection[int]) -> list[Queued]:
        """Return the oldest entries of the outbox up to a size (at least one), less some."""

        def job(db: sqlite3.Connection) -> list[Queued]:
            batch: list[Queued] = []
            size = 0
            for entry in transactions.waiting(db):
                if entry.id in besides:
                    continue
                size += len(entry.outgoing.request)
                if batch and size > max_bytes:
                    break
                batch.append(entry)
            return batch

        return await self._database.run(job)

    async def sent(self, ids: Sequence[int]) -> None:
        """Forget entries of the outbox that the next hop has, or that are dead letters."""
        for kind, spans, size in await self._database.run(lambda db: transactions.forget(db, ids)):
            self.statistics.count_queued(kind, -spans, -size)

    async def split(self, entry: Queued, parts: Sequence[Outgoing]) -> list[Queued]:
        """Replace an entry of the outbox by its parts."""

        def job(db: sqlite3.Connection) -> list[int]:
            transactions.forget(db, [entry.id])
            return transactions.queue(db, parts)

        ids = await self._database.run(job)
        whole = entry.outgoing
        self.statistics.count_queued(whole.kind, -whole.spans, -len(whole.request))
        self._count(parts)
        return [Queued(number, part) for number, part in zip(ids, parts, strict=True)]

    async def keep_record(self, record_id: str, record: str) -> None:
        """Keep the JSON of a result under its record id."""
        now = self._now()
        await self._database.run(lambda db: transactions.record(db, record_id, record, now))

    async def record(self, record_id: str) -> str | None:
        """Return the JSON kept under a record id."""
        query = "SELECT record FROM records WHERE record_id=?"
        return await self._database.run(
            lambda db: transactions.first(db.execute(query, (record_id,)))
        )

    async def holds(self, record_id: str) -> bool:
        """Return whether a retrieval is still in the hold."""
        key = Key.of(record_id)
        query = "SELECT 1 FROM held WHERE trace_id=? AND span_id=?"
        return await self._database.run(
            lambda db: transactions.first(db.execute(query, key)) is not None
        )

    async def keep_ancestor(self, trace_id: bytes, node: bytes) -> None:
        """Keep the node of an ancestor for retrievals that are held (best effort)."""
        now = self._now()
        await self._database.run(
            lambda db: db.execute("INSERT INTO ancestors VALUES (?, ?, ?)", (trace_id, node, now))
        )

    async def ancestors(self) -> list[bytes]:
        """Return the nodes of ancestors kept by an earlier process."""
        return await self._database.run(
            lambda db: [node for (node,) in db.execute("SELECT node FROM ancestors")]
        )

    async def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """
        Run a job on the tables of the judge's memory, in one transaction.

        Raises:
            StorageFailed: The disk refused; nothing of the job was kept.
        """
        return await self._database.run(job)

    async def prune(self) -> None:
        """Forget what is older, or more, than is worth remembering."""
        now = self._now()
        await self._database.run(lambda db: prune(db, now, self._memory))

    def _now(self) -> float:
        """Wall-clock time as it was at the start, and what has gone by: no jump ages anything."""
        return self._started_s + self._clock.monotonic()

    def _shortage(self) -> str | None:
        return shortage(self._folder, self._database.spare_bytes)

    def _want_room(self) -> None:
        if short := self._shortage():
            raise StorageFailed(short)

    def _count(self, outgoing: Sequence[Outgoing]) -> None:
        for one in outgoing:
            self.statistics.count_queued(one.kind, one.spans, len(one.request))
