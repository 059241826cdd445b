"""Conversations of files: judged beside the retrievals, recorded, reported."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from seer_otel.config import Config, load
from seer_otel.harness import comparison, report
from seer_otel.harness.run import run

TALK = {
    "name": "refund",
    "expected_outcome": "Refunds take 30 days. The fee is 5 EUR.",
    "turns": [
        {"role": "user", "content": "How long do refunds take?"},
        {
            "role": "assistant",
            "content": "30 days.",
            "retrieval_context": ["Our policy: refunds take 30 days.", "We are open on Sundays."],
        },
        {"role": "user", "content": "What does it cost?"},
        {"role": "assistant", "content": "5 EUR.", "retrieval_context": ["The fee is 5 EUR."]},
    ],
}
RECORDED = {
    "query": TALK["expected_outcome"],
    "requirements": [
        {"text": "Refunds take 30 days.", "passages": ["Our policy: refunds take 30 days."]},
        {"text": "The fee is 5 EUR.", "passages": ["The fee is 5 EUR."]},
    ],
}


@pytest.fixture
def replay(tmp_path: Path) -> Config:
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps(RECORDED))
    return load(None, {}, {"judge.kind": f"replay:{path}"})


def file(folder: Path, *records: object) -> str:
    path = folder / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return str(path)


def plain(made: report.Report) -> Any:
    return json.loads(json.dumps(report.as_json(made), allow_nan=False))


def test_a_conversation_is_a_result_of_its_own(tmp_path: Path, replay: Config) -> None:
    found = plain(run([file(tmp_path, TALK)], replay))
    (result,) = found["results"]

    assert ("conversation", "refund", "scored", 0.75) == tuple(
        result[name] for name in ("scope", "record_id", "status", "turn_contextual_recall")
    )
    assert [0.5, 1.0] == [turn["recall"] for turn in result["turns"]]
    assert {"text": "The fee is 5 EUR.", "supported": False} == (
        result["turns"][0]["requirements"][1]
    )
    assert {"conversation": {"turn_contextual_recall": 0.75}} == found["summary"]["means"]
    assert {"scored": 1} == found["summary"]["conversations"]
    assert 0 == found["summary"]["n_total"]


def test_a_list_of_test_cases_in_one_file_is_read(tmp_path: Path, replay: Config) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([TALK, {**TALK, "name": None}], indent=1))
    found = plain(run([str(path)], replay))

    assert ["refund", "cases.json#2"] == [each["record_id"] for each in found["results"]]


def test_a_conversation_that_could_not_be_judged_is_told(tmp_path: Path, replay: Config) -> None:
    made = run([file(tmp_path, {**TALK, "expected_outcome": "Something else."})], replay)

    assert not made.all_is_well
    assert {"failed": 1} == plain(made)["summary"]["conversations"]
    assert {} == plain(made)["summary"]["means"]


def test_what_was_judged_is_recorded_and_replayed(tmp_path: Path, replay: Config) -> None:
    recorded = tmp_path / "again.jsonl"
    first = run([file(tmp_path, TALK)], replay, record=recorded)
    second = run([file(tmp_path, TALK)], load(None, {}, {"judge.kind": f"replay:{recorded}"}))

    assert plain(first)["summary"]["means"] == plain(second)["summary"]["means"]


def test_a_table_shows_turn_by_turn_what_is_missing(tmp_path: Path, replay: Config) -> None:
    console = Console(file=io.StringIO(), width=160)
    console.print(report.render(run([file(tmp_path, TALK)], replay)))
    text = console.file.getvalue()  # type: ignore[attr-defined]

    assert "turn contextual recall │  0.750" in text
    assert "message 2" in text
    assert "The fee is 5 EUR." in text
    assert "turn_contextual_recall │    0.750 (1)" in text


def test_conversations_are_compared_too(tmp_path: Path, replay: Config) -> None:
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path in paths:
        path.write_text(json.dumps(report.as_json(run([file(tmp_path, TALK)], replay))))
    (change,) = comparison.compare(*paths).changes

    assert ("conversation", "turn_contextual_recall", 0.75) == (
        change.group, change.score, change.after
    )  # fmt: skip


def test_a_broken_conversation_stops_none_of_the_others(tmp_path: Path, replay: Config) -> None:
    found = plain(run([file(tmp_path, {"turns": 3}, TALK)], replay))

    assert 1 == len(found["results"])
    assert ["turns are no list"] == [error["message"][:17] for error in found["errors"]]
