"""Nothing that a span holds may raise, or take for ever."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seer_otel import dialects
from seer_otel.dialects import Span, SpanEvent, otlp
from seer_otel.dialects.trace import node, resolve, retrieval
from seer_otel.errors import Undecodable

KEYS = sorted(
    {marker.decode() for marker in dialects.INPUT_MARKERS}
    | {
        "seer.context",
        "seer.is_final_context",
        "seer.sample_rate",
        "seer.sampled",
        "seer.metadata",
        "seer.ground_truth",
        "seer.expected_outcome",
        "gen_ai.operation.name",
        "gen_ai.retrieval.documents",
        "gen_ai.retrieval.document_count",
        "openinference.span.kind",
        "input.mime_type",
        "output.value",
        "metadata",
        "retrieval.documents",
        "retrieval.documents.0.document.content",
        "retrieval.documents.1.document.id",
        "reranker.output_documents.0.document.score",
        "langfuse.observation.type",
        "langfuse.observation.output",
        "mlflow.spanType",
        "mlflow.spanOutputs",
        "langsmith.span.kind",
        "gen_ai.completion",
        "ai.observability.span_type",
        "ai.observability.retrieval.retrieved_contexts",
        "ai.observability.retrieval.num_contexts",
        "gen_ai.tool.name",
        "gen_ai.tool.call.result",
        "haystack.component.type",
        "haystack.component.input",
        "haystack.component.output",
        "traceloop.entity.output",
        "gen_ai.task.output",
        "traceloop.entity.name",
        "db.system",
        "db.chroma.query.texts_count",
        "db.milvus.search.result_count",
        "db.query.text",
        "db.query.result.id",
        "db.query.result.distance",
        "db.query.result.document",
        "db.query.result.metadata",
        "db.search.result.entity",
        "ai.documents",
        "ai.ranking",
    }
)
"""Every key that any dialect looks at, and some."""

WORDS = st.sampled_from(
    [
        "retrieval",
        "RETRIEVER",
        "Reranker",
        "EVALUATOR",
        "retriever",
        '"RERANKER"',
        "execute_tool",
        "TOOL",
        '{"output": [["a", 0.5]]}',
        "__REDACTED__",
        "",
        " ",
        "null",
        "[]",
        "{}",
        '{"documents": []}',
        '["a", {"id": 1}]',
        '[{"role": "user", "content": "Who?"}]',
        '{"args": ["x"], "kwargs": {"query": "Who?"}}',
        '[{"content": "cut',
        '["{\\"node\\": {\\"text\\": 1}}", 3]',
        '{"kwargs": {"r": {"query": "Who?"}}, "r": {"documents": ["a"]}}',
        "texts=['Who?', 3]",
        "embeddings=99 vectors",
        '{"index": 0, "relevanceScore": "NaN"}',
        "{'text': 'a', 'score': 1e999}",
        "\ud800",
        '"\\ud800"',
        "0.75",
        "NaN",
        "text/plain",
    ]
)
FIELDS = ["content", "text", "document", "node", "id", "score", "rank", "metadata", "role"]
FIELDS += ["query", "args", "kwargs", "data", "parts", "type", "document.content", "documents"]
FIELDS += ["qb", "count", "index", "relevanceScore"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=8) | WORDS
    | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def as_text(value: Any) -> Any:
    return json.dumps(value, default=repr)


ATTRIBUTES = st.dictionaries(
    st.sampled_from(KEYS), VALUES | VALUES.map(as_text) | VALUES.map(repr), max_size=8
)
EVENTS = st.sampled_from(["db.query.result", "db.search.result", "exception"])
IDS = st.sampled_from(["a", "b", "c", "d"])

Shape = tuple[dict[str, Any], str, str]
"""What makes a span one of a dialect's: attributes, name, scope."""

