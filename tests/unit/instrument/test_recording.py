"""`with retrieval()`: a span that says what was asked and what was found."""

import asyncio
import json

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seer_otel import dialects
from seer_otel.dialects.sdk import span_from_sdk
from seer_otel.instrument import request, retrieval
from seer_otel.retrieval import GroundTruth, Passage

TASK = "Which depot services the tram that runs to the harbour?"
HOP = "Which tram runs to the harbour?"


def only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


def test_everything_said_is_on_the_span(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with retrieval(
        task=TASK,
        subquery=HOP,
        name="final evidence",
        is_final_context=True,
        metadata={"env": "prod"},
        ground_truth={"gold_doc_ids": ["t9"], "answer": "North"},
        conversation_id="c-17",
        expected_outcome="The rider knows the depot",
        sample_rate=0.5,
        tracer_provider=provider,
    ) as r:
        r.context = ["Tram 9 runs to the harbour."]
    span = only(exporter)

    assert "final evidence" == span.name
    assert {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": HOP,
        "seer.task": TASK,
        "seer.subquery": HOP,
        "seer.context": '["Tram 9 runs to the harbour."]',
        "seer.is_final_context": True,
        "seer.metadata": '{"env":"prod"}',
        "seer.ground_truth": '{"gold_doc_ids":["t9"],"answer":"North"}',
        "seer.conversation_id": "c-17",
        "seer.expected_outcome": "The rider knows the depot",
        "seer.sample_rate": 0.5,
    } == dict(span.attributes or {})


def test_what_was_not_said_is_not_on_the_span(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with retrieval(task=" ", tracer_provider=provider):
        pass
    span = only(exporter)

    assert "retrieval" == span.name
    assert {"gen_ai.operation.name": "retrieval"} == dict(span.attributes or {})


def test_our_dialect_reads_it_back(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    labels = GroundTruth(("t9",), "North")
    with retrieval(task=TASK, subquery=HOP, ground_truth=labels, tracer_provider=provider) as r:
        r.context = [{"text": "Tram 9", "id": "t9", "distance": 0.2}, ("Tram 4", 0.5)]
    reading = dialects.read(span_from_sdk(only(exporter)))

    assert reading is not None
    assert ("seer", "retrieval", HOP, TASK) == (
        reading.dialect,
        reading.state,
        reading.query,
        reading.task,
    )
    assert (Passage("Tram 9", id="t9", distance=0.2), Passage("Tram 4", score=0.5)) == (
        reading.context
    )
    assert labels == reading.ground_truth


def test_the_request_around_it_gives_task_and_decision(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with (
        request(task=TASK, sample_rate=0.0, tracer_provider=provider),
        retrieval(subquery=HOP, tracer_provider=provider),
    ):
        pass
    hop, whole = exporter.get_finished_spans()
    attributes = dict(hop.attributes or {})

    assert (TASK, HOP, False) == (
        attributes["seer.task"],
        attributes["seer.subquery"],
        attributes["seer.sampled"],
    )
    assert {} == dict(whole.attributes or {})


def test_hops_of_a_request_share_its_trace(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with request(task=TASK, tracer_provider=provider):
        for hop in ("one", "two"):
            with retrieval(subquery=hop, tracer_provider=provider):
                pass

    assert 1 == len({span.context.trace_id for span in exporter.get_finished_spans()})


def test_a_context_never_set_is_no_empty_result(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with retrieval(task=TASK, tracer_provider=provider) as r:
        r.context = None
    with retrieval(task=TASK, tracer_provider=provider) as r:
        r.context = []
    unset, empty = exporter.get_finished_spans()

    assert "seer.context" not in (unset.attributes or {})
    assert "[]" == (empty.attributes or {})["seer.context"]


def test_the_context_set_last_counts(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with retrieval(task=TASK, tracer_provider=provider) as r:
        r.context = ["first guess"]
        r.context = ["reranked"]

    assert '["reranked"]' == (only(exporter).attributes or {})["seer.context"]


def test_a_generator_can_still_be_read_from_the_context(provider: TracerProvider) -> None:
    with retrieval(task=TASK, tracer_provider=provider) as r:
        r.context = (text for text in ("a", "b"))

    assert ["a", "b"] == r.context


def test_an_error_of_the_application_passes_and_marks_the_span(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with pytest.raises(ConnectionError), retrieval(task=TASK, tracer_provider=provider):
        raise ConnectionError("index away")
    span = only(exporter)

    assert not span.status.is_ok
    assert ["exception"] == [event.name for event in span.events]


def test_an_error_while_a_generator_is_read_is_the_applications(provider: TracerProvider) -> None:
    def broken() -> object:
        yield "a"
        raise ConnectionError("index away")

    with (
        pytest.raises(ConnectionError),
        retrieval(task=TASK, tracer_provider=provider) as r,
    ):
        r.context = broken()


def test_an_error_of_ours_does_not_pass(
    provider: TracerProvider,
    exporter: InMemorySpanExporter,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with retrieval(task=TASK, tracer_provider=provider) as r:
        r.context = [{"text": "a", "rank": 10**5000}]

    assert "seer.context" not in (only(exporter).attributes or {})
    assert ["A context could not be recorded: ValueError"] == caplog.messages


async def test_async_retrievals_do_not_mix(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    async def hop(number: int) -> None:
        async with retrieval(task=f"question {number}", tracer_provider=provider) as r:
            await asyncio.sleep(0)
            r.context = [f"passage {number}"]

    await asyncio.gather(*map(hop, range(10)))
    pairs = {
        (span.attributes or {})["seer.task"]: json.loads(
            str((span.attributes or {})["seer.context"])
        )
        for span in exporter.get_finished_spans()
    }

    assert {f"question {n}": [f"passage {n}"] for n in range(10)} == pairs


def test_spans_inside_are_its_children(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with retrieval(task=TASK, tracer_provider=provider) as r:
        provider.get_tracer("db").start_span("SELECT").end()
    select, _ = exporter.get_finished_spans()

    assert select.parent is not None
    assert r.span.get_span_context().span_id == select.parent.span_id


def test_texts_that_utf8_cannot_hold_are_mended(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    with retrieval(task="a\ud800", tracer_provider=provider) as r:
        r.context = ["b\udfff"]
    attributes = only(exporter).attributes or {}

    assert ("a�", '["b�"]') == (attributes["seer.task"], attributes["seer.context"])


def test_without_an_sdk_everything_works_and_nothing_is_recorded() -> None:
    with retrieval(task=TASK, tracer_provider=trace.NoOpTracerProvider()) as r:
        r.context = (text for text in ("a", "b"))

    assert ["a", "b"] == r.context
