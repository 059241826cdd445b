"""What is remembered is bounded: by age, and by number."""

import sqlite3
from dataclasses import dataclass

RECORDS_AT_MOST = 100_000
REQUIREMENTS_AT_MOST = 100_000
ANSWERS_AT_MOST = 100_000
ANCESTORS_FOR_S = 3600


@dataclass(frozen=True, slots=True)
class Memory:
    """How long, and how many, keys of spans that have left are remembered."""

    seconds: float = 24 * 3600
    spans: int = 1_000_000


def prune(db: sqlite3.Connection, now: float, memory: Memory) -> None:
    """Forget what is older, or more, than is worth remembering."""
    db.execute("DELETE FROM seen WHERE at < ?", (now - memory.seconds,))
    db.execute("DELETE FROM ancestors WHERE at < ?", (now - ANCESTORS_FOR_S,))
    for table, most in (
        ("seen", memory.spans),
        ("records", RECORDS_AT_MOST),
        ("requirements", REQUIREMENTS_AT_MOST),
        ("answers", ANSWERS_AT_MOST),
    ):
        cut = db.execute(
            f"SELECT at FROM {table} ORDER BY at DESC LIMIT 1 OFFSET ?", (most,)
        ).fetchone()
        if cut is not None:
            db.execute(f"DELETE FROM {table} WHERE at <= ?", cut)
