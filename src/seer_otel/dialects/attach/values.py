"""Attribute values within what trace stores keep whole."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue

Value = str | bool | int | float | tuple[str, ...] | tuple[int, ...]

LIMIT: Final = 2_047
"""Bytes an attribute value may take. Tempo cuts what reaches 2,048, also on events."""

CUT: Final = "…"
"""Ends a text that was cut."""

_ENTRY_LIMIT: Final = 400
"""Bytes of text in one entry of a list that is too long, so that each leaves room for others."""

_FRAME: Final = 4
"""Bytes around the entries of a list."""

_ROOM_FOR_REST: Final = 32
"""Bytes kept free in a list for the entry that says how many more there are."""


def key_values(attributes: Mapping[str, Value | None]) -> list[KeyValue]:
    """Encode attributes; one that is None, NaN or infinite is absent."""
    return [
        KeyValue(key=key, value=_any_value(value))
        for key, value in attributes.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    ]


def cut(text: str, limit: int = LIMIT) -> str:
    """
    Return a text of at most `limit` bytes of UTF-8, cut between two characters and marked.

    What UTF-8 cannot say (half a surrogate pair) becomes a question mark.
    """
    encoded = text.encode("utf-8", "replace")
    if len(encoded) > limit:
        encoded = encoded[: limit - len(CUT.encode())]
        return encoded.decode("utf-8", "ignore") + CUT
    return encoded.decode()


def shorten(texts: Sequence[str]) -> tuple[str, ...]:
    """
    Return the texts whole where they fit together, else cut.

    Where they still don't fit, the last entry says how many more there are.
    """
    for limit in (LIMIT, _ENTRY_LIMIT):
        entries = [cut(text, limit) for text in texts]
        if _fitting(entries, LIMIT) == len(entries):
            return tuple(entries)
    fitting = _fitting(entries, LIMIT - _ROOM_FOR_REST)
    return (*entries[:fitting], f"… {len(entries) - fitting} more")


def _any_value(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=cut(value))
    texts = [entry for entry in value if isinstance(entry, str)]
    numbers = [entry for entry in value if isinstance(entry, int)]
    entries = shorten(texts) if texts else numbers[: _fitting(numbers, LIMIT)]
    return AnyValue(array_value=ArrayValue(values=map(_any_value, entries)))


def _fitting(entries: Sequence[str | int], limit: int) -> int:
    """Count the entries that fit into a list of at most `limit` bytes."""
    size = _FRAME
    for count, entry in enumerate(entries):
        size += _size(entry)
        if size > limit:
            return count
    return len(entries)


def _size(entry: str | int) -> int:
    """Return the bytes an entry takes in a list, as OTLP or as the JSON that some stores make."""
    as_json = json.dumps(entry, ensure_ascii=False).encode()
    return max(len(as_json) + len(","), ArrayValue(values=[_any_value(entry)]).ByteSize())
