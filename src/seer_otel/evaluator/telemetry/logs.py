"""
The log of the process: lines that cannot be forged, without secrets, without what spans hold.

Exceptions are told by their type and where they were raised. Their own words may quote a passage.
"""

import logging
import re
import sys
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import Final

from seer_otel.config.secrets import MASK

FORMAT: Final = "%(asctime)s %(levelname)s %(message)s"

_SHORT: Final = 4
"""Characters of a secret up to which it is not looked for: it would be in every other word."""
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def begin(secrets: Iterable[str]) -> None:
    """Write the log of this process to the standard error, without these secrets."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Discreet(secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.raiseExceptions = False  # they would print what could not be formatted
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # A line for each request that is none: whoever sends them would fill the disk.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)


class Discreet(logging.Formatter):
    """Formats records so that nothing is told that should not be."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__(FORMAT)
        longest_first = sorted({each for each in secrets if len(each) > _SHORT}, key=len)[::-1]
        self._secrets = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as text, secrets masked."""
        record.exc_text = None  # another handler's
        return self._secrets.sub(MASK, super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record: one, whatever is in it."""
        return _CONTROL.sub(lambda found: repr(found[0])[1:-1], super().formatMessage(record))

    def formatException(self, ei: _Raised) -> str:
        """Return where an exception was raised, and what is known of its causes."""
        return "\n".join(_told(ei[1])) if ei[1] is not None else ""


def _told(error: BaseException) -> list[str]:
    told: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        frames = "".join(traceback.format_tb(current.__traceback__)).rstrip()
        told += [frames, f"{type(current).__name__} (its words are left out)"]
        following = current.__cause__ or current.__context__
        if following is not None:
            told.append("which was raised over:")
        current = following
    return told
