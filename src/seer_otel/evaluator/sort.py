"""
Find the retrievals of a request, and the spans that may be their ancestors.

Only spans that hold the marker bytes of a dialect, or of an input, are decoded. A span that no
strict parser would take passes with its neighbours.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2

from seer_otel import dialects, semconv
from seer_otel.dialects import READER, Reader, otlp, trace, values
from seer_otel.dialects.span import Span
from seer_otel.evaluator.envelope import Enclosed, Envelope, Head, Place, head

_CANDIDATE = re.compile(
    b"|".join(re.escape(marker) for marker in (*dialects.MARKERS, *dialects.INPUT_MARKERS))
)
_EVALUATED = re.compile(re.escape(semconv.EVALUATED.encode()) + b"|seer\\.evaluation")


@dataclass(slots=True)
class Found:
    """A retrieval span and where it stands."""

    place: Place
    span: bytes
    node: trace.Node
    stamped: bytes | None = None
    """As it leaves, where it is let through at once."""


@dataclass(slots=True)
class Sorted:
    """What a request holds for us."""

    retrievals: list[Found] = field(default_factory=list)
    nodes: list[trace.Node] = field(default_factory=list)
    """Of traces that are wanted, retrievals included; bare ids where nothing was decoded."""
    sampled: set[str] = field(default_factory=set)
    """Ids of traces that a span says are judged: its retrievals may come in a later request."""
    unreadable: int = 0
    """Candidates that could not be decoded; they pass as they came."""
    evaluated_before: int = 0
    """Spans that came back with their results; they pass untouched."""
    stamped: bool = False
    """Whether a span was replaced in the envelope."""


def sort(
    envelope: Envelope,
    wanted: Callable[[str], bool],
    reader: Reader = READER,
) -> Sorted:
    """Sort the spans of a request; `wanted` says whose nodes are worth remembering."""
    found = Sorted()
    heads: list[tuple[Head, trace.Node | None]] = []
    for place, span in envelope.spans():
        ids = head(span)
        if ids is None or not ids.valid:
            found.unreadable += 1
            continue
        node = None
        if _CANDIDATE.search(span):
            node = _decode(envelope, place, span, found, reader)
        heads.append((ids, node))
    with_retrievals = (retrieval.node.trace_id for retrieval in found.retrievals)
    interesting = dict.fromkeys((*found.sampled, *with_retrievals), True)
    for ids, node in heads:
        trace_id = ids.trace_id.hex()
        if trace_id not in interesting:
            interesting[trace_id] = wanted(trace_id)
        if interesting[trace_id]:
            found.nodes.append(node or _bare(ids))
    return found


def _decode(
    envelope: Envelope, place: Place, span: bytes, found: Sorted, reader: Reader
) -> trace.Node | None:
    try:
        decoded = decode(envelope.enclosed(place))
    except DecodeError:
        found.unreadable += 1
        return None
    if _EVALUATED.search(span) and dialects.is_evaluated(decoded):
        found.evaluated_before += 1
        return None
    if values.flag(decoded.attributes.get(semconv.SAMPLED)):
        found.sampled.add(decoded.trace_id)
    node = reader.node(decoded)
    if node.reading is not None:
        found.retrievals.append(Found(place, span, node))
    return node


def decode(enclosed: Enclosed) -> Span:
    """
    Decode a span with its resource and scope.

    Raises:
        DecodeError: A strict parser does not take it.
    """
    scope = InstrumentationScope.FromString(enclosed.scope)
    return otlp.span_from_proto(
        trace_pb2.Span.FromString(enclosed.span),
        resource=otlp.decode_attributes(Resource.FromString(enclosed.resource).attributes),
        scope_name=scope.name,
        scope_version=scope.version,
    )


def _bare(ids: Head) -> trace.Node:
    return trace.Node(
        trace_id=ids.trace_id.hex(),
        span_id=ids.span_id.hex(),
        parent_span_id=otlp.parent_of(ids.parent_span_id, ids.trace_id),
    )
