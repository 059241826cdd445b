"""A disk that refuses writes, and can be read."""

import sqlite3

from seer_otel.evaluator.hold.store import Store


async def refuse_writes(store: Store) -> None:
    """Let the hold be one that is read only."""
    await store.run(lambda db: db.set_authorizer(_authorize))


async def take_writes(store: Store) -> None:
    """Let it be written again."""
    await store.run(lambda db: db.set_authorizer(None))


def _authorize(action: int, *_: str | None) -> int:
    writes = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)
    return sqlite3.SQLITE_DENY if action in writes else sqlite3.SQLITE_OK
