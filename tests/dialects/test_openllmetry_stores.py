"""OpenLLMetry's spans of vector stores."""

from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.dialects import Span, SpanEvent
from seer_otel.dialects.trace import Resolution, node, resolve
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

CHROMA = {"db.system": "chroma", "db.operation": "query", "db.chroma.query.texts_count": 1}
MILVUS = {"db.system": "milvus", "db.operation": "search", "db.milvus.search.data_count": 1}
PINECONE = {"db.system": "Pinecone"}


def results(event: str, *items: dict[str, Any]) -> tuple[SpanEvent, ...]:
    return tuple(
        SpanEvent(event, 1, {f"{event}.{key}": value for key, value in item.items()})
        for item in items
    )


def chroma(*items: dict[str, Any], **more: Any) -> Any:
    events = results("db.query.result", *items)
    return reading(CHROMA, name="chroma.query", events=events, **more)


def milvus(*items: dict[str, Any], **more: Any) -> Any:
    return reading(MILVUS, name="milvus.search", events=results("db.search.result", *items), **more)


def pinecone(*items: dict[str, Any], **more: Any) -> Any:
    asked = results("db.query.embeddings", {"vector": [0.1]})
    events = asked + results("db.query.result", *items)
    return reading(PINECONE, name="pinecone.query", events=events, **more)


def on_the_task(store: Span) -> Resolution:
    """What becomes of a store's span below a root that was asked something."""
    root = span({"input.value": "Who?"}, span_id="0a" * 8)
    return resolve([node(root), node(store)]).resolutions[store.span_id]


def test_results_are_read_in_the_order_in_which_they_come() -> None:
    read = chroma(
        {"id": "b", "distance": 0.9, "document": "Б.", "metadata": '{"id": "m", "score": 1}'},
        {"id": "a", "distance": 0.1, "document": "А."},
    )

    expected = (
        Passage("Б.", "b", score=0.9, rank=1, metadata={"id": "m", "score": 1}),
        Passage("А.", "a", score=0.1, rank=2),
    )
    assert ("openllmetry", "retrieval", expected) == (read.dialect, read.state, read.context)


def test_a_query_that_was_not_recorded_leaves_the_task() -> None:
    events = results("db.query.result", {"id": "a", "document": "A."})
    store = span(CHROMA, name="chroma.query", events=events, parent_span_id="0a" * 8)
    alone = span(CHROMA, name="chroma.query", events=events)

    resolution = on_the_task(store)
    assert ("retrieval", None, "Who?") == (resolution.status, resolution.query, resolution.task)
    assert "no_query" == resolve([node(alone)]).resolutions[alone.span_id].reason


def test_results_without_texts_are_no_content_and_keep_their_ids() -> None:
    read = chroma({"id": "a", "distance": 0.1, "metadata": '{"document": "not this"}'})

    assert "no_content" == read.reason
    assert [("a", None)] == [(p.id, p.text) for p in read.context]


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        (CHROMA | {"db.chroma.query.texts_count": 2}, "chroma.query"),
        (CHROMA | {"db.chroma.query.embeddings_count": "2"}, "chroma.query"),
        (MILVUS | {"db.milvus.search.data_count": 3}, "milvus.search"),
    ],
)
def test_several_queries_are_listed_and_not_judged(attributes: dict[str, Any], name: str) -> None:
    event = "db.search.result" if name == "milvus.search" else "db.query.result"
    items = ({"id": 1, "document": "A.", "entity": "{'text': 'A.'}"},)
    read = reading(attributes, name=name, events=results(event, *items))

    assert ("multiple_queries", ["A."]) == (read.reason, texts(read))


@pytest.mark.parametrize("kept", [0, 2])
def test_lost_events_leave_no_context(kept: int) -> None:
    items = [{"id": str(n), "document": "A."} for n in range(kept)]
    read = chroma(*items, dropped_events=3)

    assert ("attributes_dropped", ()) == (read.reason, read.context)


def test_lost_attributes_lose_no_results() -> None:
    assert "retrieval" == chroma({"id": "a", "document": "A."}, dropped_attributes=3).state


def test_128_of_130_results_are_not_scored_as_if_complete() -> None:
    items = [{"id": str(n), "document": f"Result {n}."} for n in range(130)]

    assert "attributes_dropped" == chroma(*items[2:], dropped_events=2).reason


def test_a_failed_search_without_results_has_failed() -> None:
    exception = (SpanEvent("exception", 1, {"exception.type": "ValueError"}),)
    read = reading(CHROMA, name="chroma.query", events=exception, status_code=2)

    assert "span_failed" == read.reason
    assert "span_failed" == chroma(status_code=2, dropped_events=1).reason
    assert "retrieval" == chroma({"id": "a", "document": "A."}, status_code=2).state


