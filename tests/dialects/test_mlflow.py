"""MLflow and Databricks."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

ASKED = {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanInputs": '{"query": "Who?", "top_k": 2}'}
SCOPE = "mlflow.tracing.provider"


def found(output: Any, **more: Any) -> Any:
    return reading(ASKED | {"mlflow.spanOutputs": json.dumps(output)}, **more)


@pytest.mark.parametrize("kind", ['"RETRIEVER"', '"RERANKER"', "RETRIEVER"])
def test_a_type_makes_a_retrieval(kind: str) -> None:
    assert "mlflow" == reading({"mlflow.spanType": kind}).dialect


@pytest.mark.parametrize("kind", ['"CHAIN"', '"TOOL"', '"EMBEDDING"', '"retrieval"', None, 12])
def test_other_types_make_none(kind: Any) -> None:
    attributes = {"mlflow.spanType": kind, "mlflow.spanOutputs": '["a"]'}

    assert dialects.read(span(attributes)) is None


def test_documents_are_read_in_order_and_metadata_is_the_applications() -> None:
    metadata = {"chunk_id": "x", "relevance_score": 1}
    item = {"page_content": "a", "metadata": metadata, "id": "d1"}

    expected = (Passage("a", "d1", rank=1, metadata=metadata), Passage("b", rank=2))
    assert expected == found([item, {"content": "b"}]).context


@pytest.mark.parametrize("output", [["a"], {"documents": ["a"]}, [{"text": "a"}], "a"])
def test_what_a_function_returned_is_read(output: Any) -> None:
    assert ["a"] == texts(found(output))


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ('"Who?"', "Who?"),
        ('{"query": "Who?", "docs": [{"page_content": "a"}]}', "Who?"),
        ("3", "3"),
    ],
)
def test_inputs_are_json(asked: str, query: str) -> None:
    assert query == reading(ASKED | {"mlflow.spanInputs": asked}).query


def test_an_empty_list_is_an_empty_result_and_null_is_none() -> None:
    assert "empty" == found([]).state
    assert "no_content" == found(None).reason
    assert "no_content" == reading(ASKED).reason
    assert "span_failed" == reading(ASKED, status_code=2).reason


def test_a_cut_output_is_truncated() -> None:
    whole = json.dumps([{"page_content": "a" * 3_000}])

    assert "truncated" == reading(ASKED | {"mlflow.spanOutputs": whole[:2_048]}).reason


@pytest.mark.parametrize("operation", ["RETRIEVER", "RERANKER"])
def test_the_genai_mode_is_recognised_and_has_no_content(operation: str) -> None:
    attributes = {"gen_ai.operation.name": operation}

    assert "no_content" == reading(attributes, scope_name=SCOPE).reason
    assert dialects.read(span(attributes, scope_name="my.app")) is None


def test_the_genai_modes_other_spans_are_none() -> None:
    chain = span({"gen_ai.operation.name": "CHAIN"}, scope_name=SCOPE)

    assert dialects.read(chain) is None
