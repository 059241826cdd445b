"""
Open an export request without decoding its spans, and put it together again.

The envelope is the schema of the OTLP messages in which resource, scope and spans are `bytes`
(length-delimited fields have the same wire form whatever is in them). So whatever a span holds,
unknown fields and invalid UTF-8 included, leaves as it came.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from seer_otel.errors import Undecodable

_Field = descriptor_pb2.FieldDescriptorProto


def _schema() -> tuple[type[Any], type[Any]]:
    # proto2: fields have presence, and strings are not checked.
    file = descriptor_pb2.FileDescriptorProto(
        name="seer_otel/envelope.proto", package="seer_otel.envelope", syntax="proto2"
    )

    def message(name: str, *fields: tuple[str, int, bool, str | None]) -> None:
        descriptor = file.message_type.add(name=name)
        for field_name, number, repeated, type_name in fields:
            descriptor.field.add(
                name=field_name,
                number=number,
                label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
                type=_Field.TYPE_MESSAGE if type_name else _Field.TYPE_BYTES,
                type_name=f".seer_otel.envelope.{type_name}" if type_name else None,
            )

    message("Head", ("trace_id", 1, False, None), ("span_id", 2, False, None),
            ("parent_span_id", 4, False, None))  # fmt: skip
    message("ScopeSpans", ("scope", 1, False, None), ("spans", 2, True, None),
            ("schema_url", 3, False, None))  # fmt: skip
    message("ResourceSpans", ("resource", 1, False, None), ("scope_spans", 2, True, "ScopeSpans"),
            ("schema_url", 3, False, None))  # fmt: skip
    message("Request", ("resource_spans", 1, True, "ResourceSpans"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    request, head = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"seer_otel.envelope.{name}"))
        for name in ("Request", "Head")
    )
    return request, head


_Request, _Head = _schema()


@dataclass(frozen=True, slots=True)
class Head:
    """The ids of a span; bytes as they stand, valid or not."""

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes

    @property
    def valid(self) -> bool:
        """Whether the ids can serve as a key: 16 and 8 bytes, not all zero."""
        return (
            len(self.trace_id) == 16
            and len(self.span_id) == 8
            and any(self.trace_id)
            and any(self.span_id)
        )


def head(span: bytes) -> Head | None:
    """Read the ids of a span; None where its bytes are no protobuf message."""
    try:
        message = _Head.FromString(span)
    except DecodeError:
        return None
    return Head(message.trace_id, message.span_id, message.parent_span_id)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a span stands in a request: indices of its resource, scope and span."""

    resource: int
    scope: int
    span: int


@dataclass(frozen=True, slots=True)
class Enclosed:
    """One span in its envelope: all bytes."""

    resource: bytes
    resource_schema_url: bytes
    scope: bytes
    span: bytes


class Envelope:
    """An export request, opened down to its spans."""

    def __init__(self, request: Any) -> None:
        self._request = request

    @classmethod
    def open(cls, body: bytes) -> "Envelope":
        """
        Open the bytes of an ExportTraceServiceRequest (or TracesData).

        Raises:
            Undecodable: The bytes are no such message.
        """
        try:
            return cls(_Request.FromString(body))
        except DecodeError as error:
            raise Undecodable("the body is no OTLP trace request in protobuf") from error

    def spans(self) -> Iterator[tuple[Place, bytes]]:
        """All spans in order, each with its place."""
        for r, resource in enumerate(self._request.resource_spans):
            for s, scope in enumerate(resource.scope_spans):
                for i, span in enumerate(scope.spans):
                    yield Place(r, s, i), span

    def __len__(self) -> int:
        """Count the spans."""
        return sum(
            len(scope.spans)
            for resource in self._request.resource_spans
            for scope in resource.scope_spans
        )

    def enclosed(self, place: Place) -> Enclosed:
        """Return a span with what encloses it."""
        resource = self._request.resource_spans[place.resource]
        scope = resource.scope_spans[place.scope]
        return Enclosed(
            resource.resource, resource.schema_url, scope.scope, scope.spans[place.span]
        )

    def head(self, place: Place) -> Head:
        """
        Return the ids of a span.

        Raises:
            Undecodable: Its bytes are no protobuf message.
        """
        scope = self._request.resource_spans[place.resource].scope_spans[place.scope]
        ids = head(scope.spans[place.span])
        if ids is None:
            raise Undecodable("a span is no protobuf message")
        return ids

    def alone(self, place: Place) -> bytes:
        """Return a request that holds this one span, in the envelope it came in."""
        source = self._request.resource_spans[place.resource]
        source_scope = source.scope_spans[place.scope]
        request = _Request()
        resource = request.resource_spans.add()
        for name in ("resource", "schema_url"):
            if source.HasField(name):
                setattr(resource, name, getattr(source, name))
        scope = resource.scope_spans.add()
        for name in ("scope", "schema_url"):
            if source_scope.HasField(name):
                setattr(scope, name, getattr(source_scope, name))
        scope.spans.append(source_scope.spans[place.span])
        return bytes(request.SerializeToString())

    def replace(self, place: Place, span: bytes) -> None:
        """Put other bytes in the place of a span."""
        scope = self._request.resource_spans[place.resource].scope_spans[place.scope]
        scope.spans[place.span] = span

    def without(self, places: set[Place]) -> bytes:
        """Return the request less these spans and what then encloses nothing; b"" if empty."""
        request = _Request()
        request.CopyFrom(self._request)
        for r in reversed(range(len(request.resource_spans))):
            resource = request.resource_spans[r]
            for s in reversed(range(len(resource.scope_spans))):
                scope = resource.scope_spans[s]
                kept = [b for i, b in enumerate(scope.spans) if Place(r, s, i) not in places]
                del scope.spans[:]
                scope.spans.extend(kept)
                if not kept:
                    del resource.scope_spans[s]
            if not resource.scope_spans:
                del request.resource_spans[r]
        return bytes(request.SerializeToString())

    def to_bytes(self) -> bytes:
        """Serialize the request as it now stands."""
        return bytes(self._request.SerializeToString())
