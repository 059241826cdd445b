"""The question inside an input."""

import json
from typing import Any

import pytest

from seer_otel.dialects.question import Question, plain, unwrap

PIPELINE = {"retriever": {"query": "Who?"}, "prompt": {"question": "Who?"}}


@pytest.mark.parametrize(
    ("value", "question"),
    [
        ("Who?", "Who?"),
        (" Who?\n", " Who?\n"),
        ('"Who?"', "Who?"),
        ("{is this a question?", "{is this a question?"),
        ("[1] or [2]?", "[1] or [2]?"),
        ('{"query": "Who?", "top_k": 3}', "Who?"),
        ({"question": "Who?", "query": "rewritten"}, "Who?"),
        ({"question": "", "query": "Who?"}, "Who?"),
        ({"question": ["a", "b"], "user_query": "Who?"}, "Who?"),
        ({"inputs": {"question": "Who?"}, "tags": ["x"]}, "Who?"),
        ({"qb": {"query_str": "Who?", "embedding": None}}, "Who?"),
        ({"str_or_query_bundle": {"query_str": "Who?"}}, "Who?"),
        ({"str_or_query_bundle": "Who?"}, "Who?"),
        ({"args": ["Who?", "wiki"], "kwargs": {}}, "Who?"),
        ({"args": [{"no": "text"}, "Who?"]}, "Who?"),
        ({"args": [], "kwargs": {"query": "Who?"}}, "Who?"),
        ({"args": [[{"role": "user", "content": "Who?"}]]}, "Who?"),
        (["Who?"], "Who?"),
        ([{"query": "Who?"}], "Who?"),
        ('{"input": "{\\"query\\": \\"Who?\\"}"}', "Who?"),
        ("\\ud800", "\\ud800"),
        ('"Who \\ud800?"', "Who �?"),
    ],
)
def test_a_question_is_found(value: Any, question: str) -> None:
    assert Question(question) == unwrap(value)


@pytest.mark.parametrize(
    "value",
    [
        "",
        " \n",
        "[]",
        "{}",
        "null",
        '["Who?", "When?"]',
        ["Who?", "When?"],
        {"page_content": "no question"},
        {"query": {"page_content": "no question"}},
        {"query_embedding": "<3-dimensional vector>"},
        {"query": "<1536-dimensional vector>"},
        12,
        2.5,
        True,
        None,
        b"Who?",
        {"a": "text", "b": {"query": "Who?"}},
    ],
)
def test_other_values_hold_no_question(value: Any) -> None:
    assert Question() == unwrap(value)


@pytest.mark.parametrize(
    ("value", "question"),
    [
        (PIPELINE, "Who?"),
        ({"data": PIPELINE}, "Who?"),
        ({"args": [], "kwargs": PIPELINE}, "Who?"),
        ({"a": {"query": "q1"}, "b": {"query": "q1"}}, "q1"),
        ({"a": {"query": "q1"}, "b": {"question": "Who?"}}, "Who?"),
        ({"retriever": {"query_embedding": [0.1]}, "prompt": {"template": "x"}}, None),
    ],
)
def test_a_pipeline_asks_what_its_components_agree_on(value: Any, question: str | None) -> None:
    assert Question(question) == unwrap(value)


def test_two_different_questions_in_one_pipeline_are_none() -> None:
    inputs = {"a": {"query": "Who?"}, "b": {"query": "When?"}, "c": {"input": "What?"}}

    assert Question() == unwrap(inputs)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Who?"},
        {"role": "human", "content": "Who?"},
        {"type": "human", "content": "Who?"},
        {"type": "human", "data": {"content": "Who?"}},
        {"type": "constructor", "kwargs": {"type": "human", "content": "Who?"}},
        {"role": "user", "content": [{"type": "text", "text": "Who?"}]},
        {"role": "user", "content": ["Who?"]},
        {"role": "user", "parts": [{"type": "text", "content": "Who?"}]},
        {"role": "user", "parts": [{"text": "Who?"}]},
        {"role": "user", "content": '{"question": "Who?"}'},
        {"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "Who?"}]},
    ],
)
def test_the_user_asks_in_messages_of_every_shape(message: dict[str, Any]) -> None:
    conversation = [{"role": "system", "content": "Be brief."}, message]

    assert Question("Who?") == unwrap(conversation)
    assert Question("Who?") == unwrap({"messages": json.dumps(conversation)})
    assert Question("Who?") == unwrap([conversation])


def test_the_last_message_of_the_user_counts() -> None:
    conversation = [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "Ines."},
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "In 2019."},
    ]

    assert Question("When?") == unwrap(conversation)


def test_the_result_of_a_tool_is_no_question() -> None:
    conversation = [
        {"role": "user", "parts": [{"type": "text", "content": "Who?"}]},
        {"role": "user", "parts": [{"type": "tool_call_response", "content": "quill-002"}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "quill-004"}]},
        {"role": "tool", "content": "quill-005"},
    ]

    assert Question("Who?") == unwrap(conversation)


def test_messages_without_the_user_hold_no_question() -> None:
    assert Question() == unwrap([{"role": "system", "content": "Be brief."}])


@pytest.mark.parametrize(
    "value",
    [
        "__REDACTED__",
        '"__REDACTED__"',
        {"query": "__REDACTED__"},
        [{"role": "user", "content": "__REDACTED__"}],
    ],
)
def test_a_hidden_question_is_told_from_none(value: Any) -> None:
    assert Question(None, redacted=True) == unwrap(value)


def test_a_readable_question_beside_a_hidden_one_counts() -> None:
    assert Question("Who?") == unwrap({"question": "__REDACTED__", "query": "Who?"})


def test_a_text_by_convention_is_taken_as_it_stands() -> None:
    assert Question('{"query": "Who?"}') == plain('{"query": "Who?"}')
    assert Question() == plain("  ")
    assert Question(None, redacted=True) == plain("__REDACTED__")
    assert Question() == plain(12)


@pytest.mark.parametrize(
    "value",
    [
        "[" * 200_000,
        "[" * 200_000 + "]" * 200_000,
        '{"query":' * 50_000 + "1" + "}" * 50_000,
        '{"a":' * 500 + "{}" + "}" * 500,
        "x" * 10_000_000,
        "9" * 100_000,
        "[" + "9" * 100_000 + "]",
        json.dumps({f"c{n}": {"filters": {}} for n in range(100_000)}),
    ],
    ids=range(8),
)
def test_a_bomb_comes_to_an_end(value: str) -> None:
    assert isinstance(unwrap(value), Question)


def test_keys_within_keys_are_looked_through_once() -> None:
    value: Any = {"no": "question"}
    for _ in range(40):
        value = {"question": value, "query": {"data": {}}, "input": {"args": []}}

    assert unwrap(value).text is None
