"""
SQLite in a thread of its own, with group commit.

Jobs are functions of the connection. The thread takes all that wait, runs each in a savepoint and
commits them together: one flush of the disk answers many callers. A job's result is handed out
only after its commit, so whoever has an answer has it on stable storage. Where the disk refuses a
group, each of its jobs is tried alone: what makes room is not held up by what finds none.
"""

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from seer_otel.errors import ConfigError, StorageFailed

MAX_GROUP = 256
"""Jobs in one commit at most; bounds the time that the first of them waits."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS held (
    trace_id BLOB NOT NULL,
    span_id BLOB NOT NULL,
    request BLOB NOT NULL,      -- export request with this one span, as it came
    origin TEXT NOT NULL,       -- pipeline, copy, event; left: its carrier is due
    received REAL NOT NULL,     -- wall clock, seconds
    PRIMARY KEY (trace_id, span_id)
);
CREATE TABLE IF NOT EXISTS outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request BLOB NOT NULL,      -- export request, sent with the same bytes at every attempt
    spans INTEGER NOT NULL,
    kind TEXT NOT NULL          -- retrieval, plain, carrier
);
CREATE TABLE IF NOT EXISTS seen (
    trace_id BLOB NOT NULL,
    span_id BLOB NOT NULL,
    forwarded INTEGER NOT NULL, -- 0: judged only, the span itself has not passed
    at REAL NOT NULL,
    PRIMARY KEY (trace_id, span_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS seen_at ON seen (at);
CREATE TABLE IF NOT EXISTS ancestors (
    trace_id BLOB NOT NULL,
    node BLOB NOT NULL,         -- JSON of a dialects.trace.Node without a reading
    at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS ancestors_trace ON ancestors (trace_id);
CREATE TABLE IF NOT EXISTS requirements (
    query BLOB NOT NULL,        -- SHA-256
    judge TEXT NOT NULL,        -- name and revision
    texts TEXT NOT NULL,        -- JSON array
    at REAL NOT NULL,
    PRIMARY KEY (query, judge)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    question BLOB NOT NULL,     -- SHA-256
    citations TEXT NOT NULL,    -- JSON object of arrays, by requirement
    unsure TEXT NOT NULL,       -- JSON array
    at REAL NOT NULL,
    PRIMARY KEY (question)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_at ON answers (at);
CREATE TABLE IF NOT EXISTS spending (
    day TEXT NOT NULL,          -- YYYY-MM-DD, UTC
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost REAL NOT NULL,
    PRIMARY KEY (day)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    record_id TEXT PRIMARY KEY,
    record TEXT NOT NULL,       -- JSON
    at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS records_at ON records (at);
"""

VERSION = 1

PAGE_BYTES = 4096
LOG_BYTES = 8 * 1024 * 1024
"""Size to which the write-ahead log shrinks again after a burst."""
CLOSED_WITHIN_S = 10.0
"""Longest wait for a disk that hangs, at the end."""

T = TypeVar("T")


class _Job(NamedTuple):
    run: Callable[[sqlite3.Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Database:
    """One SQLite file, opened by one thread, WAL and synchronous=FULL."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._connection = self._connect()
        self._since_s: float | None = None
        self._spare_pages = 0
        self.trouble: str | None = None
        """What the disk refused the last write with; None once it takes one again."""
        self._thread = threading.Thread(target=self._work, name="seer-hold", daemon=True)
        self._thread.start()

    def _connect(self) -> sqlite3.Connection:
        with contextlib.ExitStack() as stack:
            try:
                connection = sqlite3.connect(
                    self._file, isolation_level=None, check_same_thread=False, timeout=0
                )
                stack.callback(connection.close)
                connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
                connection.execute(f"PRAGMA journal_size_limit={LOG_BYTES}")
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                if version > VERSION:
                    raise ConfigError(
                        f"{self._file} was written by a later release (format {version}); "
                        "upgrade, or give another --data-dir"
                    )
                connection.executescript(SCHEMA)
                connection.execute(f"PRAGMA user_version={VERSION}")
            except sqlite3.Error as error:
                raise ConfigError(
                    f"{self._file} cannot be opened ({error}); "
                    "mend the folder's permissions or disk, or give another --data-dir"
                ) from None
            stack.pop_all()
        return connection

    async def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """
        Run a job and return its result once it is on stable storage.

        Cancelling the caller does not undo the job.

        Raises:
            StorageFailed: The disk refused the write; nothing of the job was kept.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(job, future, loop))
        return await future

    @property
    def spare_bytes(self) -> int:
        """Return how much of the file is free for what comes; it does not shrink."""
        return self._spare_pages * PAGE_BYTES

    @property
    def busy_s(self) -> float:
        """For how many seconds the write under way has been waiting for the disk."""
        since_s = self._since_s
        return 0.0 if since_s is None else time.monotonic() - since_s

    async def aclose(self) -> None:
        """Finish the jobs that wait and close the file; a disk that hangs is left behind."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join, CLOSED_WITHIN_S)
        if not self._thread.is_alive():
            self._connection.close()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._since_s = time.monotonic()
            group = [job]
            with contextlib.suppress(queue.Empty):
                while len(group) < MAX_GROUP:
                    following = self._jobs.get_nowait()
                    if following is None:
                        self._jobs.put(None)
                        break
                    group.append(following)
            self._commit(group)
            with contextlib.suppress(sqlite3.Error):
                (self._spare_pages,) = self._connection.execute("PRAGMA freelist_count").fetchone()
            self._since_s = None

    def _commit(self, group: list[_Job]) -> None:
        done: list[tuple[_Job, Any, Exception | None]] = []
        changes = self._connection.total_changes
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for job in group:
                self._connection.execute("SAVEPOINT job")
                try:
                    done.append((job, job.run(self._connection), None))
                except Exception as error:
                    if not self._connection.in_transaction:
                        raise  # SQLite has rolled all back
                    self._connection.execute("ROLLBACK TO job")
                    done.append((job, None, error))
                self._connection.execute("RELEASE job")
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            if len(group) > 1:
                for job in group:
                    self._commit([job])
                return
            done = [(group[0], None, error)]
        failed = next((str(e) for _, _, e in done if isinstance(e, sqlite3.Error)), None)
        if failed is not None or self._connection.total_changes != changes:
            self.trouble = failed
        for job, result, failure in done:
            with contextlib.suppress(RuntimeError):  # the caller's loop may be gone
                job.loop.call_soon_threadsafe(_resolve, job.future, result, failure)


def _resolve(future: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if future.done():
        return
    if isinstance(error, sqlite3.Error):
        future.set_exception(StorageFailed(f"the hold refused a write: {error}"))
    elif error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
