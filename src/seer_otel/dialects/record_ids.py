"""Ids of records: a span's is made of its ids, a logged event brings its own."""

import re
import secrets
import time
from typing import Final

_PREFIX: Final = "rec_"
_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Base 32 of Crockford, as ULIDs are written."""
_SPAN: Final = re.compile(r"([0-9a-f]{32})-([0-9a-f]{16})")


def new() -> str:
    """Return an id for an event: `rec_` and a ULID, so that ids sort by the time they were made."""
    value = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | secrets.randbits(80)
    return _PREFIX + "".join(_DIGITS[value >> shift & 31] for shift in range(125, -1, -5))


def of_span(trace_id: str, span_id: str) -> str:
    """Return the record id of a span, `<trace id>-<span id>`."""
    return f"{trace_id}-{span_id}"


def ids_of_span(record_id: str) -> tuple[str, str] | None:
    """Return the trace id and span id in the record id of a span; None for any other."""
    match = _SPAN.fullmatch(record_id)
    return None if match is None else (match[1], match[2])
