"""`@retriever`: the query is an argument, the context what is returned."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seer_otel.instrument import request, retriever

QUESTION = "Which tram runs to the harbour?"


def recorded(exporter: InMemorySpanExporter) -> list[tuple[object, object]]:
    return [
        (
            (span.attributes or {}).get("seer.subquery"),
            (span.attributes or {}).get("seer.context"),
        )
        for span in exporter.get_finished_spans()
        if span.name != "request"
    ]


def test_the_first_argument_is_the_query_and_the_result_the_context(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    @retriever(tracer_provider=provider)
    def search(question: str, k: int = 2) -> list[str]:
        """Find passages."""
        return ["a", "b"][:k]

    found = search(QUESTION, k=1)

    assert ["a"] == found
    assert [(QUESTION, '["a"]')] == recorded(exporter)
    assert ("search", "Find passages.") == (search.__name__, search.__doc__)


def test_the_query_can_be_named(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    @retriever(query="text", name="vector search", tracer_provider=provider)
    def search(index: str, *, text: str) -> list[str]:
        return []

    search("wiki", text=QUESTION)

    assert [(QUESTION, "[]")] == recorded(exporter)
    assert ["vector search"] == [span.name for span in exporter.get_finished_spans()]


def test_a_method_is_asked_for_what_follows_self(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    class Index:
        @retriever(tracer_provider=provider)
        def search(self, question: str) -> list[str]:
            return ["a"]

    Index().search(QUESTION)
    Index().search(question=QUESTION)

    assert [(QUESTION, '["a"]')] * 2 == recorded(exporter)


def test_a_query_bundle_says_its_query(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    class QueryBundle:
        query_str = QUESTION

    @retriever(tracer_provider=provider)
    def search(query: QueryBundle) -> list[str]:
        return ["a"]

    search(QueryBundle())

    assert [(QUESTION, '["a"]')] == recorded(exporter)


def test_a_query_that_is_no_text_is_left_out(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    @retriever(tracer_provider=provider)
    def search(vector: list[float]) -> list[str]:
        return ["a"]

    search([0.1, 0.2])

    assert [(None, '["a"]')] == recorded(exporter)


def test_a_name_that_is_no_argument_is_an_error_at_once() -> None:
    def search(question: str) -> list[str]:
        return []

    with pytest.raises(TypeError, match="no argument 'text'"):
        retriever(query="text")(search)


def test_a_wrong_call_fails_as_it_would_without(provider: TracerProvider) -> None:
    @retriever(tracer_provider=provider)
    def search(question: str) -> list[str]:
        return []

    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        search()  # type: ignore[call-arg]


def test_the_bare_decorator_uses_the_global_provider() -> None:
    @retriever
    def search(question: str) -> list[str]:
        return ["a"]

    assert ["a"] == search(QUESTION)


async def test_coroutines(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    @retriever(tracer_provider=provider)
    async def search(question: str) -> list[str]:
        await asyncio.sleep(0)
        return [question.upper()]

    await asyncio.gather(search("a"), search("b"))

    assert [("a", '["A"]'), ("b", '["B"]')] == sorted(recorded(exporter), key=str)


def test_a_generator_stays_lazy_and_has_the_items_that_were_read(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    made: list[int] = []

    @retriever(tracer_provider=provider)
    def pages(question: str) -> Iterator[str]:
        for number in range(1_000_000):
            made.append(number)
            yield f"page {number}"

    reader = pages(QUESTION)
    taken = [next(reader), next(reader)]

    assert (["page 0", "page 1"], [0, 1], []) == (taken, made, recorded(exporter))
    reader.close()  # type: ignore[attr-defined]
    assert [(QUESTION, '["page 0","page 1"]')] == recorded(exporter)


def test_a_generator_works_inside_the_span_and_its_reader_outside(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    tracer = provider.get_tracer("app")

    @retriever(tracer_provider=provider)
    def pages(question: str) -> Iterator[str]:
        tracer.start_span("fetch").end()
        yield "page"

    for _ in pages(QUESTION):
        tracer.start_span("read").end()
    fetch, read, retrieval = exporter.get_finished_spans()

    assert fetch.parent is not None
    assert retrieval.context.span_id == fetch.parent.span_id
    assert read.parent is None


def test_a_generator_that_fails_has_no_context(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    @retriever(tracer_provider=provider)
    def pages(question: str) -> Iterator[str]:
        yield "page"
        raise ConnectionError("index away")

    with pytest.raises(ConnectionError):
        list(pages(QUESTION))

    assert [(QUESTION, None)] == recorded(exporter)
    assert [False] == [span.status.is_ok for span in exporter.get_finished_spans()]


async def test_async_generators(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    @retriever(tracer_provider=provider)
    async def pages(question: str) -> AsyncIterator[str]:
        for number in range(3):
            await asyncio.sleep(0)
            yield f"page {number}"

    assert ["page 0", "page 1", "page 2"] == [page async for page in pages(QUESTION)]
    assert [(QUESTION, '["page 0","page 1","page 2"]')] == recorded(exporter)


def test_the_request_gives_the_task(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    @retriever(tracer_provider=provider)
    def search(question: str) -> list[str]:
        return []

    with request(task=QUESTION, tracer_provider=provider):
        search("hop")
    hop, _ = exporter.get_finished_spans()

    assert (QUESTION, "hop") == (
        (hop.attributes or {})["seer.task"],
        (hop.attributes or {})["seer.subquery"],
    )


def test_without_an_sdk_the_function_is_as_it_was() -> None:
    @retriever(tracer_provider=trace.NoOpTracerProvider())
    def pages(question: str) -> Iterator[str]:
        yield from ("a", "b")

    assert ["a", "b"] == list(pages(QUESTION))
