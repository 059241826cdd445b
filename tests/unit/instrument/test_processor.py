"""The processor decides once a trace, marks what may be marked, and never breaks an application."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from opentelemetry import baggage, trace
from opentelemetry.context import attach, detach
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from seer_otel import dialects, sampling
from seer_otel.instrument import SeerSpanProcessor, request, retrieval
from seer_otel.instrument.shipping import Counts

GENAI = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "q"}
OPENINFERENCE = {
    "openinference.span.kind": "RETRIEVER",
    "input.value": "q",
    "retrieval.documents.0.document.content": "p",
}


@pytest.fixture
def processor() -> Iterator[SeerSpanProcessor]:
    """One that only decides and marks, at a rate of 0."""
    processor = SeerSpanProcessor(sample_rate=0.0, send=False)
    yield processor
    processor.shutdown()


@pytest.fixture
def traced(
    provider: TracerProvider, exporter: InMemorySpanExporter, processor: SeerSpanProcessor
) -> TracerProvider:
    provider.add_span_processor(processor)
    return provider


def attributes(exporter: InMemorySpanExporter, name: str) -> Mapping[str, Any]:
    (span,) = (span for span in exporter.get_finished_spans() if span.name == name)
    return span.attributes or {}


def test_spans_outside_a_request_are_left_alone(
    traced: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    traced.get_tracer("app").start_span("SELECT", attributes={"db.system": "sqlite"}).end()

    assert {"db.system": "sqlite"} == dict(attributes(exporter, "SELECT"))


def test_a_span_known_as_a_retrieval_at_its_start_is_marked(
    traced: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    traced.get_tracer("genai").start_span("retrieval", attributes=GENAI).end()

    assert {**GENAI, "seer.sampled": False} == dict(attributes(exporter, "retrieval"))


def test_inside_a_request_every_span_has_the_decision_and_retrievals_the_task(
    traced: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    tracer = traced.get_tracer("app")
    with request(task="the question", sample_rate=1.0, tracer_provider=traced):
        tracer.start_span("search", attributes=GENAI).end()
        tracer.start_span("SELECT").end()

    assert {**GENAI, "seer.sampled": True, "seer.task": "the question"} == dict(
        attributes(exporter, "search")
    )
    assert {"seer.sampled": True} == dict(attributes(exporter, "SELECT"))


def test_downstream_of_a_request_its_decision_is_obeyed(
    traced: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    token = attach(baggage.set_baggage("seer.sampled", "true"))
    traced.get_tracer("app").start_span("SELECT").end()
    detach(token)

    assert {"seer.sampled": True} == dict(attributes(exporter, "SELECT"))


def test_a_task_of_its_own_is_kept(traced: TracerProvider, exporter: InMemorySpanExporter) -> None:
    with request(task="outer", tracer_provider=traced):
        with retrieval(task="own", name="own", tracer_provider=traced):
            pass
        with retrieval(name="scope", tracer_provider=traced):
            pass

    assert "own" == attributes(exporter, "own")["seer.task"]
    assert "outer" == attributes(exporter, "scope")["seer.task"]


def test_the_first_retrieval_of_a_trace_decides(
    traced: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with traced.get_tracer("app").start_as_current_span("root"):
        for name, rate in (("first", 1.0), ("second", 0.0), ("third", None)):
            with retrieval(name=name, sample_rate=rate, tracer_provider=traced):
                pass

    assert [True] * 3 == [
        attributes(exporter, name)["seer.sampled"] for name in ("first", "second", "third")
    ]


def test_the_first_request_of_a_trace_decides(
    traced: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with traced.get_tracer("app").start_as_current_span("root"):
        for name, rate in (("first", 0.0), ("second", 1.0)):
            with (
                request(sample_rate=rate, tracer_provider=traced),
                retrieval(name=name, tracer_provider=traced),
            ):
                pass

    assert [False, False] == [
        attributes(exporter, name)["seer.sampled"] for name in ("first", "second")
    ]


def test_a_mark_of_the_application_is_obeyed(
    traced: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    traced.get_tracer("genai").start_span(
        "retrieval", attributes={**GENAI, "seer.sampled": True}
    ).end()

    assert attributes(exporter, "retrieval")["seer.sampled"] is True


def test_it_does_not_matter_what_the_head_sampler_let_through() -> None:
    """A head sampler of ½ on the same ids leaves our ½ of what it kept."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(TraceIdRatioBased(0.5), shutdown_on_exit=False)
    processor = SeerSpanProcessor(sample_rate=0.5, send=False)
    provider.add_span_processor(processor)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for _ in range(2_000):
        provider.get_tracer("genai").start_span("retrieval", attributes=GENAI).end()
    processor.shutdown()
    kept = exporter.get_finished_spans()
    sampled = [span for span in kept if (span.attributes or {})["seer.sampled"]]

    # 6 standard deviations: one run in 10⁹ is outside.
    assert 1_000 - 6 * 23 < len(kept) < 1_000 + 6 * 23
    assert len(kept) / 2 - 6 * 16 < len(sampled) < len(kept) / 2 + 6 * 16


def test_the_decision_is_the_one_of_every_process(
    exporter: InMemorySpanExporter, provider: TracerProvider
) -> None:
    processor = SeerSpanProcessor(sample_rate=0.3, send=False)
    provider.add_span_processor(processor)
    for _ in range(100):
        provider.get_tracer("genai").start_span("retrieval", attributes=GENAI).end()
    processor.shutdown()

    for span in exporter.get_finished_spans():
        trace_id = trace.format_trace_id(span.context.trace_id)
        assert sampling.sampled(trace_id, 0.3) == (span.attributes or {})["seer.sampled"]


def test_sending_off_ships_nothing(traced: TracerProvider, processor: SeerSpanProcessor) -> None:
    with retrieval(task="q", sample_rate=1.0, tracer_provider=traced) as r:
        r.context = ["p"]

    assert Counts(0, 0, 0, 0) == processor.counts


def test_a_fault_in_a_dialect_costs_one_line(
    provider: TracerProvider,
    exporter: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(span: dialects.Span, _: object) -> None:
        raise RuntimeError(f"secret content: {span.attributes}")

    monkeypatch.setattr(dialects, "read", broken)
    processor = SeerSpanProcessor(sample_rate=1.0)
    provider.add_span_processor(processor)
    for _ in range(3):
        provider.get_tracer("app").start_span("search", attributes=OPENINFERENCE).end()
    processor.shutdown()

    assert 3 == len(exporter.get_finished_spans())
    assert ["A span could not be read: RuntimeError"] == caplog.messages


def test_a_rate_out_of_range_on_a_span_breaks_nothing(
    traced: TracerProvider, exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    traced.get_tracer("genai").start_span(
        "retrieval", attributes={**GENAI, "seer.sample_rate": 70}
    ).end()

    assert attributes(exporter, "retrieval")["seer.sampled"] is True
    assert [] == caplog.messages


def test_after_its_end_it_does_nothing(
    traced: TracerProvider, exporter: InMemorySpanExporter, processor: SeerSpanProcessor
) -> None:
    processor.shutdown()
    processor.shutdown()
    traced.get_tracer("genai").start_span("retrieval", attributes=GENAI).end()

    assert GENAI == dict(attributes(exporter, "retrieval"))
    assert processor.force_flush() is True


def test_an_ended_span_without_a_context_is_passed_over(processor: SeerSpanProcessor) -> None:
    processor.on_end(ReadableSpan("made by hand"))
