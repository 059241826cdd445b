"""The exporter ships sampled retrievals and the inputs above them, and never fails."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.trace import use_span

from seer_otel import dialects
from seer_otel.instrument import exporter
from seer_otel.instrument.evaluator_client import Answer, EvaluatorClient
from seer_otel.instrument.exporter import SeerSpanExporter

RETRIEVAL = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": '["t"]'}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "in_use", False)
    for name in ("SEER_ENDPOINT", "SEER_SAMPLE_RATE", "SEER_SEND", "SEER_TOOLS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """Names and marks of the spans that reached the evaluator."""
    received: list[Mapping[str, Any]] = []

    def post(_: EvaluatorClient, body: bytes) -> Answer:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for span in resource.scope_spans[0].spans:
                marks = [a.value.bool_value for a in span.attributes if a.key == "seer.sampled"]
                received.append({span.name: marks})
        return Answer("taken")

    monkeypatch.setattr(EvaluatorClient, "post", post)
    return received


@pytest.fixture
def traced(shipped: list[Mapping[str, Any]]) -> Iterator[TracerProvider]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(SeerSpanExporter(sample_rate=1.0)))
    yield provider
    provider.shutdown()


def test_retrievals_are_marked_and_the_inputs_above_them_follow(
    traced: TracerProvider, shipped: list[Mapping[str, Any]]
) -> None:
    tracer = traced.get_tracer("app")
    with tracer.start_as_current_span("chain", attributes={"input.value": "q"}):
        with tracer.start_as_current_span("no input"):
            tracer.start_span("search", attributes=RETRIEVAL).end()
        tracer.start_span("sibling", attributes={"input.value": "q"}).end()
    tracer.start_span("other trace", attributes={"input.value": "q"}).end()
    traced.shutdown()

    assert [{"search": [True]}, {"chain": []}] == shipped


def test_a_decision_on_the_span_is_obeyed_for_the_whole_trace(
    traced: TracerProvider, shipped: list[Mapping[str, Any]]
) -> None:
    tracer = traced.get_tracer("app")
    with tracer.start_as_current_span("chain", attributes={"input.value": "q"}):
        tracer.start_span("first", attributes=RETRIEVAL | {"seer.sampled": False}).end()
        tracer.start_span("second", attributes=RETRIEVAL).end()
    tracer.start_span("third", attributes=RETRIEVAL | {"seer.sample_rate": 0.0}).end()
    traced.shutdown()

    assert [] == shipped


def test_what_cannot_be_read_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret content")

    span = TracerProvider(shutdown_on_exit=False).get_tracer("app").start_span("search")
    span.end()
    assert isinstance(span, ReadableSpan)
    monkeypatch.setattr(dialects, "read", broken)
    exporting = SeerSpanExporter()

    assert SpanExportResult.SUCCESS == exporting.export([span, span])
    assert ["A span could not be read: RuntimeError"] == caplog.messages
    assert exporting.force_flush()


def test_ancestors_are_waited_for_in_bounds(
    traced: TracerProvider, shipped: list[Mapping[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporter, "ANCESTORS", 1)
    tracer = traced.get_tracer("app")
    with tracer.start_as_current_span("forgotten", attributes={"input.value": "q"}):
        tracer.start_span("search", attributes=RETRIEVAL).end()
        elsewhere = tracer.start_span("remembered", Context(), attributes={"input.value": "q"})
        with use_span(elsewhere, end_on_exit=True):
            tracer.start_span("again", attributes=RETRIEVAL).end()
    traced.shutdown()

    assert ["search", "again", "remembered"] == [next(iter(s)) for s in shipped]
