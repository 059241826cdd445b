"""What is taken as an event, and what is said of the rest: never what a field holds."""

from typing import Any

import pytest

from seer_otel.evaluator.receive import schema
from seer_otel.evaluator.receive.faults import Fault, Invalid

EVENT: dict[str, Any] = {"task": "Who?", "context": ["secret text"]}
ITEM = 'expected a text, or an object like {"text": …}'
TIME = "expected a time like 2026-11-29T12:00:00Z, or seconds since 1970"
NO_QUESTION = "neither task nor subquery says what was asked"


def faults(body: object) -> tuple[Fault, ...]:
    with pytest.raises(Invalid) as error:
        schema.event_of(body)
    return error.value.faults


def test_an_event_may_say_all_of_this() -> None:
    event = {
        "task": "Who?",
        "subquery": "Where?",
        "context": [
            "a",
            {"text": "b"},
            {
                "text": "c",
                "id": 3,
                "source": "wiki",
                "score": "0.75",
                "distance": 0.5,
                "rerank_score": -3,
                "rank": 1,
                "metadata": {"page": [1, {"of": 2}]},
            },
        ],
        "is_final_context": True,
        "metadata": {"env": "prod"},
        "ground_truth": {"gold_doc_ids": [3, "d1"], "answer": "Nobody."},
        "conversation_id": "c1",
        "expected_outcome": "It is said.",
        "trace_id": "AB" * 16,
        "span_id": "0a" * 8,
        "parent_span_id": "0b" * 8,
        "span_name": "lookup",
        "created_at": "2026-11-29T12:00:00Z",
        "sample_rate": 1,
        "record_id": "rec_01-a.b~c:d@e",
    }

    assert event == schema.event_of(event)


def test_null_is_the_same_as_absent() -> None:
    nothing = dict.fromkeys(set(schema.Event.model_fields) - {"task", "context"})

    assert EVENT == schema.event_of({**EVENT, **nothing})


@pytest.mark.parametrize("created_at", [1795953600, 1795953600.5, "1795953600", "2026-11-29"])
def test_a_time_is_a_date_or_seconds(created_at: Any) -> None:
    assert created_at == schema.event_of({**EVENT, "created_at": created_at})["created_at"]


@pytest.mark.parametrize("text", ["", " ", None])
def test_an_item_without_text_keeps_its_place(text: str | None) -> None:
    assert 2 == len(schema.event_of({**EVENT, "context": [{"text": text}, "a"]})["context"])


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ([], "", "expected an object"),
        (None, "", "expected an object"),
        ({"task": "Who?"}, "context", "is missing"),
        ({"context": []}, "", NO_QUESTION),
        ({"task": " \n", "context": ["a"]}, "", NO_QUESTION),
        ({"task": 3, "context": []}, "task", "expected a text"),
        ({**EVENT, "colour": 1}, "colour", "there is no such field"),
        ({**EVENT, "context": "a"}, "context", "expected a list"),
        ({**EVENT, "context": None}, "context", "expected a list"),
        ({**EVENT, "context": ["a", 3]}, "context[1]", ITEM),
        ({**EVENT, "context": [None]}, "context[0]", ITEM),
        ({**EVENT, "context": [{}]}, "context[0].text", "is missing"),
        ({**EVENT, "context": [{"text": 3}]}, "context[0].text", "expected a text"),
        (
            {**EVENT, "context": [{"text": "a", "body": "b"}]},
            "context[0].body",
            "there is no such field",
        ),
        (
            {**EVENT, "context": [{"text": "a", "score": True}]},
            "context[0].score",
            "expected a number",
        ),
        (
            {**EVENT, "context": [{"text": "a", "id": []}]},
            "context[0].id",
            "expected a text or a number",
        ),
        ({**EVENT, "is_final_context": "yes"}, "is_final_context", "expected true or false"),
        ({**EVENT, "metadata": []}, "metadata", "expected an object"),
        ({**EVENT, "ground_truth": "x"}, "ground_truth", "expected an object"),
        ({**EVENT, "ground_truth": {"gold": []}}, "ground_truth.gold", "there is no such field"),
        (
            {**EVENT, "trace_id": "7e"},
            "trace_id",
            "expected 32 hexadecimal digits, not all 0",
        ),
        (
            {**EVENT, "trace_id": "0" * 32},
            "trace_id",
            "expected 32 hexadecimal digits, not all 0",
        ),
        ({**EVENT, "span_id": "ab" * 8}, "span_id", "needs the trace_id that it belongs to"),
        (
            {**EVENT, "parent_span_id": "ab" * 8},
            "parent_span_id",
            "needs the trace_id that it belongs to",
        ),
        ({**EVENT, "sample_rate": 1.5}, "sample_rate", "input should be less than or equal to 1"),
        ({**EVENT, "sample_rate": "1"}, "sample_rate", "expected a number"),
        ({**EVENT, "created_at": "soon"}, "created_at", TIME),
        ({**EVENT, "created_at": True}, "created_at", TIME),
        ({**EVENT, "created_at": "3000-01-01T00:00:00Z"}, "created_at", TIME),
        (
            {**EVENT, "record_id": "a/b"},
            "record_id",
            "expected up to 200 letters, digits and ._~:@-",
        ),
        (
            {**EVENT, "record_id": f"{1:032x}-{2:016x}"},
            "record_id",
            "ids of this form are those of spans",
        ),
    ],
)
def test_a_wrong_field_is_named(body: Any, field: str, message: str) -> None:
    assert (Fault(field, message),) == faults(body)


def test_of_many_faults_the_first_are_told() -> None:
    assert 10 == len(faults({**EVENT, "context": [3] * 500}))


def test_faults_do_not_repeat_what_is_in_the_fields() -> None:
    said = str(
        faults({**EVENT, "context": [{"text": ["secret"], "score": "x", "id": {"secret": 1}}]})
    )

    assert "secret" not in said


def test_a_batch_has_an_end() -> None:
    events = [EVENT] * schema.MAX_EVENTS

    assert schema.MAX_EVENTS == len(schema.events_of({"events": events}))
    with pytest.raises(Invalid, match=r"events: .* 1000 items"):
        schema.events_of({"events": [*events, EVENT]})
