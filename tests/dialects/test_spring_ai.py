"""Spring AI's spans of vector stores."""

from typing import Any

import pytest

from seer_otel import dialects
from tests.dialects.spans import reading, span

QUERY = {
    "spring.ai.kind": "vector_store",
    "db.operation.name": "query",
    "db.vector.query.content": "Who?",
    "db.vector.query.top_k": "4",
}


def test_a_query_is_a_retrieval_without_content() -> None:
    read = reading(QUERY)

    assert ("spring_ai", "no_content", "Who?") == (read.dialect, read.reason, read.query)
    assert read.context == ()


def test_a_query_is_taken_as_it_stands() -> None:
    assert '["Who?"]' == reading(QUERY | {"db.vector.query.content": '["Who?"]'}).query


def test_a_hidden_query_is_none() -> None:
    read = reading(QUERY | {"db.vector.query.content": "__REDACTED__"})

    assert (None, True) == (read.query, read.query_redacted)


def test_a_failed_query_has_failed() -> None:
    assert "span_failed" == reading(QUERY, status_code=2).reason


def test_an_application_may_add_what_was_retrieved() -> None:
    read = reading(QUERY | {"seer.context": '["a"]', "seer.subquery": "Who?"})

    assert ("seer", "retrieval", "Who?") == (read.dialect, read.state, read.query)


@pytest.mark.parametrize(
    "other",
    [
        {"db.operation.name": "add"},
        {"db.operation.name": "delete"},
        {"db.operation.name": None},
        {"spring.ai.kind": "chat_client"},
        {"spring.ai.kind": None},
    ],
)
def test_other_operations_are_none(other: dict[str, Any]) -> None:
    assert dialects.read(span(QUERY | other)) is None