def test_no_results_are_no_empty_result_unless_they_were_counted() -> None:
    assert "no_content" == chroma().reason
    assert "no_content" == milvus().reason
    counted = MILVUS | {"db.milvus.search.result_count": 0}
    assert "empty" == reading(counted, name="milvus.search").state
    counted = PINECONE | {"db.vector.query.result_count": 0}
    assert "empty" == reading(counted, name="pinecone.query").state


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("{'text': 'Naïve.', 'id': 'm', 'score': 9}", "Naïve."),
        ("{'content': \"It's here.\"}", "It's here."),
        ("{'page_content': 'A.', 'year': 2019, 'tags': ['x'], 'no': None}", "A."),
        ({"text": "A."}, "A."),
        ("{'chunk': 'A.'}", None),
        ("{'text': 12}", None),
        ("{'text': {'content': 'A.', 'id': 'm'}}", None),
        ("{'document': {'content': 'A.', 'id': 'm'}}", None),
        ("{'text': 'A.', 'vector': array([0.1])}", None),
        ('{"text": "A.", "no": null}', None),
        ("{'text': 'cut", None),
        ("['A.']", None),
        ("None", None),
        ("open('x')", None),
        (12, None),
        (None, None),
    ],
)
def test_a_text_is_read_from_stored_fields_in_pythons_notation(stored: Any, text: Any) -> None:
    read = [
        milvus({"id": 7, "distance": "0.25", "entity": stored}),
        pinecone({"id": "7", "score": 0.25, "metadata": stored}),
    ]

    assert [[("7", text, 0.25)]] * 2 == [[(p.id, p.text, p.score) for p in r.context] for r in read]


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("Qdrant", "qdrant.query_points"),
        ("Qdrant", "qdrant.query"),
        ("Qdrant", "qdrant.search"),
        ("Qdrant", "qdrant.search_groups"),
        ("weaviate", "db.weaviate.collections.query.get"),
        ("weaviate", "db.weaviate.gql.get.do"),
        ("weaviate", "db.weaviate.gql.query.get.do"),
        ("lancedb", "lancedb.search"),
    ],
)
def test_stores_that_record_no_results_have_no_content(system: str, name: str) -> None:
    attributes = {"db.system": system, "db.milvus.search.filter": "Who?"}
    read = reading(attributes, name=name, dropped_events=1)

    assert ("no_content", None) == (read.reason, read.query)
    assert "span_failed" == reading(attributes, name=name, status_code=2).reason


def test_a_batch_of_searches_has_several_queries() -> None:
    attributes = {"db.system": "Qdrant", "qdrant.search_batch.requests_count": 2}

    assert "multiple_queries" == reading(attributes, name="qdrant.query_batch_points").reason


@pytest.mark.parametrize(
    ("system", "operation"), [("chroma", "query"), ("milvus", "search"), ("lancedb", "search")]
)
def test_a_search_is_told_by_its_operation_too(system: str, operation: str) -> None:
    attributes = {"db.system": system, "db.operation": operation}

    assert "openllmetry" == reading(attributes, name="lookup").dialect


def test_a_store_within_a_framework_is_part_of_one_retrieval() -> None:
    outer = span(
        {
            "gen_ai.operation.name": "vector_db_retrieve",
            "traceloop.entity.input": '{"query": "Who?"}',
            "traceloop.entity.output": '{"documents": [{"page_content": "A."}], "count": 1}',
        },
        span_id="0a" * 8,
    )
    events = results("db.query.result", {"id": "a", "document": "A."})
    store = span(CHROMA, name="chroma.query", events=events, parent_span_id="0a" * 8)
    resolutions = resolve([node(store), node(outer)]).resolutions

    assert ["nested", "retrieval"] == [r.status for r in resolutions.values()]


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("chroma", "chroma.add"),
        ("chroma", "chroma.get"),
        ("chroma", "chroma.peek"),
        ("chroma", "chroma.query.segment._query"),
        ("milvus", "milvus.insert"),
        ("milvus", "milvus.query"),
        ("milvus", "milvus.get"),
        ("Pinecone", "pinecone.upsert"),
        ("Qdrant", "qdrant.upsert"),
        ("Qdrant", "qdrant.scroll"),
        ("weaviate", "db.weaviate.collections.get"),
        ("weaviate", "db.weaviate.collections.query.fetch_object_by_id"),
        ("weaviate", "db.weaviate.data.crud_data.get"),
        ("lancedb", "lancedb.add"),
        ("postgresql", "chroma.query"),
        (None, "chroma.query"),
        (["chroma"], "chroma.query"),
    ],
)
def test_other_operations_and_systems_are_none(system: Any, name: str) -> None:
    events = results("db.query.result", {"id": "a", "document": "A."})

    assert dialects.read(span({"db.system": system}, name=name, events=events)) is None
