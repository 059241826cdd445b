"""How conversations are read: ours, and those written for DeepEval."""

import json
from typing import Any

import pytest

from seer_otel.dialects.conversation import conversation_from_event
from seer_otel.errors import Undecodable
from seer_otel.retrieval import Passage

TURNS: list[dict[str, Any]] = [
    {"role": "user", "content": "How long do refunds take?"},
    {"role": "assistant", "content": "30 days.", "retrieval_context": ["Refunds take 30 days."]},
]


@pytest.mark.parametrize(
    "value",
    [
        {"turns": TURNS, "expected_outcome": "Refunds take 30 days."},
        {"turns": json.dumps(TURNS), "expectedOutcome": "Refunds take 30 days."},
        {"turns": TURNS, "expected_outcome": ["Refunds take\n30 days."], "scenario": "A refund."},
        {
            "turns": [
                {"role": "human", "content": [{"type": "text", "text": TURNS[0]["content"]}]},
                {
                    "role": "ai",
                    "content": "30 days.",
                    "retrievalContext": [{"text": "Refunds take 30 days."}],
                },
            ],
            "expected_outcome": " Refunds take 30 days.",
        },
        {
            "turns": [
                {**TURNS[0], "user_id": None, "retrieval_context": None, "tools_called": None},
                {"role": "system", "content": "Be kind."},
                {
                    **TURNS[1],
                    "retrieval_context": [{"source": "policy", "context": "Refunds take 30 days."}],
                },
            ],
            "expected_outcome": "Refunds take 30 days.",
            "additional_metadata": None,
            "comments": None,
        },
    ],
)
def test_the_same_conversation_in_several_spellings(value: dict[str, Any]) -> None:
    found = conversation_from_event(value)

    assert ["user", "assistant"] == [turn.role for turn in found.turns]
    assert ["How long do refunds take?", "30 days."] == [turn.content for turn in found.turns]
    assert ["Refunds take 30 days."] == [passage.text for passage in found.turns[1].context]
    assert "Refunds take 30 days." == (found.expected_outcome or "").strip()


def test_a_passage_with_its_source_in_one_text_is_taken_apart() -> None:
    turn = {**TURNS[1], "retrieval_context": ["deepeval_source=a,b,deepeval_context=It,\nis so."]}
    found = conversation_from_event({"turns": [turn]})

    assert (Passage("It,\nis so.", source="a,b"),) == found.turns[0].context


def test_a_list_of_statements_stays_as_many() -> None:
    found = conversation_from_event({"turns": [], "expected_outcome": ["One. Two.", "Three."]})

    assert "One. Two.\nThree." == found.expected_outcome


@pytest.mark.parametrize("blank", [None, "", " \n", []])
def test_a_blank_expectation_is_none(blank: object) -> None:
    assert (
        conversation_from_event({"turns": [], "expected_outcome": blank}).expected_outcome is None
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("record_id", "x"), ("conversation_id", "x"), ("name", "x"), ("other", None)],
)
def test_a_conversation_is_known_by_its_id_or_name(name: str, expected: str | None) -> None:
    assert expected == conversation_from_event({"turns": [], name: "x"}).record_id


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"turns": "["}, "turns are no list"),
        ({"turns": {"role": "user"}}, "turns are no list"),
        ({"turns": ["hi"]}, "turns[0] is no message"),
        ({"turns": [{"content": "hi"}]}, "turns[0] is no message"),
        ({"turns": [{"role": "user", "content": 3}]}, "turns[0].content"),
        (
            {"turns": [{"role": "user", "content": "x", "retrieval_context": 3}]},
            "retrieval_context",
        ),
        (
            {"turns": [{"role": "user", "content": "x", "retrieval_context": [3]}]},
            "retrieval_context",
        ),
        ({"turns": [], "expected_outcome": 3}, "expected_outcome"),
    ],
)
def test_what_cannot_be_read_says_which_field(value: dict[str, Any], says: str) -> None:
    with pytest.raises(Undecodable) as raised:
        conversation_from_event(value)

    assert says in str(raised.value)
