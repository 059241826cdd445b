"""
Measure what it costs that an answer waits for the disk.

Retrievals a second into the hold, and how long each waits: one at a time, many at once, many with a
commit each, many without a flush. Those that wait at the same time share one commit, and one flush.
The folder is in the working directory, for /tmp may be memory.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seer_otel.clock import SystemClock
from seer_otel.evaluator.hold import database
from seer_otel.evaluator.hold.entries import Held, Key
from seer_otel.evaluator.hold.store import Store

SIZE = 16 * 1024
"""Bytes of a retrieval: some passages."""
COUNT = 2_000
CLIENTS = (1, 8, 64, 256)


@dataclass(frozen=True)
class Row:
    """What one way of writing took."""

    name: str
    per_s: float
    median_ms: float
    worst_ms: float
    """Of a hundred, all but the slowest."""


def main() -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
        flush_ms = _flush_ms(Path(folder) / "flushed")
        rows = [_row(Path(folder), clients) for clients in CLIENTS]
        alone = _row(Path(folder), CLIENTS[-1], name="256 at once, a commit each", group=1)
        unsafe = _row(Path(folder), CLIENTS[-1], name="256 at once, no flush", flushed=False)
    print(f"a flush of {SIZE // 1024} KiB takes {flush_ms:.2f} ms here (median)\n")
    print(f"{'':32}{'retrievals/s':>14}{'median':>12}{'99 of 100':>12}")
    for row in (*rows, alone, unsafe):
        print(f"{row.name:32}{row.per_s:14,.0f}{row.median_ms:9.1f} ms{row.worst_ms:9.1f} ms")
    together = rows[-1].per_s
    print("\nhow many times as many")
    for comparison, times in (
        ("256 at once, against one at a time", together / rows[0].per_s),
        ("one commit for many, against a commit each", together / alone.per_s),
        ("no flush at all, against a flush a commit", unsafe.per_s / together),
    ):
        print(f"{comparison:46}{times:5.1f}")


def _row(
    folder: Path, clients: int, *, name: str | None = None, group: int = 256, flushed: bool = True
) -> Row:
    with tempfile.TemporaryDirectory(dir=folder) as data:
        took_s, waits_s = asyncio.run(_fill(Path(data), clients, group, flushed))
    waits_s.sort()
    return Row(
        name or f"{clients} at once",
        COUNT / took_s,
        statistics.median(waits_s) * 1000,
        waits_s[int(len(waits_s) * 0.99)] * 1000,
    )


async def _fill(folder: Path, clients: int, group: int, flushed: bool) -> tuple[float, list[float]]:
    """Return the seconds for all, and those that each waited."""
    database.MAX_GROUP = group
    store = Store(folder, SystemClock())
    if not flushed:
        await _outside_a_transaction(store, "PRAGMA synchronous=OFF")
    request, numbers, waits_s = os.urandom(SIZE), iter(range(1, COUNT + 1)), list[float]()

    async def client() -> None:
        for number in numbers:
            key = Key(b"t" * 16, number.to_bytes(8, "big"))
            began = time.perf_counter()
            await store.hold([Held(key, request, "pipeline", 0.0)])
            waits_s.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    took_s = time.perf_counter() - began
    await store.aclose()
    return took_s, waits_s


async def _outside_a_transaction(store: Store, statement: str) -> None:
    connection = await store.run(lambda db: db)
    await asyncio.to_thread(connection.execute, statement)


def _flush_ms(file: Path) -> float:
    return statistics.median(_timed(_append(file)) for _ in range(50)) * 1000


def _append(file: Path) -> Callable[[], None]:
    content = os.urandom(SIZE)

    def append() -> None:
        with file.open("ab") as stream:
            stream.write(content)
            stream.flush()
            os.fdatasync(stream.fileno())

    return append


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
