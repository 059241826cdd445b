"""A retrieval event, as a JSON object of a file or of an HTTP body, to a retrieval."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from seer_otel.dialects import passages
from seer_otel.dialects.composition import ground_truth
from seer_otel.dialects.passages import Documents
from seer_otel.dialects.values import flag, identifier, json_object, number, parse_json, text
from seer_otel.errors import Undecodable
from seer_otel.retrieval import Retrieval

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_YEAR: Final = 2261
"""Whose nanoseconds fit into 63 bits."""
_KINDS: Final = {
    bool: "a bool",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def retrieval_from_event(event: Mapping[str, Any]) -> Retrieval:
    """
    Read one event; `context` is all that it must have, and what it has beyond its fields is left.

    A context is a list, or a JSON text of one, of texts or of objects with a text and perhaps
    `id`, `source`, `score`, `distance`, `rerank_score`, `rank`, `metadata`. Without a task and a
    subquery it is a retrieval that cannot be judged, and no error. `id` serves where there is no
    `record_id`.

    Raises:
        Undecodable: A field is not what it should be; the message says which, and what would do.
    """
    task, subquery = _text(event, "task"), _text(event, "subquery")
    documents, at = _documents(event), time_ns(event.get("created_at"))
    return Retrieval(
        context=documents.passages,
        task=task,
        subquery=subquery,
        task_source="seer.task" if task else "query" if subquery else None,
        is_final_context=_flag(event, "is_final_context"),
        ground_truth=ground_truth(_object(event, "ground_truth")),
        metadata=_object(event, "metadata"),
        conversation_id=identifier(event.get("conversation_id")),
        expected_outcome=_text(event, "expected_outcome"),
        passages_dropped=documents.left_out,
        trace_id=_hex(event, "trace_id", 32),
        span_id=_hex(event, "span_id", 16),
        parent_span_id=_hex(event, "parent_span_id", 16),
        span_name=_text(event, "span_name"),
        record_id=identifier(event.get("record_id")) or identifier(event.get("id")),
        dialect="seer",
        start_ns=at,
        end_ns=at,
    )


def _documents(event: Mapping[str, Any]) -> Documents:
    context = event.get("context")
    if context is None:
        raise Undecodable("context is missing: give a list of passages, [] where nothing was found")
    if isinstance(context, str):
        try:
            context = parse_json(context)
        except ValueError:
            raise _wrong("context", context, "a list of passages, or a JSON text of one") from None
    if not isinstance(context, list | tuple):
        raise _wrong("context", context, "a list of passages")
    for position, item in enumerate(context):
        if not isinstance(item, str | Mapping):
            raise _wrong(f"context[{position}]", item, 'a text or an object like {"text": …}')
    return passages.listed(context, "text")


def _text(event: Mapping[str, Any], name: str) -> str | None:
    value = event.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(name, value, "a text")
    return text(value)


def _flag(event: Mapping[str, Any], name: str) -> bool:
    value = event.get(name)
    if value is not None and flag(value) is None:
        raise _wrong(name, value, "true or false")
    return flag(value) is True


def _object(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = event.get(name)
    found = json_object(value)
    if value and not found:
        raise _wrong(name, value, "an object")
    return found


def _hex(event: Mapping[str, Any], name: str, digits: int) -> str | None:
    value = event.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", value):
        raise _wrong(name, value, f"{digits} hexadecimal digits")
    return value.lower()


def time_ns(value: object) -> int:
    """
    Return a time in nanoseconds since 1970; 0 where there is none.

    Raises:
        Undecodable: It is neither a date nor seconds, or is later than spans can say.
    """
    if value is None:
        return 0
    seconds = number(value)
    try:
        if seconds is not None:
            at = _EPOCH + timedelta(seconds=seconds)
        else:
            at = datetime.fromisoformat(str(value))
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        if at.year > _LAST_YEAR:
            raise OverflowError
    except (ValueError, OverflowError):
        expected = "a time like 2026-11-29T12:00:00Z, or seconds since 1970"
        raise _wrong("created_at", value, expected) from None
    return max(0, (at - _EPOCH) // timedelta(microseconds=1)) * 1_000


def _wrong(name: str, value: object, expected: str) -> Undecodable:
    kind = _KINDS.get(type(value), "something else")
    return Undecodable(f"{name} is {kind}; expected {expected}")
