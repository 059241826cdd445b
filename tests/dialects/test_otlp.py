"""OTLP: JSON, protobuf, and the spans they hold."""

import base64
import json
from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from seer_otel.dialects import otlp
from seer_otel.dialects.span import DEPTH, Span, SpanEvent
from seer_otel.errors import Undecodable

SPAN: dict[str, Any] = {
    "traceId": "5B8EFFF798038103D269B633813FC60C",
    "spanId": "eee19b7ec3c1b174",
    "name": "retrieval",
}


def body(*spans: dict[str, Any], **beside: Any) -> str:
    scope = {"scope": {"name": "my.app", "version": "2"}, "spans": list(spans)}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}], **beside})


def only(source: str | bytes) -> trace_pb2.Span:
    return otlp.parse_json(source).resource_spans[0].scope_spans[0].spans[0]


def attribute(value: dict[str, Any]) -> Any:
    traces = otlp.parse_json(body(SPAN | {"attributes": [{"key": "k", "value": value}]}))
    (span,) = otlp.spans(traces)
    return span.attributes["k"]


def test_ids_are_hexadecimal_in_any_case_everywhere() -> None:
    link = {"traceId": "5b8EFFF798038103d269b633813fc60c", "spanId": "EEE19B7EC3C1B174"}
    parent = {"parentSpanId": "Eee19b7ec3c1B174", "links": [link]}
    span = only(body(SPAN | parent))

    trace_id, span_id = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"
    assert (trace_id, span_id) == (span.trace_id.hex(), span.span_id.hex())
    assert span_id == span.parent_span_id.hex()
    assert (trace_id, span_id) == (span.links[0].trace_id.hex(), span.links[0].span_id.hex())


@pytest.mark.parametrize("time", [1544712660000000000, "1544712660000000000"])
def test_whole_numbers_may_be_texts(time: Any) -> None:
    assert (
        1544712660000000000 == only(body(SPAN | {"startTimeUnixNano": time})).start_time_unix_nano
    )
    assert 1544712660000000000 == attribute({"intValue": time})


@pytest.mark.parametrize("kind", [3, "SPAN_KIND_CLIENT"])
def test_enums_may_be_names(kind: Any) -> None:
    assert trace_pb2.Span.SPAN_KIND_CLIENT == only(body(SPAN | {"kind": kind})).kind


def test_a_span_without_a_kind_is_a_span() -> None:
    assert trace_pb2.Span.SPAN_KIND_UNSPECIFIED == only(body(SPAN)).kind


def test_unknown_fields_are_ignored() -> None:
    assert "retrieval" == only(body(SPAN | {"colour": [1, {"x": 2}]}, more=True)).name


@pytest.mark.parametrize("parent", [None, "", "0000000000000000", SPAN["traceId"]])
def test_a_parent_that_is_none_is_none(parent: Any) -> None:
    (span,) = otlp.spans(otlp.parse_json(body(SPAN | {"parentSpanId": parent})))

    assert span.parent_span_id is None


def test_a_span_is_decoded_with_its_resource_and_scope() -> None:
    event = {"name": "e", "timeUnixNano": "5", "attributes": [{"key": "n", "value": {}}]}
    (span,) = otlp.spans(
        otlp.parse_json(
            body(
                SPAN
                | {
                    "parentSpanId": "00000000000000AB",
                    "startTimeUnixNano": "1",
                    "endTimeUnixNano": "2",
                    "attributes": [{"key": "k", "value": {"boolValue": True}}],
                    "events": [event],
                    "status": {"code": 2},
                    "droppedAttributesCount": 3,
                    "droppedEventsCount": 4,
                }
            )
        )
    )

    assert span == Span(
        trace_id="5b8efff798038103d269b633813fc60c",
        span_id="eee19b7ec3c1b174",
        parent_span_id="00000000000000ab",
        name="retrieval",
        start_ns=1,
        end_ns=2,
        attributes={"k": True},
        events=(SpanEvent("e", 5, {"n": None}),),
        status_code=2,
        dropped_attributes=3,
        dropped_events=4,
        scope_name="my.app",
        scope_version="2",
        resource={"service.name": "shop"},
    )


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"stringValue": "s"}, "s"),
        ({"boolValue": False}, False),
        ({"intValue": "-7"}, -7),
        ({"doubleValue": 0.5}, 0.5),
        ({"bytesValue": base64.b64encode(b"\x00\xff").decode()}, b"\x00\xff"),
        ({"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "s"}, {}]}}, [1, "s", None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": 1}}]}}, {"a": 1}),
        ({}, None),
    ],
)
def test_attributes_are_decoded_to_plain_values(value: dict[str, Any], plain: Any) -> None:
    assert plain == attribute(value)


def test_lone_surrogates_are_replaced() -> None:
    source = body(SPAN | {"name": "a\ud83d", "attributes": [{"key": "k\udc00"}]})

    assert "a\ufffd" == only(source).name
    assert "k\ufffd" == only(source.encode()).attributes[0].key
    assert "😀" == only(body(SPAN | {"name": "😀"})).name


