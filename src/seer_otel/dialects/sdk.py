"""Spans of the OpenTelemetry SDK, as a span processor gets them, to spans that dialects read."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seer_otel.dialects.span import DEPTH, Span, SpanEvent
from seer_otel.dialects.values import mended

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


def span_from_sdk(span: "ReadableSpan") -> Span:
    """
    Copy an ended span.

    Raises:
        ValueError: The span has no context, as no span of a recording tracer has.
    """
    context, parent, scope = span.context, span.parent, span.instrumentation_scope
    if context is None:
        raise ValueError("a span without a context")
    return Span(
        trace_id=format(context.trace_id, "032x"),
        span_id=format(context.span_id, "016x"),
        parent_span_id=format(parent.span_id, "016x") if parent and parent.span_id else None,
        name=mended(span.name),
        start_ns=span.start_time or 0,
        end_ns=span.end_time or 0,
        attributes=_attributes(span.attributes),
        events=tuple(
            SpanEvent(mended(event.name), event.timestamp, _attributes(event.attributes))
            for event in span.events
        ),
        status_code=span.status.status_code.value,
        dropped_attributes=span.dropped_attributes,
        dropped_events=span.dropped_events,
        scope_name=scope.name if scope else "",
        scope_version=scope.version or "" if scope else "",
        resource=_attributes(span.resource.attributes),
    )


def _attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {mended(key): _plain(value) for key, value in (attributes or {}).items()}


def _plain(value: Any, depth: int = DEPTH) -> Any:
    if depth == 0:
        return None
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, Mapping):
        return {mended(str(key)): _plain(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(inner, depth - 1) for inner in value]
    return value if isinstance(value, bool | int | float | bytes) else None
