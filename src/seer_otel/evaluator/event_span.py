"""
A logged retrieval event as a span in the hold.

Without a trace it is a trace of its own; in a trace it is a span more; in a span it stands for
that span, whose ids it takes, and is judged beside it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from seer_otel import semconv
from seer_otel.dialects import READER, Reader, record_ids
from seer_otel.dialects.event import time_ns
from seer_otel.dialects.trace import Node
from seer_otel.dialects.values import number, text
from seer_otel.evaluator.envelope import Envelope
from seer_otel.evaluator.hold.entries import Held, Key
from seer_otel.evaluator.sort import decode

RETRIEVAL: Final = "retrieval"
SERVICE: Final = "seer-otel"
"""`service.name` of the spans: this service makes them."""
_SOMEWHERE: Final = "0" * 16
"""The parent of an event that says no more than its trace, so that it is never taken for a root."""
_SAMPLED: Final = 1


@dataclass(frozen=True, slots=True)
class Logged:
    """An event that came in."""

    record_id: str
    held: Held
    node: Node
    sample_rate: float | None
    trace_id: str | None
    """As the event said it; None where its trace is its own."""
    span_id: str | None
    """Of the span that it was logged in."""


def logged(event: Mapping[str, Any], now_s: float, reader: Reader = READER) -> Logged:
    """
    Turn an event into what is held of it.

    Args:
        event: Checked already; `context` and `task` or `subquery` are there.
        now_s: Wall clock: when it happened, unless it says so itself.
        reader: Reads what was made of it.
    """
    record_id = event.get("record_id") or record_ids.new()
    key = Key.of(record_id)
    trace_id, span_id = (_small(event.get(name)) for name in ("trace_id", "span_id"))
    at_ns = time_ns(event.get("created_at")) or int(now_s * 1e9)
    span = Span(
        trace_id=bytes.fromhex(trace_id) if trace_id else key.trace_id,
        span_id=bytes.fromhex(span_id) if span_id else key.span_id,
        parent_span_id=bytes.fromhex(event.get("parent_span_id") or ""),
        name=event.get("span_name") or RETRIEVAL,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=at_ns,
        end_time_unix_nano=at_ns,
        flags=_SAMPLED,
        attributes=_attributes(event, record_id),
    )
    held = Held(key, _request(span), "copy" if span_id else "event", now_s)
    return Logged(
        record_id, held, node_of(held, reader), number(event.get("sample_rate")), trace_id, span_id
    )


def node_of(held: Held, reader: Reader = READER) -> Node:
    """Read the one span of what is held; of an event, as a node beside the spans of its trace."""
    envelope = Envelope.open(held.request)
    ((place, _),) = envelope.spans()
    span = decode(envelope.enclosed(place))
    node = reader.node(span)
    record_id = text(span.attributes.get(semconv.RECORD_ID))
    if record_id is None or Key.of(record_id) != held.key:
        return node
    own_id = held.key.span_id.hex()
    about = None if node.span_id == own_id else node.span_id
    parent = about or node.parent_span_id
    if node.trace_id != held.key.trace_id.hex():
        parent = parent or _SOMEWHERE
    return replace(node, span_id=own_id, parent_span_id=parent, record_id=record_id, about=about)


def _attributes(event: Mapping[str, Any], record_id: str) -> Iterator[KeyValue]:
    task, subquery = text(event.get("task")), text(event.get("subquery"))
    values: dict[str, str | bool | float | None] = {
        semconv.GEN_AI_OPERATION: RETRIEVAL,
        semconv.GEN_AI_QUERY: subquery or task,
        semconv.TASK: task,
        semconv.SUBQUERY: subquery,
        semconv.CONTEXT: _json(event["context"]),
        semconv.IS_FINAL_CONTEXT: event.get("is_final_context") or None,
        semconv.METADATA: _json(event.get("metadata")),
        semconv.GROUND_TRUTH: _json(event.get("ground_truth")),
        semconv.CONVERSATION_ID: text(event.get("conversation_id")),
        semconv.EXPECTED_OUTCOME: text(event.get("expected_outcome")),
        semconv.SAMPLE_RATE: number(event.get("sample_rate")),
        semconv.RECORD_ID: record_id,
    }
    for key, value in values.items():
        match value:
            case bool():
                yield KeyValue(key=key, value=AnyValue(bool_value=value))
            case float():
                yield KeyValue(key=key, value=AnyValue(double_value=value))
            case str():
                yield KeyValue(key=key, value=AnyValue(string_value=value))


def _json(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _small(ids: str | None) -> str | None:
    return ids.lower() if ids else None


def _request(span: Span) -> bytes:
    service = KeyValue(key="service.name", value=AnyValue(string_value=SERVICE))
    scope = ScopeSpans(scope=InstrumentationScope(name=semconv.SCOPE_NAME), spans=[span])
    resource = ResourceSpans(resource=Resource(attributes=[service]), scope_spans=[scope])
    return ExportTraceServiceRequest(resource_spans=[resource]).SerializeToString()
