"""Spans for tests of the service."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TASK = "Who directed Inception and what is their nationality?"
DIRECTED = "Christopher Nolan directed Inception."
NATIONALITY = "Nolan is British-American."
RELEASED = "Inception released in 2010."
CONTEXT = [
    {"text": DIRECTED, "score": 0.95},
    {"text": NATIONALITY, "score": 0.89},
    {"text": RELEASED, "score": 0.72},
]
SCRIPT = {
    TASK: [
        ("who directed Inception", [DIRECTED]),
        ("the nationality of that director", [NATIONALITY]),
    ],
    "Who directed Inception?": [("who directed Inception", [DIRECTED])],
}

TRACE = bytes(range(1, 17))
START = 1_796_000_000_000_000_000


def span(
    number: int,
    name: str = "step",
    *,
    parent: int | None = None,
    trace: bytes = TRACE,
    start_ms: int = 0,
    end_ms: int = 100,
    **attributes: Any,
) -> Span:
    """A span; `a__b` among the attributes stands for `a.b`."""
    return Span(
        trace_id=trace,
        span_id=number.to_bytes(8, "big"),
        parent_span_id=b"" if parent is None else parent.to_bytes(8, "big"),
        name=name,
        start_time_unix_nano=START + start_ms * 1_000_000,
        end_time_unix_nano=START + end_ms * 1_000_000,
        flags=0x101,
        attributes=[
            KeyValue(key=key.replace("__", "."), value=_value(value))
            for key, value in attributes.items()
        ],
    )


def retrieval(
    number: int,
    *,
    context: Sequence[Mapping[str, Any] | str] = CONTEXT,
    task: str | None = TASK,
    subquery: str | None = None,
    **more: Any,
) -> Span:
    """A retrieval span of our own dialect."""
    attributes: dict[str, Any] = {"seer__context": json.dumps(context)}
    if task is not None:
        attributes["seer__task"] = task
    if subquery is not None:
        attributes["seer__subquery"] = subquery
    return span(number, "retrieval", **attributes, **more)


def request(*spans: Span, service: str = "app") -> bytes:
    """An export request with these spans under one resource and scope."""
    message = ExportTraceServiceRequest()
    resource = message.resource_spans.add(schema_url="https://example.org/schema")
    resource.resource.attributes.append(_pair("service.name", service))
    scope = resource.scope_spans.add()
    scope.scope.name = "test"
    scope.spans.extend(spans)
    return message.SerializeToString()


def attributes(of: Span | Span.Event) -> dict[str, Any]:
    """Plain values of the attributes; of a key given twice, the last."""
    return {pair.key: _plain(pair.value) for pair in of.attributes}


def event(of: Span, scope: str) -> dict[str, Any]:
    """Attributes of the evaluation event of a scope."""
    (found,) = (
        attributes(e)
        for e in of.events
        if e.name == "seer.evaluation" and attributes(e)["seer.scope"] == scope
    )
    return found


def _pair(key: str, value: Any) -> KeyValue:
    return KeyValue(key=key, value=_value(value))


def _value(value: Any) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(string_value=value)


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    return None if kind is None else getattr(value, kind)
