"""Langfuse."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

ASKED = {"langfuse.observation.type": "retriever", "langfuse.observation.input": "Who?"}


def found(output: Any, **more: Any) -> Any:
    value = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return reading(ASKED | {"langfuse.observation.output": value}, **more)


def test_documents_of_langchain_are_read_in_order_with_their_ids() -> None:
    item = {"id": "d1", "metadata": {"score": 0.9}, "page_content": "Łąka 草地", "type": "Document"}
    other = item | {"id": None, "page_content": "b"}

    expected = (
        Passage("Łąka 草地", "d1", rank=1, metadata={"score": 0.9}),
        Passage("b", rank=2, metadata={"score": 0.9}),
    )
    assert expected == found([item, other]).context


def test_documents_of_langchain_in_javascript_are_read() -> None:
    assert ["a"] == texts(found([{"pageContent": "a", "metadata": {}, "id": "d1"}]))


@pytest.mark.parametrize(
    "output",
    [
        ["a", "b"],
        [{"content": "a", "score": 0.5}, {"text": "b"}],
        {"documents": ["a", "b"]},
        [["a", 0.5], ["b", 0.4]],
    ],
)
def test_whatever_a_function_returned_is_read(output: Any) -> None:
    assert ["a", "b"] == texts(found(output))


def test_a_function_may_return_one_text() -> None:
    assert ["Words, {as} they stand."] == texts(found("Words, {as} they stand."))


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ('{"args": ["Who?"], "kwargs": {}}', "Who?"),
        ('{"args": ["Who?", 5], "kwargs": {"top_k": 5}}', "Who?"),
        ('{"args": [], "kwargs": {"question": "Who?"}}', "Who?"),
        ('{"args": [5], "kwargs": {"top_k": 5}}', None),
        ("{Who?", "{Who?"),
    ],
)
def test_the_query_is_among_the_arguments(asked: str, query: str | None) -> None:
    attributes = ASKED | {"langfuse.observation.input": asked}

    assert query == reading(attributes | {"langfuse.observation.output": "[]"}).query


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (None, "no_content"),
        ("", "no_content"),
        ("null", "no_content"),
        ('[{"id": "d1"}]', "no_content"),
        ('[{"body": "a"}]', "no_content"),
        ('[{"page_content": "cut', "truncated"),
        ("__REDACTED__", "redacted"),
        ('["__REDACTED__"]', "redacted"),
    ],
)
def test_what_cannot_be_judged_says_why(output: Any, reason: str) -> None:
    assert reason == reading(ASKED | {"langfuse.observation.output": output}).reason


def test_an_empty_list_is_an_empty_result_unless_the_span_failed() -> None:
    assert "empty" == found([]).state
    assert "span_failed" == found([], status_code=2).reason
    assert "retrieval" == found(["a"], status_code=2).state


@pytest.mark.parametrize("kind", ["span", "tool", "chain", "embedding", None, 12])
def test_observations_of_another_type_are_none(kind: Any) -> None:
    attributes = {"langfuse.observation.type": kind, "langfuse.observation.output": '["a"]'}

    assert dialects.read(span(attributes)) is None


def test_the_type_outranks_the_genai_operation() -> None:
    attributes = ASKED | {"gen_ai.operation.name": "retrieval"}

    assert "langfuse" == reading(attributes).dialect
