"""OTLP: JSON to and from protobuf with its hexadecimal ids, and protobuf to spans."""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from seer_otel.dialects.span import DEPTH, Span, SpanEvent
from seer_otel.dialects.values import mended
from seer_otel.errors import Undecodable

_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_ID_DIGITS: Final = {"traceId": 32, "spanId": 16}
_SURROGATE: Final = re.compile("[\ud800-\udfff]|\\\\u[dD][89a-fA-F]")
_PARSING: Final = re.compile(r"Failed to parse (\w+) field: ")

Reject = Callable[[str], None]
"""Is told why a span cannot be read."""


def parse_json(source: str | bytes, *, reject: Reject | None = None) -> TracesData:
    """
    Parse an OTLP/JSON body.

    Ids are hexadecimal in any case; whole numbers may be numbers or texts, enums numbers or
    names; unknown fields are ignored.

    Args:
        source: The body.
        reject: With it, a span that cannot be read is left out and costs no neighbour.

    Raises:
        Undecodable: It is no OTLP/JSON; the message says where.
    """
    try:
        text = source.decode("utf-8-sig") if isinstance(source, bytes) else source
        tree = json.loads(text)
        if _SURROGATE.search(text):
            tree = json.loads(mended(json.dumps(tree, ensure_ascii=False)))
    except RecursionError:
        raise Undecodable("this is nested too deeply to be OTLP/JSON") from None
    except UnicodeError as error:
        raise Undecodable(f"this is not UTF-8: {error}") from error
    except ValueError as error:
        raise Undecodable(f"this is no JSON: {error}") from error
    return from_json(tree, reject=reject)


def from_json(tree: object, *, reject: Reject | None = None) -> TracesData:
    """
    Read the parsed JSON of an OTLP/JSON body, which is taken to pieces.

    Args:
        tree: The body.
        reject: With it, a span that cannot be read is left out and costs no neighbour.

    Raises:
        Undecodable: It is no OTLP/JSON; the message says where.
    """
    if not isinstance(tree, dict):
        raise Undecodable(f"OTLP/JSON is an object; this is a {type(tree).__name__}")
    taken = [_take_spans(scope_spans) for scope_spans in _scopes(tree)]
    traces = TracesData()
    _read(tree, traces)
    scopes = [scope for resource in traces.resource_spans for scope in resource.scope_spans]
    if len(scopes) != len(taken):  # the parser takes empty texts and lists for objects
        raise Undecodable("this is not OTLP/JSON: resourceSpans and scopeSpans hold objects")
    for scope, spans in zip(scopes, taken, strict=True):
        for span in spans:
            try:
                scope.spans.append(_read_span(span))
            except Undecodable as error:
                if reject is None:
                    raise
                reject(str(error))
    return traces


def _take_spans(scope_spans: dict[str, Any]) -> list[Any]:
    """Take the spans out of their scope, where they are a list."""
    return scope_spans.pop("spans") if isinstance(scope_spans.get("spans"), list) else []


def _read_span(span: object) -> trace_pb2.Span:
    if not isinstance(span, dict):
        raise Undecodable(f"a span is an object, not {type(span).__name__}")
    _change_ids(span, _base64_of_hex)
    read = trace_pb2.Span()
    _read(span, read)
    return read


def _read(tree: dict[str, Any], message: Message) -> None:
    try:
        json_format.ParseDict(tree, message, ignore_unknown_fields=True)
    except RecursionError:
        raise Undecodable("this is nested too deeply to be OTLP/JSON") from None
    except (ValueError, TypeError, AttributeError, json_format.Error) as error:
        raise Undecodable(f"this is not OTLP/JSON: {_where(str(error))}") from error


def _where(message: str) -> str:
    """Say in which field it is; the parser says the way there too, word by word."""
    fields, said = _PARSING.findall(message), _PARSING.sub("", message).rstrip(".")
    return f"{fields[-1]}: {said}" if fields else said


def to_json(message: Message) -> str:
    """Write traces as OTLP/JSON: hexadecimal ids, enums as numbers, names in lowerCamelCase."""
    tree = json_format.MessageToDict(message, use_integers_for_enums=True)
    for scope_spans in _scopes(tree):
        for span in _objects(scope_spans, "spans"):
            _change_ids(span, _hex_of_base64)
    return json.dumps(tree, ensure_ascii=False)


def spans(traces: TracesData | ExportTraceServiceRequest) -> Iterator[Span]:
    """Return every span with its resource and scope, in the order given."""
    for resource_spans in traces.resource_spans:
        resource = decode_attributes(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            scope = scope_spans.scope
            for span in scope_spans.spans:
                yield span_from_proto(
                    span, resource=resource, scope_name=scope.name, scope_version=scope.version
                )


def span_from_proto(
    span: trace_pb2.Span, *, resource: Mapping[str, Any], scope_name: str, scope_version: str
) -> Span:
    """Decode one span."""
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id=parent_of(span.parent_span_id, span.trace_id),
        name=span.name,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        attributes=decode_attributes(span.attributes),
        events=tuple(
            SpanEvent(event.name, event.time_unix_nano, decode_attributes(event.attributes))
            for event in span.events
        ),
        status_code=span.status.code,
        dropped_attributes=span.dropped_attributes_count,
        dropped_events=span.dropped_events_count,
        scope_name=scope_name,
        scope_version=scope_version,
        resource=resource,
    )


def parent_of(parent: bytes, trace_id: bytes) -> str | None:
    """Return a parent's id; some tracers write zeros, or the trace's id, where there is none."""
    return parent.hex() if any(parent) and parent != trace_id else None


def decode_attributes(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    """Decode attributes to plain values; of a key given twice, the last counts."""
    return {attribute.key: _decode(attribute.value, DEPTH) for attribute in attributes}


def _decode(value: AnyValue, depth: int) -> Any:
    kind = value.WhichOneof("value")
    if kind is None or depth == 0:
        return None
    if kind == "array_value":
        return [_decode(item, depth - 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {kv.key: _decode(kv.value, depth - 1) for kv in value.kvlist_value.values}
    return getattr(value, kind)


def _change_ids(span: dict[str, Any], change: Callable[[str, object], object]) -> None:
    """Change the ids of a span and of its links in place."""
    for holder in (span, *_objects(span, "links")):
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in holder:
                holder[key] = change(key, holder[key])


def _scopes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource_spans in _objects(tree, "resourceSpans", "resource_spans"):
        yield from _objects(resource_spans, "scopeSpans", "scope_spans")


def _objects(tree: dict[str, Any], *keys: str) -> Iterator[dict[str, Any]]:
    for key in keys:
        items = tree.get(key)
        if isinstance(items, list):
            yield from (item for item in items if isinstance(item, dict))


def _base64_of_hex(key: str, value: object) -> object:
    if value is None:
        return None
    digits = _ID_DIGITS.get(key)
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise Undecodable(f"{key} is not hexadecimal: {str(value)[:40]!r}")
    if digits and len(value) not in (0, digits):
        raise Undecodable(f"{key} has {len(value)} digits instead of {digits}: {value[:40]!r}")
    return base64.b64encode(bytes.fromhex(value)).decode()


def _hex_of_base64(_: str, value: object) -> object:
    return base64.b64decode(str(value)).hex()
