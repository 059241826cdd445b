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
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from seer_otel.clock import Clock
from seer_otel.errors import ConfigError
from seer_otel.evaluator.hold.database import Database, T
from seer_otel.evaluator.hold.entries import (
    Arrived,
    Held,
    Key,
    Kind,
    Outgoing,
    Queued,
    Release,
    Statistics,
)
from seer_otel.evaluator.hold.folder import lock
from seer_otel.evaluator.hold.pruning import prune


class Store:
    """The hold: one folder, one process."""

    def __init__(self, folder: Path, clock: Clock, *, forwarding: bool = True) -> None:
        """
        Open, or make, the folder. Without `forwarding` nothing is put into the outbox.

        Raises:
            ConfigError: Another process uses it, or it cannot be written.
        """
        self._clock = clock
        self._forwarding = forwarding
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

    async def recover(self) -> list[Held]:
        """Return what an earlier process left in the hold, oldest first, and count it."""

        def job(db: sqlite3.Connection) -> tuple[list[Held], Statistics]:
            rows = db.execute(
                "SELECT trace_id, span_id, request, origin, received FROM held ORDER BY received"
            )
            held = [Held(Key(t, s), r, o, at) for t, s, r, o, at in rows]
            statistics = Statistics(
                held_spans=sum(h.origin != "left" for h in held),
                held_bytes=sum(len(h.request) for h in held),
            )
            for kind, spans, size in db.execute(
                "SELECT kind, SUM(spans), SUM(LENGTH(request)) FROM outbox GROUP BY kind"
            ):
                _count_queued(statistics, kind, spans, size)
            return held, statistics

        held, self.statistics = await self._database.run(job)
        return held

    async def hold(self, arrivals: Sequence[Held]) -> list[Arrived]:
        """Store arrivals; return, for each, what it was."""

        def job(db: sqlite3.Connection) -> list[Arrived]:
            return [_arrive(db, arrival, forwarding=self._forwarding) for arrival in arrivals]

        outcomes = await self._database.run(job)
        for arrival, outcome in zip(arrivals, outcomes, strict=True):
            if outcome == "held":
                self.statistics.held_spans += 1
                self.statistics.held_bytes += len(arrival.request)
            elif outcome == "queued":
                self._count([Outgoing(arrival.request, 1, "retrieval")])
        return outcomes

    async def release(self, key: Key, build: Callable[[Held], Release]) -> Held | None:
        """
        Move a retrieval on, in one transaction.

        `build` is called in the hold's thread with the entry as it then stands. Returns that
        entry, or None where it was gone already.
        """
        now = self._clock.now()

        def job(db: sqlite3.Connection) -> tuple[Held, Release] | None:
            row = db.execute(
                "SELECT request, origin, received FROM held WHERE trace_id=? AND span_id=?", key
            ).fetchone()
            if row is None:
                return None
            held = Held(key, *row)
            release = build(held)
            if self._forwarding:
                _queue(db, release.outgoing)
            if release.carrier_is_due:
                db.execute("UPDATE held SET origin='left' WHERE trace_id=? AND span_id=?", key)
            else:
                db.execute("DELETE FROM held WHERE trace_id=? AND span_id=?", key)
            db.execute(
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
                (*key, held.origin != "copy", now),
            )
            if release.record is not None:
                _record(db, *release.record, now)
            return held, release

        done = await self._database.run(job)
        if done is None:
            return None
        held, release = done
        if self._forwarding:
            self._count(release.outgoing)
        if held.origin != "left":
            self.statistics.held_spans -= 1
        if not release.carrier_is_due:
            self.statistics.held_bytes = max(0, self.statistics.held_bytes - len(held.request))
        return held

    async def queue(self, outgoing: Outgoing) -> int:
        """Put something into the outbox; return the number of its entry."""
        ids = await self._database.run(lambda db: _queue(db, [outgoing]))
        self._count([outgoing])
        return ids[0]

    async def waiting(self, max_bytes: int, besides: Collection[int]) -> list[Queued]:
        """Return the oldest entries of the outbox up to a size (at least one), less some."""

        def job(db: sqlite3.Connection) -> list[Queued]:
            batch: list[Queued] = []
            size = 0
            for number, request, spans, kind in db.execute(
                "SELECT id, request, spans, kind FROM outbox ORDER BY id"
            ):
                if number in besides:
                    continue
                size += len(request)
                if batch and size > max_bytes:
                    break
                batch.append(Queued(number, Outgoing(request, spans, kind)))
            return batch

        return await self._database.run(job)

    async def sent(self, entries: Sequence[Queued]) -> None:
        """Forget entries of the outbox that the next hop has, or that are dead letters."""
        await self._database.run(
            lambda db: db.executemany("DELETE FROM outbox WHERE id=?", [(e.id,) for e in entries])
        )
        for entry in entries:
            outgoing = entry.outgoing
            _count_queued(self.statistics, outgoing.kind, -outgoing.spans, -len(outgoing.request))

    async def split(self, entry: Queued, parts: Sequence[Outgoing]) -> list[Queued]:
        """Replace an entry of the outbox by its parts."""

        def job(db: sqlite3.Connection) -> list[int]:
            db.execute("DELETE FROM outbox WHERE id=?", (entry.id,))
            return _queue(db, parts)

        ids = await self._database.run(job)
        whole = entry.outgoing
        _count_queued(self.statistics, whole.kind, -whole.spans, -len(whole.request))
        self._count(parts)
        return [Queued(number, part) for number, part in zip(ids, parts, strict=True)]

    async def keep_record(self, record_id: str, record: str) -> None:
        """Keep the JSON of a result under its record id."""
        now = self._clock.now()
        await self._database.run(lambda db: _record(db, record_id, record, now))

    async def record(self, record_id: str) -> str | None:
        """Return the JSON kept under a record id."""
        return await self._database.run(
            lambda db: _one(
                db.execute("SELECT record FROM records WHERE record_id=?", (record_id,))
            )
        )

    async def holds(self, record_id: str) -> bool:
        """Return whether a retrieval is still in the hold."""
        key = Key.of(record_id)
        return await self._database.run(
            lambda db: (
                db.execute("SELECT 1 FROM held WHERE trace_id=? AND span_id=?", key).fetchone()
                is not None
            )
        )

    async def keep_ancestor(self, trace_id: bytes, node: bytes) -> None:
        """Keep the node of an ancestor for retrievals that are held (best effort)."""
        now = self._clock.now()
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
        now = self._clock.now()
        await self._database.run(lambda db: prune(db, now))

    def _count(self, outgoing: Sequence[Outgoing]) -> None:
        for one in outgoing:
            _count_queued(self.statistics, one.kind, one.spans, len(one.request))


