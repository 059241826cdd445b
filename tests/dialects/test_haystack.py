"""Haystack's own tracing."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.dialects import Reading
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

RUN = "haystack.component.run"


def component(
    kind: str, output: Any = None, asked: Any = '{"query": "Who?", "top_k": null}', **fields: Any
) -> Reading:
    attributes = {"haystack.component.type": kind, "haystack.component.input": asked}
    if output is not None:
        attributes["haystack.component.output"] = json.dumps(output, ensure_ascii=False)
    return reading(attributes, name=RUN, **fields)


@pytest.mark.parametrize("kind", ["InMemoryBM25Retriever", "MetaFieldRanker", "MyRetriever"])
def test_retrievers_and_rankers_are_retrievals(kind: str) -> None:
    documents = [
        {"source": "a.md", "id": "d1", "content": "Où ?", "score": 4.8, "embedding": [1.0]},
        {"id": "d2", "content": "b", "score": None},
    ]
    read = component(kind, {"documents": documents})

    expected = (Passage("Où ?", "d1", "a.md", 4.8, rank=1), Passage("b", "d2", rank=2))
    assert ("haystack", "retrieval", "Who?") == (read.dialect, read.state, read.query)
    assert expected == read.context


def test_flattened_metadata_replaces_no_field_of_a_document() -> None:
    metadata = {
        "document": {"id": "m", "content": "not this", "score": 1},
        "node": {"id_": "m", "text": "nor this"},
        "document.id": "m",
        "text": "nor this",
        "rank": 9,
        "distance": 0.3,
    }
    read = component("MyRetriever", {"documents": [metadata | {"id": "d1", "content": "a"}]})

    assert (Passage("a", "d1", rank=1),) == read.context


def test_the_candidates_of_a_ranker_are_no_passages() -> None:
    asked = json.dumps({"documents": [{"id": "d1", "content": "candidate"}], "top_k": 1})
    read = component("MetaFieldRanker", {"documents": [{"id": "d2", "content": "best"}]}, asked)

    assert ("retrieval", None, ["best"]) == (read.state, read.query, texts(read))


@pytest.mark.parametrize(
    "asked",
    [
        '{"query_embedding": [1.0, 0.1], "filters": null}',
        '{"query_embedding": "<3-dimensional vector>"}',
        '{"queries": ["Who?", "When?"]}',
        None,
    ],
)
def test_a_retriever_by_vector_has_no_query(asked: Any) -> None:
    read = component("EmbeddingRetriever", {"documents": [{"content": "a"}]}, asked)

    assert ("retrieval", None) == (read.state, read.query)


def test_an_empty_list_is_an_empty_result() -> None:
    assert "empty" == component("BM25Retriever", {"documents": []}).state
    assert "span_failed" == component("BM25Retriever", {"documents": []}, status_code=2).reason


def test_content_that_is_not_traced_is_no_content() -> None:
    assert "no_content" == component("BM25Retriever").reason
    assert "span_failed" == component("BM25Retriever", status_code=2).reason


def test_a_cut_output_is_truncated() -> None:
    whole = json.dumps({"documents": [{"id": "d1", "content": "a" * 3_000}]})
    attributes = {"haystack.component.type": "BM25Retriever"}

    read = reading(attributes | {"haystack.component.output": whole[:2_048]}, name=RUN)
    assert ("truncated", ()) == (read.reason, read.context)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("DocumentSplitter", RUN),
        ("DocumentJoiner", RUN),
        ("DocumentWriter", RUN),
        ("TextFileToDocument", RUN),
        ("RetrieverTool", RUN),
        ("BM25Retriever", "haystack.pipeline.run"),
        (None, RUN),
        (12, RUN),
    ],
)
def test_other_components_are_none_even_if_they_put_out_documents(kind: Any, name: str) -> None:
    output = {"haystack.component.output": '{"documents": [{"content": "a"}]}'}

    assert dialects.read(span({"haystack.component.type": kind} | output, name=name)) is None
