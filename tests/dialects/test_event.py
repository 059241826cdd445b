"""Retrieval events of files and HTTP bodies."""

from typing import Any

import pytest

from seer_otel.dialects.event import retrieval_from_event
from seer_otel.errors import Undecodable
from seer_otel.retrieval import GroundTruth, Passage, Retrieval


def test_an_event_is_read_in_full() -> None:
    event = {
        "task": "Who manages it?",
        "subquery": "Which depot?",
        "context": [
            "Trams.",
            {
                "text": "The North depot.",
                "id": 3,
                "source": "wiki",
                "score": "0.5",
                "distance": 0.2,
                "rerank_score": 2,
                "rank": 1,
                "metadata": {"page": 4},
            },
        ],
        "is_final_context": True,
        "ground_truth": {"gold_doc_ids": [3, "n1"], "answer": "Irena"},
        "metadata": {"env": "prod"},
        "conversation_id": "c-17",
        "expected_outcome": "The manager is named.",
        "trace_id": "7E" * 16,
        "span_id": "AB" * 8,
        "parent_span_id": "cd" * 8,
        "span_name": "lookup",
        "record_id": "rec_1",
        "created_at": "2026-11-29T12:00:00.000001Z",
        "sample_rate": 0.5,
        "colour": "unknown",
    }

    assert Retrieval(
        context=(
            Passage("Trams."),
            Passage("The North depot.", "3", "wiki", 0.5, 0.2, 2.0, 1, {"page": 4}),
        ),
        task="Who manages it?",
        subquery="Which depot?",
        task_source="seer.task",
        is_final_context=True,
        ground_truth=GroundTruth(("3", "n1"), "Irena"),
        metadata={"env": "prod"},
        conversation_id="c-17",
        expected_outcome="The manager is named.",
        trace_id="7e" * 16,
        span_id="ab" * 8,
        parent_span_id="cd" * 8,
        span_name="lookup",
        record_id="rec_1",
        dialect="seer",
        start_ns=1795953600000001000,
        end_ns=1795953600000001000,
    ) == retrieval_from_event(event)


@pytest.mark.parametrize("key", ["text", "content", "page_content", "document"])
def test_a_passage_is_read_under_every_key_in_use(key: str) -> None:
    event = {"context": [{key: "t"}, {"body": "unreadable"}]}

    assert (Passage("t"), Passage(None)) == retrieval_from_event(event).context


@pytest.mark.parametrize("context", [["a", "b"], '["a", "b"]', ("a", "b")])
def test_a_context_is_a_list_or_a_json_text_of_one(context: Any) -> None:
    assert (Passage("a"), Passage("b")) == retrieval_from_event({"context": context}).context


def test_an_empty_context_is_one() -> None:
    assert () == retrieval_from_event({"task": "Who?", "context": []}).context


def test_a_blank_task_counts_as_absent() -> None:
    event = {"task": "  ", "subquery": "Which?", "context": []}
    found = retrieval_from_event(event)

    assert (None, "query") == (found.task, found.task_source)
    assert () == retrieval_from_event({"task": "", "context": ["t"]}).queries


def test_an_id_serves_as_the_record_id() -> None:
    assert "q1" == retrieval_from_event({"id": "q1", "context": []}).record_id
    assert "7" == retrieval_from_event({"id": "q1", "record_id": 7, "context": []}).record_id


def test_gold_ids_may_be_none() -> None:
    event = {"context": [], "ground_truth": {"gold_doc_ids": []}}

    assert GroundTruth() == retrieval_from_event(event).ground_truth
    assert retrieval_from_event({"context": [], "ground_truth": None}).ground_truth is None


@pytest.mark.parametrize(
    "created_at", [1795953600, "1795953600", "2026-11-29T12:00:00Z", "2026-11-29T14:00:00+02:00"]
)
def test_a_time_is_a_date_or_seconds(created_at: Any) -> None:
    event = {"context": [], "created_at": created_at}

    assert 1795953600_000_000_000 == retrieval_from_event(event).end_ns


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"context": None}, "context is missing: give a list of passages, .. where nothing was"),
        ({"context": 12}, "context is a number; expected a list of passages"),
        ({"context": {"text": "t"}}, "context is an object; expected a list of passages"),
        ({"context": "one text"}, "context is a text; expected a list of passages, or a JSON"),
        ({"context": ["t", 3]}, r"context\[1\] is a number; expected a text or an object like"),
        ({"context": [None]}, r"context\[0\] is null"),
        ({"task": 3}, "task is a number; expected a text"),
        ({"task": ["Who?"]}, "task is a list; expected a text"),
        ({"subquery": True}, "subquery is a bool; expected a text"),
        ({"is_final_context": "maybe"}, "is_final_context is a text; expected true or false"),
        ({"ground_truth": ["a"]}, "ground_truth is a list; expected an object"),
        ({"metadata": "words"}, "metadata is a text; expected an object"),
        ({"trace_id": "7e"}, "trace_id is a text; expected 32 hexadecimal digits"),
        ({"span_id": 12}, "span_id is a number; expected 16 hexadecimal digits"),
        ({"created_at": "yesterday"}, "created_at is a text; expected a time like 2026"),
        ({"created_at": 1e300}, "created_at is a number; expected a time like 2026"),
    ],
)
def test_a_wrong_field_is_refused_with_what_would_do(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Undecodable, match=message):
        retrieval_from_event({"context": [], **fields})
