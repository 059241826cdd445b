"""`request()`: one question and one decision, wherever the work of a request goes."""

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry import baggage, trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import attach, detach
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seer_otel import sampling
from seer_otel.instrument import SeerSpanProcessor, request
from seer_otel.instrument.scope import Scope, current, cut

QUESTION = "Which tram runs to the harbour?"


def headers() -> dict[str, str]:
    carrier: dict[str, str] = {}
    W3CBaggagePropagator().inject(carrier)
    return carrier


def test_the_task_is_known_inside_and_not_outside(provider: TracerProvider) -> None:
    with request(task=QUESTION, tracer_provider=provider):
        inside = current()

    assert QUESTION == inside.task
    assert Scope() == current()


def test_an_inner_request_keeps_what_it_does_not_say(provider: TracerProvider) -> None:
    with (
        request(sample_rate=1.0, tracer_provider=provider),
        request(task=QUESTION, sample_rate=0.0),
        request(task="  "),
    ):
        assert Scope(QUESTION, sampled=True) == current()


def test_without_an_open_span_one_is_opened(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with request(task=QUESTION, tracer_provider=provider):
        assert trace.get_current_span().get_span_context().is_valid

    (span,) = exporter.get_finished_spans()

    assert ("request", None, {}) == (span.name, span.parent, dict(span.attributes or {}))


def test_an_open_span_is_used(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    with (
        provider.get_tracer("app").start_as_current_span("POST /ask"),
        request(task=QUESTION, tracer_provider=provider),
    ):
        pass

    assert ["POST /ask"] == [span.name for span in exporter.get_finished_spans()]


def test_its_rate_decides_by_the_trace_id(provider: TracerProvider) -> None:
    for _ in range(50):
        with request(sample_rate=0.5, tracer_provider=provider):
            trace_id = trace.get_current_span().get_span_context().trace_id

            assert sampling.sampled(trace.format_trace_id(trace_id), 0.5) == current().sampled


@pytest.mark.parametrize(("rate", "decision"), [(7.0, True), (-1.0, False), (float("nan"), None)])
def test_a_rate_out_of_range_breaks_nothing(
    provider: TracerProvider, rate: float, decision: bool | None
) -> None:
    with request(sample_rate=rate, tracer_provider=provider):
        assert decision == current().sampled


def test_without_a_rate_the_processor_of_the_process_decides(provider: TracerProvider) -> None:
    with request(tracer_provider=provider):
        assert current().sampled is None

    processor = SeerSpanProcessor(sample_rate=1.0, send=False)
    with request(tracer_provider=provider):
        assert current().sampled is True

    processor.shutdown()
    with request(tracer_provider=provider):
        assert current().sampled is None


def test_only_the_decision_travels(provider: TracerProvider) -> None:
    with request(task=QUESTION, sample_rate=1.0, tracer_provider=provider):
        assert {"baggage": "seer.sampled=true"} == headers()

    assert {} == headers()


def test_the_question_travels_where_asked(provider: TracerProvider) -> None:
    with request(task="Straße?", propagate_task=True, tracer_provider=provider):
        sent = headers()

    token = attach(W3CBaggagePropagator().extract(sent))
    received = current()
    detach(token)

    assert Scope("Straße?", sampled=None) == received


def test_a_long_question_is_cut_so_that_it_travels(provider: TracerProvider) -> None:
    with request(task="鉄道" * 1000, propagate_task=True, tracer_provider=provider):
        sent = headers()["baggage"]

    assert "seer.task=" + "%E9%89%84%E9%81%93" * 222 == sent


def test_a_cut_falls_between_characters() -> None:
    assert ("ab", "é", "", "abc") == (cut("abc", 2), cut("éé", 11), cut("é", 5), cut("abc", 3))


def test_a_decision_made_upstream_stands(provider: TracerProvider) -> None:
    token = attach(baggage.set_baggage("seer.sampled", "false"))
    try:
        with request(sample_rate=1.0, tracer_provider=provider):
            assert current().sampled is False
    finally:
        detach(token)


def test_an_error_passes_and_marks_the_span(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with pytest.raises(KeyError), request(tracer_provider=provider):
        raise KeyError("k")

    (span,) = exporter.get_finished_spans()

    assert not span.status.is_ok
    assert Scope() == current()


async def test_async_requests_do_not_mix(provider: TracerProvider) -> None:
    async def handle(task: str) -> str | None:
        async with request(task=task, tracer_provider=provider):
            await asyncio.sleep(0)
            return current().task

    tasks = [f"question {number}" for number in range(20)]

    assert tasks == await asyncio.gather(*map(handle, tasks))


def test_threads_see_the_request_where_its_context_is_handed_on(provider: TracerProvider) -> None:
    with ThreadPoolExecutor() as pool, request(task=QUESTION, tracer_provider=provider):
        carried = contextvars.copy_context()

        assert QUESTION == pool.submit(carried.run, current).result().task
        assert pool.submit(current).result().task is None


def test_it_decorates_functions(provider: TracerProvider) -> None:
    @request(task=lambda question: question, tracer_provider=provider)
    def answer(question: str) -> str | None:
        return current().task

    assert [QUESTION, "other"] == [answer(QUESTION), answer("other")]
    assert "answer" == answer.__name__


async def test_it_decorates_coroutines(provider: TracerProvider) -> None:
    @request(task=lambda question: question, tracer_provider=provider)
    async def answer(question: str) -> str | None:
        await asyncio.sleep(0)
        return current().task

    assert [QUESTION, "other"] == list(await asyncio.gather(answer(QUESTION), answer("other")))


def test_a_task_that_cannot_be_found_breaks_nothing(
    provider: TracerProvider, caplog: pytest.LogCaptureFixture
) -> None:
    @request(task=lambda question: question["text"], tracer_provider=provider)
    def answer(question: str) -> str | None:
        return current().task

    tasks = [answer(QUESTION), answer(QUESTION)]

    assert [None, None] == tasks
    assert ["The task of a request was not found: TypeError"] == caplog.messages


def test_it_does_not_decorate_generators() -> None:
    def answer() -> object:
        yield "token"

    with pytest.raises(TypeError, match="generator"):
        request()(answer)


def test_without_an_sdk_nothing_happens() -> None:
    with request(task=QUESTION, sample_rate=0.5, tracer_provider=trace.NoOpTracerProvider()):
        assert Scope(QUESTION, sampled=None) == current()
