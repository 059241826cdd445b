"""TruLens."""

from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

ASKED = {
    "ai.observability.span_type": "retrieval",
    "ai.observability.retrieval.query_text": '["Who?"]',
}
CONTEXTS = "ai.observability.retrieval.retrieved_contexts"
COUNT = "ai.observability.retrieval.num_contexts"
MIRROR = "gen_ai.retrieval.documents"


def test_contexts_are_texts_in_order_and_the_query_is_taken_as_it_stands() -> None:
    read = reading(ASKED | {CONTEXTS: ["a", '["b"]'], MIRROR: ["a", '["b"]']})

    expected = (Passage("a", rank=1), Passage('["b"]', rank=2))
    assert ("trulens", '["Who?"]', expected) == (read.dialect, read.query, read.context)


@pytest.mark.parametrize(
    "attributes",
    [{CONTEXTS: ["a"]}, {MIRROR: ["a"]}, {CONTEXTS: '["a"]'}, {CONTEXTS: "a"}],
)
def test_contexts_come_in_several_shapes(attributes: dict[str, Any]) -> None:
    assert ["a"] == texts(reading(ASKED | attributes))


def test_the_query_may_be_in_the_mirror_alone() -> None:
    attributes = {"ai.observability.span_type": "retrieval", "gen_ai.retrieval.query.text": "Who?"}

    assert "Who?" == reading(attributes).query


@pytest.mark.parametrize("empty", [{CONTEXTS: []}, {COUNT: 0}, {MIRROR: []}, {COUNT: "0"}])
def test_an_empty_list_or_a_count_of_0_is_an_empty_result(empty: dict[str, Any]) -> None:
    assert "empty" == reading(ASKED | empty).state
    assert "span_failed" == reading(ASKED | empty, status_code=2).reason


def test_a_count_without_contexts_is_no_content() -> None:
    assert "no_content" == reading(ASKED | {COUNT: 3}).reason
    assert "no_content" == reading(ASKED).reason


def test_hidden_contexts_are_redacted() -> None:
    assert "redacted" == reading(ASKED | {CONTEXTS: ["__REDACTED__", "__REDACTED__"]}).reason


def test_an_array_is_whole_whatever_else_was_lost() -> None:
    assert "retrieval" == reading(ASKED | {CONTEXTS: ["a"]}, dropped_attributes=3).state


@pytest.mark.parametrize("kind", ["record_root", "generation", "reranking", "eval", None, 12])
def test_spans_of_another_type_are_none(kind: Any) -> None:
    attributes = {"ai.observability.span_type": kind, CONTEXTS: ["a"]}

    assert dialects.read(span(attributes)) is None
