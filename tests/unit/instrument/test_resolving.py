"""Texts for ids, from a function of the application: on copies, in the background."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from seer_otel import dialects
from seer_otel.dialects import DIALECTS
from seer_otel.dialects.sdk import span_from_sdk
from seer_otel.errors import ConfigError
from seer_otel.instrument import SeerSpanProcessor
from seer_otel.instrument.evaluator_client import Answer, EvaluatorClient
from seer_otel.instrument.resolving import Resolving
from seer_otel.retrieval import Passage

GENAI = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "Who?"}
TEXTS: Mapping[str, str | None] = {"a": "A text.", "b": "B text."}


def known(ids: Sequence[str]) -> Mapping[str, str | None]:
    return TEXTS


def ended(attributes: Mapping[str, Any]) -> ReadableSpan:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("app")
    span = tracer.start_span("search", attributes=attributes)
    span.end()
    assert isinstance(span, ReadableSpan)
    return span


def with_ids(*ids: str) -> ReadableSpan:
    documents = json.dumps([{"id": i, "score": 0.5} for i in ids])
    return ended(GENAI | {"gen_ai.retrieval.documents": documents})


def test_the_copy_is_a_retrieval_with_texts_ids_and_order() -> None:
    copy = Resolving(known, DIALECTS)(with_ids("b", "gone", "a"))
    reading = dialects.read(span_from_sdk(copy))

    assert reading is not None
    assert ("retrieval", "Who?") == (reading.state, reading.query)
    assert (
        Passage("B text.", "b", score=0.5, rank=1),
        Passage(None, "gone", score=0.5, rank=2),
        Passage("A text.", "a", score=0.5, rank=3),
    ) == reading.context


def test_the_query_of_any_dialect_comes_along() -> None:
    span = ended(
        {
            "openinference.span.kind": "RETRIEVER",
            "input.value": '{"query": "Which?"}',
            "retrieval.documents.0.document.id": "a",
        }
    )
    reading = dialects.read(span_from_sdk(Resolving(known, DIALECTS)(span)))

    assert reading is not None
    assert ("Which?", ["A text."]) == (reading.query, [p.text for p in reading.context])


def test_the_application_s_own_span_is_not_touched() -> None:
    span = with_ids("a")
    before = dict(span.attributes or {})
    Resolving(known, DIALECTS)(span)

    assert before == dict(span.attributes or {})


def test_each_id_is_asked_for_once_and_a_list_answers_in_order() -> None:
    asked: list[list[str]] = []

    def listed(ids: list[str]) -> list[str | None]:
        asked.append(ids)
        return [TEXTS.get(i) for i in ids]

    copy = Resolving(listed, DIALECTS)(with_ids("b", "a", "b"))
    reading = dialects.read(span_from_sdk(copy))

    assert [["b", "a"]] == asked
    assert reading is not None
    assert ["B text.", "A text.", "B text."] == [p.text for p in reading.context]


@pytest.mark.parametrize(
    "attributes",
    [
        GENAI,
        GENAI | {"gen_ai.retrieval.documents": "[]"},
        GENAI | {"gen_ai.retrieval.documents": '[{"id": "a", "content": "Its own."}]'},
        GENAI | {"gen_ai.retrieval.documents": '[{"id": "a"'},
        {"gen_ai.operation.name": "chat"},
    ],
)
def test_what_has_no_ids_without_texts_is_left_as_it_is(attributes: dict[str, Any]) -> None:
    def never(ids: list[str]) -> Mapping[str, str | None]:
        raise AssertionError(ids)

    span = ended(attributes)

    assert span is Resolving(never, DIALECTS)(span)


@pytest.mark.parametrize(
    "answer",
    [
        dict,
        lambda: {"a": None, "c": "C"},
        lambda: {"a": 3},
        lambda: {"a": " "},
        list,
        lambda: ["1", "2"],
        lambda: None,
        lambda: "A text.",
        lambda: 1 / 0,
    ],
)
def test_an_answer_without_texts_leaves_the_span_as_it_is(
    answer: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    span = with_ids("a")

    assert span is Resolving(lambda ids: answer(), DIALECTS)(span)
    assert "A text." not in caplog.text


def test_a_function_that_fails_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    def away(ids: list[str]) -> Mapping[str, str | None]:
        raise ConnectionError(f"secret content: {ids}")

    resolving = Resolving(away, DIALECTS)
    for _ in range(3):
        resolving(with_ids("a"))

    assert ["Texts could not be resolved: ConnectionError"] == caplog.messages


def test_a_coroutine_function_is_refused() -> None:
    async def later(ids: list[str]) -> Mapping[str, str | None]:
        return TEXTS

    with pytest.raises(ConfigError, match="plain function"):
        SeerSpanProcessor(resolve=later)  # type: ignore[arg-type]


def test_it_is_called_in_the_background_and_its_texts_are_shipped(
    provider: TracerProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped: list[ExportTraceServiceRequest] = []
    callers: set[str] = set()
    may_answer = threading.Event()

    def post(_: EvaluatorClient, body: bytes) -> Answer:
        shipped.append(ExportTraceServiceRequest.FromString(body))
        return Answer("taken")

    def slow(ids: list[str]) -> Mapping[str, str | None]:
        callers.add(threading.current_thread().name)
        may_answer.wait(30)
        return TEXTS

    monkeypatch.setattr(EvaluatorClient, "post", post)
    provider.add_span_processor(SeerSpanProcessor(sample_rate=1.0, resolve=slow))
    documents = '[{"id": "a"}]'
    attributes = GENAI | {"gen_ai.retrieval.documents": documents}
    provider.get_tracer("app").start_span("search", attributes=attributes).end()
    may_answer.set()
    provider.force_flush()
    (span,) = shipped[0].resource_spans[0].scope_spans[0].spans

    assert {"seer-shipping"} == callers
    assert {"seer.context": '[{"text":"A text.","id":"a","rank":1}]'}.items() <= {
        pair.key: pair.value.string_value for pair in span.attributes
    }.items()


def test_tools_that_are_named_are_shipped(
    provider: TracerProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": '["a"]'}
    monkeypatch.setattr(EvaluatorClient, "post", lambda *_: Answer("taken"))
    monkeypatch.setenv("SEER_TOOLS", "lookup")
    processor = SeerSpanProcessor(sample_rate=1.0)
    provider.add_span_processor(processor)
    for name in ("lookup", "weather"):
        span = provider.get_tracer("app").start_span(name)
        span.set_attributes(call | {"gen_ai.tool.name": name})
        span.end()
    provider.force_flush()

    assert 1 == processor.counts.shipped
