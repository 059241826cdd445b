"""What is remembered is bounded: by age, and by number."""

import sqlite3

SEEN_FOR_S = 24 * 3600
SEEN_AT_MOST = 1_000_000
RECORDS_AT_MOST = 100_000
REQUIREMENTS_AT_MOST = 100_000
ANSWERS_AT_MOST = 100_000
ANCESTORS_FOR_S = 3600


def prune(db: sqlite3.Connection, now: float) -> None:
    """Forget what is older, or more, than is worth remembering; `now` is wall-clock time."""
    db.execute("DELETE FROM seen WHERE at < ?", (now - SEEN_FOR_S,))
    db.execute("DELETE FROM ancestors WHERE at < ?", (now - ANCESTORS_FOR_S,))
    for table, most in (
        ("seen", SEEN_AT_MOST),
        ("records", RECORDS_AT_MOST),
        ("requirements", REQUIREMENTS_AT_MOST),
        ("answers", ANSWERS_AT_MOST),
    ):
        cut = db.execute(
            f"SELECT at FROM {table} ORDER BY at DESC LIMIT 1 OFFSET ?", (most,)
        ).fetchone()
        if cut is not None:
            db.execute(f"DELETE FROM {table} WHERE at <= ?", cut)
