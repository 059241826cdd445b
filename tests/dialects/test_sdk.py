"""Spans read in the application read as they do at the evaluator."""

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

from seer_otel import dialects
from seer_otel.dialects import Span, otlp
from seer_otel.dialects.sdk import span_from_sdk


@pytest.fixture
def ended() -> tuple[ReadableSpan, ...]:
    """A request with a retrieval of each dialect, one of them with lost attributes."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource({"service.version": "1.2", "deployment.environment.name": "prod"}),
        span_limits=SpanLimits(max_span_attributes=8),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("my.app", "2")
    with tracer.start_as_current_span("request") as request:
        request.set_attribute("input.value", '{"question": "Who manages it?"}')
        with tracer.start_as_current_span("ours") as ours:
            ours.set_attribute("seer.context", ["a", "b"])
            ours.set_attribute("seer.sampled", True)
            ours.add_event("note", {"n": [1, 2]})
        with tracer.start_as_current_span("theirs") as theirs:
            theirs.set_attribute("openinference.span.kind", "RETRIEVER")
            for n in range(4):
                theirs.set_attribute(f"retrieval.documents.{n}.document.content", f"text {n}")
                theirs.set_attribute(f"retrieval.documents.{n}.document.score", n / 10)
            theirs.set_attribute("openinference.span.kind", "RETRIEVER")
        with tracer.start_as_current_span("standard") as standard:
            standard.set_attribute("gen_ai.operation.name", "retrieval")
            standard.set_attribute("gen_ai.retrieval.documents", ())
            standard.set_status(Status(StatusCode.ERROR, "timed out"))
    return exporter.get_finished_spans()


def by_name(spans: list[Span]) -> dict[str, Span]:
    return {span.name: span for span in spans}


def test_a_span_is_the_same_from_the_sdk_and_from_the_wire(ended: tuple[ReadableSpan, ...]) -> None:
    from_sdk = [span_from_sdk(span) for span in ended]
    from_wire = list(otlp.spans(encode_spans(ended)))

    assert by_name(from_wire) == by_name(from_sdk)
    assert len(ended) == 4


def test_a_reading_is_the_same_from_the_sdk_and_from_the_wire(
    ended: tuple[ReadableSpan, ...],
) -> None:
    from_sdk = by_name([span_from_sdk(span) for span in ended])

    readings = {name: dialects.read(span) for name, span in from_sdk.items()}
    assert readings == {s.name: dialects.read(s) for s in otlp.spans(encode_spans(ended))}
    states = {name: (r.dialect, r.reason) for name, r in readings.items() if r is not None}
    assert states == {
        "ours": ("seer", None),
        "theirs": ("openinference", "attributes_dropped"),
        "standard": ("genai", "span_failed"),
    }


def test_what_no_encoding_takes_is_replaced() -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    span = provider.get_tracer("t").start_span("a\ud83d")
    span.set_attribute("seer.context", ["b\udc00"])
    span.end()
    assert isinstance(span, ReadableSpan)

    found = span_from_sdk(span)

    assert ("a\ufffd", ["b\ufffd"]) == (found.name, found.attributes["seer.context"])