SHAPES: list[Shape] = [
    ({}, "", ""),
    ({}, "", "seer_otel"),
    ({}, "", "mlflow.tracing.provider"),
    ({"gen_ai.operation.name": "retrieval"}, "", "openlit.instrumentation.langchain"),
    ({"gen_ai.operation.name": "vectordb"}, "", ""),
    ({"gen_ai.operation.name": "vector_db_retrieve"}, "", ""),
    ({"traceloop.entity.name": "haystack_pipeline"}, "", ""),
    ({"db.system": "chroma"}, "chroma.query", ""),
    ({"db.system": "milvus"}, "milvus.search", ""),
    ({"db.system": "Pinecone"}, "pinecone.query", ""),
    ({"db.system": "Qdrant"}, "qdrant.search", ""),
    ({"haystack.component.type": "Retriever"}, "haystack.component.run", ""),
    ({"spring.ai.kind": "vector_store", "db.operation.name": "query"}, "", ""),
    ({"ai.operationId": "ai.rerank"}, "", ""),
]


def shaped(shape: Shape, attributes: dict[str, Any], **fields: Any) -> Span:
    markers, name, scope = shape
    return Span(**fields, attributes=attributes | markers, name=name, scope_name=scope)


SPANS = st.builds(
    shaped,
    st.sampled_from(SHAPES),
    ATTRIBUTES,
    trace_id=st.just("7e" * 16),
    span_id=IDS,
    parent_span_id=st.none() | IDS,
    start_ns=st.integers(0, 3),
    end_ns=st.integers(0, 3),
    events=st.lists(st.builds(SpanEvent, EVENTS, st.just(0), ATTRIBUTES), max_size=2).map(tuple),
    status_code=st.integers(0, 2),
    dropped_attributes=st.integers(0, 1),
    dropped_events=st.integers(0, 1),
    resource=ATTRIBUTES,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(SPANS, max_size=5))
def test_no_span_raises_and_every_retrieval_is_accounted_for(spans: list[Span]) -> None:
    dialects_and_tools = dialects.with_tools(["", "retrieval"])
    nodes = [node(span, dialects_and_tools) for span in spans]
    reading = resolve(nodes)

    assert {n.span_id for n in nodes if n.reading} == set(reading.resolutions)
    for n in nodes:
        if n.reading is not None:
            resolution = reading.resolutions[n.span_id]
            built = retrieval(n, resolution)
            assert (resolution.reason is None) == (resolution.status != "not_evaluable")
            assert (resolution.task is None) == (resolution.task_source is None)
            if resolution.judged:
                assert built.queries != ()
                json.dumps([p.text for p in built.context], ensure_ascii=False).encode()
            for _, query in built.queries:
                assert query.strip()
                query.encode()


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_no_body_raises_anything_but_undecodable(value: Any) -> None:
    for tree in (value, {"resourceSpans": value}, {"resourceSpans": [{"scopeSpans": value}]}):
        try:
            traces = otlp.parse_json(as_text(tree))
        except Undecodable:
            continue
        for span in otlp.spans(traces):
            node(span)


ALONE = {"trace_id": "7e" * 16, "span_id": "a", "parent_span_id": None, "start_ns": 0, "end_ns": 0}

