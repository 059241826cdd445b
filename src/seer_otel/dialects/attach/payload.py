"""
The documents on a retrieval span that goes on: kept, cut to their beginnings, or dropped.

This is the one case in which a span is rewritten. What is no document stays byte for byte, in its
order, and the span says what became of the rest.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel import semconv
from seer_otel.dialects.attach import wire
from seer_otel.dialects.attach.inline import append
from seer_otel.dialects.attach.values import CUT
from seer_otel.dialects.values import looks_like_json, parse_json

Payload = Literal["keep", "cut", "drop"]

CHARACTERS: Final = 100
"""Of each text that is cut."""

DOCUMENTS: Final = (
    semconv.CONTEXT,
    semconv.GEN_AI_DOCUMENTS,
    "retrieval.documents",
    "reranker.input_documents",
    "reranker.output_documents",
    "output.value",
    "gen_ai.completion",
    "gen_ai.output.messages",
    "gen_ai.task.output",
    "gen_ai.tool.call.result",
    "traceloop.entity.output",
    "haystack.component.output",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "ai.documents",
    "ai.toolCall.result",
    "ai.observability.call.return",
    "ai.observability.record_root.output",
    "ai.observability.retrieval.retrieved_contexts",
    "db.query.result.document",
    "db.query.result.metadata",
    "db.search.result.entity",
)
"""
Keys under which some instrumentation keeps what was retrieved, and those that begin so, up to a
dot. Whatever else holds one of the same texts is taken for a listing of them, too: the input of a
reranker, say.
"""

_BELOW: Final = tuple(f"{key}." for key in DOCUMENTS)
_QUESTIONS: Final = ("seer.", semconv.GEN_AI_QUERY)
"""Beginnings of keys that never hold a document."""

_TELLING: Final = 16
"""Characters of a text by which it is known again."""
_KNOWN: Final = 60
"""Characters of it that are compared."""
_MOST: Final = 50
"""Texts that are looked for."""

_ATTRIBUTES: Final = Span.ATTRIBUTES_FIELD_NUMBER
_EVENTS: Final = Span.EVENTS_FIELD_NUMBER
_OF_EVENT: Final = Span.Event.ATTRIBUTES_FIELD_NUMBER

_Change = Callable[[bytes], bytes | None]
"""From an attribute to what stands in its place; None: nothing does."""


def shrink(span: bytes, payload: Payload) -> bytes:
    """
    Return a serialized `Span` as it goes on.

    A span without documents, or one that cannot be read, goes on as it came.
    """
    if payload == "keep":
        return span
    try:
        changed = _each(span, _changing(payload, _texts(span)))
    except (DecodeError, ValueError):
        return span
    if changed == span:
        return span
    became = "cut" if payload == "cut" else "dropped"
    return append(changed, attributes={semconv.PAYLOAD: became})


def _changing(payload: Payload, texts: Sequence[str]) -> _Change:
    def change(raw: bytes) -> bytes | None:
        attribute = KeyValue.FromString(raw)
        if not _holds_documents(attribute, texts):
            return raw
        if payload == "drop":
            return None
        before = attribute.value.SerializeToString()
        _cut(attribute.value)
        unchanged = before == attribute.value.SerializeToString()
        return raw if unchanged else attribute.SerializeToString()

    return change


def _holds_documents(attribute: KeyValue, texts: Sequence[str]) -> bool:
    key = attribute.key
    if _is_of_documents(key):
        return True
    if key.startswith(_QUESTIONS):
        return False
    return any(text in leaf for leaf in _leaves(attribute.value) for text in texts)


def _is_of_documents(key: str) -> bool:
    return key in DOCUMENTS or key.startswith(_BELOW)


def _texts(span: bytes) -> list[str]:
    """Return the beginnings of the documents' texts, as they may be written elsewhere."""
    found: dict[str, None] = {}  # in their order, each once

    def look(raw: bytes) -> bytes:
        attribute = KeyValue.FromString(raw)
        if _is_of_documents(attribute.key):
            for leaf in _leaves(attribute.value):
                for text in _opened(leaf):
                    if len(text) >= _TELLING and len(found) < _MOST:
                        found[text[:_KNOWN]] = None
        return raw

    _each(span, look)
    forms = dict.fromkeys(found)
    for text in found:
        for ascii_only in (True, False):
            forms[json.dumps(text, ensure_ascii=ascii_only)[1:-1]] = None
    return list(forms)


def _each(span: bytes, change: _Change) -> bytes:
    """Change the attributes of a span and of its events."""

    def of_event(event: bytes) -> bytes:
        return wire.replaced(event, {_OF_EVENT: change})

    return wire.replaced(span, {_ATTRIBUTES: change, _EVENTS: of_event})


def _leaves(value: AnyValue) -> Iterator[str]:
    match value.WhichOneof("value"):
        case "string_value":
            yield value.string_value
        case "array_value":
            for item in value.array_value.values:
                yield from _leaves(item)
        case "kvlist_value":
            for pair in value.kvlist_value.values:
                yield from _leaves(pair.value)


def _opened(text: str) -> Iterator[str]:
    """Yield the texts in a text that is JSON; else the text."""
    tree = _parsed(text)
    if tree is None:
        yield text
        return
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            yield from _opened(item)


def _cut(value: AnyValue) -> None:
    """Cut every text in a value, in place."""
    match value.WhichOneof("value"):
        case "string_value":
            value.string_value = _shortened(value.string_value)
        case "bytes_value":
            value.bytes_value = value.bytes_value[:CHARACTERS]
        case "array_value":
            for item in value.array_value.values:
                _cut(item)
        case "kvlist_value":
            for pair in value.kvlist_value.values:
                _cut(pair.value)


def _shortened(text: str) -> str:
    """Cut a text; where it is JSON, the texts in it."""
    if len(text) <= CHARACTERS:
        return text
    tree = _parsed(text)
    if tree is None:
        return text[:CHARACTERS] + CUT
    return json.dumps(_shortened_tree(tree), ensure_ascii=False, separators=(",", ":"))


def _shortened_tree(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _shortened_tree(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_shortened_tree(item) for item in tree]
    return _shortened(tree) if isinstance(tree, str) else tree


def _parsed(text: str) -> Any:
    """Return the object or list that a text is JSON of; None where it is none."""
    if not looks_like_json(text):
        return None
    try:
        tree = parse_json(text)
    except ValueError:
        return None
    return tree if isinstance(tree, dict | list) else None