def _arrive(db: sqlite3.Connection, arrival: Held, *, forwarding: bool) -> Arrived:
    origin = _one(db.execute("SELECT origin FROM held WHERE trace_id=? AND span_id=?", arrival.key))
    if origin == "copy" and arrival.origin == "pipeline":
        db.execute(
            "UPDATE held SET origin='pipeline', request=? WHERE trace_id=? AND span_id=?",
            (arrival.request, *arrival.key),
        )
        return "upgraded"
    if origin is not None:
        return "duplicate"
    forwarded = _one(
        db.execute("SELECT forwarded FROM seen WHERE trace_id=? AND span_id=?", arrival.key)
    )
    if forwarded == 0 and arrival.origin == "pipeline" and forwarding:
        db.execute("UPDATE seen SET forwarded=1 WHERE trace_id=? AND span_id=?", arrival.key)
        _queue(db, [Outgoing(arrival.request, 1, "retrieval")])
        return "queued"
    if forwarded is not None:
        return "duplicate"
    db.execute(
        "INSERT INTO held VALUES (?, ?, ?, ?, ?)",
        (*arrival.key, arrival.request, arrival.origin, arrival.received),
    )
    return "held"


def _queue(db: sqlite3.Connection, outgoing: Sequence[Outgoing]) -> list[int]:
    ids = []
    for one in outgoing:
        cursor = db.execute(
            "INSERT INTO outbox (request, spans, kind) VALUES (?, ?, ?)",
            (one.request, one.spans, one.kind),
        )
        ids.append(int(cursor.lastrowid or 0))
    return ids


def _record(db: sqlite3.Connection, record_id: str, record: str, at: float) -> None:
    db.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", (record_id, record, at))


def _count_queued(statistics: Statistics, kind: Kind, spans: int, size: int) -> None:
    if kind == "carrier":
        statistics.queued_carriers += spans
    else:
        statistics.queued_spans += spans
    statistics.queued_bytes += size


def _one(cursor: sqlite3.Cursor) -> Any:
    row = cursor.fetchone()
    return None if row is None else row[0]