BOMBS = [
    "[" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    '{"documents":' * 20_000 + "[]" + "}" * 20_000,
    '{"document":' * 400 + '"t"' + "}" * 400,
    "x" * 10_000_000,
    '"' + "x" * 10_000_000 + '"',
    "[" + "9" * 200_000 + "]",
    "[" + "1," * 500_000 + "1]",
    '["\\ud800' + "x" * 1_000_000 + '"]',
    " " * 10_000_000,
    "-" * 1_000_000,
]
BOMBED = ["seer.context", "gen_ai.retrieval.documents", "retrieval.documents", "output.value"]
BOMBED += ["input.value", "metadata", "seer.metadata", "seer.ground_truth"]
FOREIGN: list[tuple[Shape, str]] = [
    (({"langfuse.observation.type": "retriever"}, "", ""), "langfuse.observation.output"),
    (({"mlflow.spanType": '"RETRIEVER"'}, "", ""), "mlflow.spanOutputs"),
    (({"langsmith.span.kind": "retriever"}, "", ""), "gen_ai.completion"),
    (
        ({"ai.observability.span_type": "retrieval"}, "", ""),
        "ai.observability.retrieval.retrieved_contexts",
    ),
    (
        ({"haystack.component.type": "Retriever"}, "haystack.component.run", ""),
        "haystack.component.output",
    ),
    (({"gen_ai.operation.name": "vector_db_retrieve"}, "", ""), "traceloop.entity.output"),
    (({"traceloop.entity.input": '{"qb": "Who?"}'}, "", ""), "traceloop.entity.output"),
    (({"traceloop.entity.name": "haystack_pipeline"}, "", ""), "traceloop.entity.output"),
    (({"gen_ai.operation.name": "vectordb"}, "", ""), "db.query.text"),
    (
        ({"gen_ai.operation.name": "retrieval"}, "", "openlit.instrumentation.langchain"),
        "gen_ai.retrieval.documents",
    ),
]
"""The shape, and the attribute with the documents."""


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
@pytest.mark.parametrize("key", BOMBED)
def test_a_bomb_comes_to_an_end(key: str, bomb: str) -> None:
    attributes = {"openinference.span.kind": "RETRIEVER", "gen_ai.operation.name": "retrieval"}
    attributes.pop("openinference.span.kind" if key.startswith("gen_ai") else "x", None)
    span = Span("7e" * 16, "a", None, "n", 0, 0, {**attributes, key: bomb})

    assert resolve([node(span)]).resolutions.keys() <= {span.span_id}


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
@pytest.mark.parametrize(("shape", "key"), FOREIGN)
def test_a_bomb_in_any_dialect_comes_to_an_end(shape: Shape, key: str, bomb: str) -> None:
    span = shaped(shape, {key: bomb}, **ALONE)

    assert resolve([node(span)]).resolutions.keys() <= {span.span_id}


LITERALS = [
    "{" * 100_000,
    "(" * 100_000 + ")" * 100_000,
    "-" * 200_000,
    "{'text': " + "[" * 90 + "'t'" + "]" * 90 + "}",
    "{'text': '" + "x" * 200_000 + "'}",
    "[" + "1," * 120_000 + "]",
    "texts=[" + "'a'," * 50_000 + "]",
    "9" * 200_000,
    "'" + "\\" * 200_000,
    "{'text': 'a'}" + " " * 10_000_000,
]


@pytest.mark.parametrize("bomb", LITERALS, ids=range(len(LITERALS)))
def test_a_bomb_in_pythons_notation_comes_to_an_end(bomb: str) -> None:
    event = SpanEvent("db.search.result", 0, {"db.search.result.entity": bomb})
    store = shaped(({"db.system": "milvus"}, "milvus.search", ""), {}, events=(event,), **ALONE)
    query = {"db.query.text": bomb if bomb.startswith("texts=") else f"texts={bomb}"}
    vectors = shaped(({"gen_ai.operation.name": "vectordb"}, "", ""), query, **ALONE)

    for span in (store, vectors):
        assert resolve([node(span)]).resolutions.keys() <= {span.span_id}


def test_a_ranking_without_end_comes_to_an_end() -> None:
    places = ['{"index": 0, "relevanceScore": 1}'] * 300_000
    attributes = {"ai.documents": ['"' + "x" * 50_000 + '"'], "ai.ranking": places}
    span = shaped(({"ai.operationId": "ai.rerank"}, "", ""), attributes, **ALONE)

    assert resolve([node(span)]).resolutions.keys() <= {span.span_id}


def test_a_deep_structured_value_is_read() -> None:
    value: Any = "t"
    for _ in range(5_000):
        value = {"document": value}
    span = Span("7e" * 16, "a", None, "n", 0, 0, {"seer.context": [value], "input.value": value})

    assert {"a": "no_content"} == {
        i: r.reason or r.status for i, r in resolve([node(span)]).resolutions.items()
    }