def test_values_nest_only_so_deep() -> None:
    attribute = KeyValue(key="k")
    value = attribute.value
    for _ in range(DEPTH + 10):
        value = value.array_value.values.add()
    decoded = otlp.decode_attributes([attribute])["k"]
    for _ in range(DEPTH - 1):
        (decoded,) = decoded

    assert decoded == [None]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "no JSON"),
        ('{"resourceSpans": [', "no JSON"),
        (b"\xff\xfe", "not UTF-8"),
        ("[]", "an object"),
        ("12", "an object"),
        ("[" * 100_000, "too deeply"),
        (body(SPAN | {"traceId": "xyz"}), "traceId is not hexadecimal: 'xyz'"),
        (body(SPAN | {"traceId": "W47/95gDgQPSabYzgT/GDA=="}), "traceId is not hexadecimal"),
        (body(SPAN | {"spanId": "abcd"}), "spanId has 4 digits instead of 16"),
        (body(SPAN | {"spanId": 12}), "spanId is not hexadecimal"),
        (body(SPAN | {"links": [{"spanId": "ab c"}]}), "spanId is not hexadecimal"),
        (body(SPAN | {"parentSpanId": "xyz"}), "parentSpanId is not hexadecimal"),
        (body(SPAN | {"name": 12}), "name"),
        (body(SPAN | {"startTimeUnixNano": "soon"}), "startTimeUnixNano"),
        (body(SPAN | {"startTimeUnixNano": 2**70}), "startTimeUnixNano"),
        ('{"resourceSpans": 12}', "resourceSpans"),
        ('{"resourceSpans": {"a": 1}}', "resourceSpans"),
        ('{"resourceSpans": [12]}', "resourceSpans"),
        ('{"x": ' + "9" * 5_000 + "}", "no JSON"),
    ],
)
def test_what_is_no_otlp_is_refused_with_a_reason(source: str | bytes, message: str) -> None:
    with pytest.raises(Undecodable, match=message):
        otlp.parse_json(source)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (SPAN | {"traceId": "xyz"}, "traceId is not hexadecimal: 'xyz'"),
        (SPAN | {"name": 12}, "name: "),
        (SPAN | {"attributes": {"a": 1}}, "attributes"),
        (SPAN | {"attributes": [{"key": "k", "value": {"intValue": "many"}}]}, "intValue: "),
        (SPAN | {"startTimeUnixNano": -1}, "startTimeUnixNano: "),
        (12, "a span is an object, not int"),
    ],
)
def test_a_span_that_cannot_be_read_costs_no_neighbour(bad: Any, message: str) -> None:
    why: list[str] = []
    traces = otlp.parse_json(body(SPAN, bad, SPAN | {"name": "last"}), reject=why.append)

    assert ["retrieval", "last"] == [span.name for span in otlp.spans(traces)]
    assert 1 == len(why)
    assert message in why[0]


def test_spans_stay_in_their_scopes_whatever_stands_beside_them() -> None:
    scopes = [{"spans": [12]}, {}, {"scope": {"name": "b"}, "spans": [dict(SPAN)]}]
    tree = {"resourceSpans": [{}, {"scopeSpans": scopes}]}

    assert ["b"] == [s.scope_name for s in otlp.spans(otlp.from_json(tree, reject=lambda _: None))]


def test_what_is_around_the_spans_must_be_readable() -> None:
    for tree in ({"resourceSpans": [{"scopeSpans": [""]}]}, {"resourceSpans": [{"resource": 1}]}):
        with pytest.raises(Undecodable):
            otlp.from_json(tree, reject=lambda _: None)


def test_deep_values_are_refused_not_crashed_on() -> None:
    value: dict[str, Any] = {}
    for _ in range(200):
        value = {"arrayValue": {"values": [value]}}

    with pytest.raises(Undecodable):
        otlp.parse_json(body(SPAN | {"attributes": [{"key": "k", "value": value}]}))


def test_json_is_written_as_otlp_writes_it() -> None:
    traces = otlp.parse_json(
        body(
            SPAN
            | {
                "kind": 3,
                "startTimeUnixNano": 1544712660000000000,
                "links": [{"traceId": SPAN["traceId"], "spanId": SPAN["spanId"]}],
                "attributes": [{"key": "traceId", "value": {"bytesValue": "AP8="}}],
            }
        )
    )
    written = json.loads(otlp.to_json(traces))["resourceSpans"][0]["scopeSpans"][0]["spans"][0]

    ids = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174"}
    assert written == {
        **ids,
        "name": "retrieval",
        "kind": 3,
        "startTimeUnixNano": "1544712660000000000",
        "links": [ids],
        "attributes": [{"key": "traceId", "value": {"bytesValue": "AP8="}}],
    }


def test_nothing_is_a_body_too() -> None:
    assert TracesData() == otlp.parse_json("{}")
    assert [] == list(otlp.spans(TracesData()))
