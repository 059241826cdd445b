"""LangSmith over OpenTelemetry."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

ASKED = {
    "langsmith.span.kind": "retriever",
    "gen_ai.operation.name": "embeddings",
    "gen_ai.prompt": '{"query": "Who?", "top_k": 2}',
}


def found(completion: Any, **more: Any) -> Any:
    return reading(ASKED | {"gen_ai.completion": json.dumps(completion)}, **more)


def test_documents_of_langchain_are_read_in_order_with_their_ids() -> None:
    item = {"id": "d1", "metadata": {"score": 0.9}, "page_content": "a", "type": "Document"}
    read = found({"documents": [item, {"page_content": "b"}]})

    expected = (Passage("a", "d1", rank=1, metadata={"score": 0.9}), Passage("b", rank=2))
    assert ("langsmith", "Who?", expected) == (read.dialect, read.query, read.context)


@pytest.mark.parametrize(
    "completion",
    [
        {"output": ["a"]},
        {"outputs": ["a"]},
        {"output": {"documents": ["a"]}},
        {"output": "a"},
        {"documents": [{"pageContent": "a", "metadata": {}}]},
        ["a"],
    ],
)
def test_what_a_traced_function_returned_is_read(completion: Any) -> None:
    assert ["a"] == texts(found(completion))


@pytest.mark.parametrize("completion", [{"documents": []}, {"output": []}, {"outputs": []}, []])
def test_an_empty_list_is_an_empty_result(completion: Any) -> None:
    assert "empty" == found(completion).state
    assert "span_failed" == found(completion, status_code=2).reason


@pytest.mark.parametrize("completion", [{"output": None}, {"output": 3}, {}, None, {"text": ""}])
def test_nothing_is_no_content(completion: Any) -> None:
    assert "no_content" == found(completion).reason


def test_a_cut_completion_is_truncated() -> None:
    whole = json.dumps({"documents": [{"page_content": "a" * 3_000}]})

    assert "truncated" == reading(ASKED | {"gen_ai.completion": whole[:2_048]}).reason


def test_a_project_is_no_conversation() -> None:
    project = {"langsmith.trace.session_name": "fixture"}

    assert reading(ASKED | project).conversation_id is None
    assert (
        "t-1" == reading(ASKED | project | {"langsmith.metadata.thread_id": "t-1"}).conversation_id
    )


@pytest.mark.parametrize("kind", ["llm", "tool", "chain", "embedding", None, 12])
def test_runs_of_another_type_are_none(kind: Any) -> None:
    attributes = ASKED | {"langsmith.span.kind": kind, "gen_ai.completion": '{"output": ["a"]}'}

    assert dialects.read(span(attributes)) is None
