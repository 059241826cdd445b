"""What goes through the envelope comes out as it went in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from seer_otel.errors import Undecodable
from seer_otel.evaluator.envelope import Envelope, Place, head
from tests.service.spans import request, span

UNKNOWN_FIELD = b"\x9a\x06\x03new"
"""Field 99, length-delimited: what a later release of the protocol may bring."""


def with_raw_span(raw: bytes) -> bytes:
    """A request whose only span is these bytes."""
    scope = b"\x12" + _varint(len(raw)) + raw
    resource = b"\x12" + _varint(len(scope)) + scope + UNKNOWN_FIELD
    return b"\x0a" + _varint(len(resource)) + resource


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


@given(st.binary(max_size=300))
def test_a_span_survives_whatever_its_bytes_are(raw: bytes) -> None:
    envelope = Envelope.open(with_raw_span(raw))

    assert [raw] == [span for _, span in envelope.spans()]
    assert with_raw_span(raw) == envelope.to_bytes()


def test_unknown_fields_survive_what_is_taken_out() -> None:
    envelope = Envelope.open(with_raw_span(span(1).SerializeToString() + UNKNOWN_FIELD))

    assert UNKNOWN_FIELD in envelope.without({Place(9, 9, 9)})
    assert b"" == envelope.without({Place(0, 0, 0)})


def test_a_span_alone_keeps_its_resource_and_scope() -> None:
    body = request(span(1, "a"), span(2, "b"))
    alone = ExportTraceServiceRequest.FromString(Envelope.open(body).alone(Place(0, 0, 1)))
    whole = ExportTraceServiceRequest.FromString(body)

    assert whole.resource_spans[0].resource == alone.resource_spans[0].resource
    assert whole.resource_spans[0].schema_url == alone.resource_spans[0].schema_url
    assert ["b"] == [s.name for s in alone.resource_spans[0].scope_spans[0].spans]


def test_what_is_taken_out_and_what_stays_make_the_whole() -> None:
    envelope = Envelope.open(request(*(span(n, str(n)) for n in range(1, 6))))
    places = [place for place, _ in envelope.spans()]
    kept = Envelope.open(envelope.without(set(places[1:3])))

    assert [places[0], places[1], places[2]] == [place for place, _ in kept.spans()]
    assert 5 == len(envelope)


@pytest.mark.parametrize("body", [b"\x0a\xff", b"\x0a\x02\x08", b"nonsense"])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(Undecodable):
        Envelope.open(body)


def test_a_head_is_read_without_the_rest() -> None:
    broken = span(7, parent=3).SerializeToString() + b"\x2a\x02\xff\xfe"
    ids = head(broken)

    assert ids is not None
    assert (7, 3) == (
        int.from_bytes(ids.span_id, "big"),
        int.from_bytes(ids.parent_span_id, "big"),
    )
    assert ids.valid
