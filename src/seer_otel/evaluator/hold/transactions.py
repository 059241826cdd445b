"""The steps in a span's life as changes of the tables, whole by the caller's transaction."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

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


def arrive(db: sqlite3.Connection, arrival: Held, *, forwarding: bool) -> Arrived:
    """Put a retrieval into the hold, unless it is known."""
    origin = first(
        db.execute("SELECT origin FROM held WHERE trace_id=? AND span_id=?", arrival.key)
    )
    if origin == "copy" and arrival.origin == "pipeline":
        db.execute(
            "UPDATE held SET origin='pipeline', request=? WHERE trace_id=? AND span_id=?",
            (arrival.request, *arrival.key),
        )
        return "upgraded"
    if origin is not None:
        return "duplicate"
    forwarded = first(
        db.execute("SELECT forwarded FROM seen WHERE trace_id=? AND span_id=?", arrival.key)
    )
    if forwarded == 0 and arrival.origin == "pipeline" and forwarding:
        db.execute("UPDATE seen SET forwarded=1 WHERE trace_id=? AND span_id=?", arrival.key)
        queue(db, [arrival.passing])
        return "queued"
    if forwarded is not None:
        return "duplicate"
    db.execute(
        "INSERT INTO held VALUES (?, ?, ?, ?, ?)",
        (*arrival.key, arrival.request, arrival.origin, arrival.received),
    )
    return "held"


def leave(
    db: sqlite3.Connection,
    key: Key,
    build: Callable[[Held], Release],
    at: float,
    *,
    forwarding: bool,
) -> tuple[Held, Release] | None:
    """Move a retrieval on; return what it was, and how it left. None where it is not there."""
    row = db.execute(
        "SELECT request, origin, received FROM held WHERE trace_id=? AND span_id=?", key
    ).fetchone()
    if row is None:
        return None
    held = Held(key, *row)
    release = build(held)
    if forwarding:
        queue(db, release.outgoing)
    if release.carrier_is_due:
        db.execute("UPDATE held SET origin='left' WHERE trace_id=? AND span_id=?", key)
    else:
        db.execute("DELETE FROM held WHERE trace_id=? AND span_id=?", key)
    db.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", (*key, held.origin != "copy", at))
    if release.record is not None:
        record(db, *release.record, at)
    return held, release


def queue(db: sqlite3.Connection, outgoing: Sequence[Outgoing]) -> list[int]:
    """Put requests into the outbox; return the numbers of their entries."""
    ids = []
    for one in outgoing:
        cursor = db.execute(
            "INSERT INTO outbox (request, spans, kind) VALUES (?, ?, ?)",
            (one.request, one.spans, one.kind),
        )
        ids.append(int(cursor.lastrowid or 0))
    return ids


def waiting(db: sqlite3.Connection) -> Iterator[Queued]:
    """Yield the entries of the outbox, the oldest first, each read when it is asked for."""
    for number, request, spans, kind in db.execute(
        "SELECT id, request, spans, kind FROM outbox ORDER BY id"
    ):
        yield Queued(number, Outgoing(request, spans, kind))


def forget(db: sqlite3.Connection, ids: Sequence[int]) -> list[tuple[Kind, int, int]]:
    """Delete entries of the outbox; return kind, spans and bytes of each that was there."""
    gone: list[tuple[Kind, int, int]] = []
    for number in ids:
        gone += db.execute(
            "DELETE FROM outbox WHERE id=? RETURNING kind, spans, LENGTH(request)", (number,)
        )
    return gone


def record(db: sqlite3.Connection, record_id: str, content: str, at: float) -> None:
    """Keep the JSON of a result under its record id."""
    db.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", (record_id, content, at))


def held_after(db: sqlite3.Connection, last: int, max_bytes: int) -> list[tuple[int, Held]]:
    """Return what came to the hold after an entry, each with its number; at least one."""
    page: list[tuple[int, Held]] = []
    size = 0
    for number, trace_id, span_id, *rest in db.execute(
        "SELECT rowid, trace_id, span_id, request, origin, received FROM held"
        " WHERE rowid > ? ORDER BY rowid",
        (last,),
    ):
        held = Held(Key(trace_id, span_id), *rest)
        size += len(held.request)
        if page and size > max_bytes:
            break
        page.append((number, held))
    return page


def sizes(db: sqlite3.Connection) -> Statistics:
    """Count what is in the hold and in the outbox."""
    # Sums of cases rather than groups: to group, SQLite would sort what it should not read.
    (held_spans, held_bytes), (spans, carriers, queued_bytes) = (
        db.execute(query).fetchone()
        for query in (
            "SELECT TOTAL(origin <> 'left'), TOTAL(LENGTH(request)) FROM held",
            "SELECT TOTAL(IIF(kind = 'carrier', 0, spans)), TOTAL(IIF(kind = 'carrier', spans, 0)),"
            " TOTAL(LENGTH(request)) FROM outbox",
        )
    )
    return Statistics(*map(int, (held_spans, held_bytes, spans, carriers, queued_bytes)))


def first(cursor: sqlite3.Cursor) -> Any:
    """Return the first value of the first row; None where there is none."""
    row = cursor.fetchone()
    return None if row is None else row[0]
