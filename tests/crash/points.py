"""
The service, killed from within at one point of a span's life: `python -m tests.crash.points serve`.

`SEER_CRASH_AT` names the point, `SEER_CRASH_AFTER` how many spans pass it unharmed.
"""

import os
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from seer_otel.cli import main
from seer_otel.evaluator.forward.dead_letters import DeadLetters
from seer_otel.evaluator.forward.next_hop import GrpcNextHop
from seer_otel.evaluator.hold import database
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.intake import Intake
from seer_otel.evaluator.work.exits import Exits

BEFORE: dict[str, tuple[type, str]] = {
    "accept": (Intake, "_traces"),
    "hold": (Store, "hold"),
    "verdict": (Exits, "scored"),
    "release": (Store, "release"),
    "queue": (Store, "queue"),
    "send": (GrpcNextHop, "send"),
    "forget": (Store, "sent"),
    "letter": (DeadLetters, "keep"),
}
AFTER: dict[str, tuple[type, str]] = {
    "held": (Store, "hold"),
    "answer": (Intake, "_traces"),
    "released": (Store, "release"),
    "queued": (Store, "queue"),
    "sent": (GrpcNextHop, "send"),
    "forgotten": (Store, "sent"),
    "split": (Store, "split"),
    "letter written": (DeadLetters, "keep"),
}
STATEMENTS = {"commit": "COMMIT", "write": "INSERT INTO held"}
"""Before a statement; the commit also after it, in the hold's own thread."""
POINTS = (*BEFORE, *AFTER, *STATEMENTS, "committed")


class Crash:
    """Ends the process without another word."""

    def __init__(self, unharmed: int) -> None:
        self._unharmed = unharmed

    def __call__(self) -> None:
        self._unharmed -= 1
        if self._unharmed < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def install(point: str, crash: Crash) -> None:
    """Put a crash at a point."""
    if point in BEFORE:
        owner, name = BEFORE[point]
        setattr(owner, name, _before(getattr(owner, name), crash))
    elif point in AFTER:
        owner, name = AFTER[point]
        setattr(owner, name, _after(getattr(owner, name), crash))
    else:
        _in_statements(point, crash)


def _before(function: Callable[..., Awaitable[Any]], crash: Crash) -> Callable[..., Any]:
    async def crashing(*given: Any, **named: Any) -> Any:
        crash()
        return await function(*given, **named)

    return crashing


def _after(function: Callable[..., Awaitable[Any]], crash: Crash) -> Callable[..., Any]:
    async def crashing(*given: Any, **named: Any) -> Any:
        result = await function(*given, **named)
        crash()
        return result

    return crashing


def _in_statements(point: str, crash: Crash) -> None:
    statement = STATEMENTS.get(point, "COMMIT")

    class Connection(sqlite3.Connection):
        changed = 0

        def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
            found = sql.startswith(statement)
            writes = self.total_changes > self.changed or statement != "COMMIT"
            if found and writes and point != "committed":
                crash()
            cursor = super().execute(sql, *given)
            if found and writes:
                self.changed = self.total_changes
                if point == "committed":
                    crash()
            return cursor

    database.sqlite3.connect = partial(  # type: ignore[attr-defined]
        sqlite3.connect, factory=Connection
    )


if __name__ == "__main__":
    install(os.environ["SEER_CRASH_AT"], Crash(int(os.environ["SEER_CRASH_AFTER"])))
    sys.exit(main())
