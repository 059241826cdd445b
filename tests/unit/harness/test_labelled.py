"""Labelled questions: what is in a line, and what the truth about it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from seer_otel.harness.files import BadRecord
from seer_otel.harness.labelled import Question, read

ROW: dict[str, Any] = {
    "id": "q1",
    "source": "films",
    "task": "Who directed Inception, and when was it released?",
    "subqueries": [
        {"subquery": "director of Inception", "gold_doc_ids": ["a"]},
        {"subquery": "year of Inception", "gold_doc_ids": []},
    ],
    "context": [
        {"id": "b", "text": "Berlin has a zoo.", "score": 9.0},
        {"id": "a", "text": "Nolan directed Inception.", "score": 8.0},
    ],
    "ground_truth": {"gold_doc_ids": ["a"], "answer": "Nolan, 2010"},
}


def first(tmp_path: Path, row: object) -> Question | BadRecord:
    path = tmp_path / "set.jsonl"
    path.write_text(row if isinstance(row, str) else json.dumps(row))
    return next(iter(read([path])))


def question(tmp_path: Path, **changed: Any) -> Question:
    row = {name: value for name, value in {**ROW, **changed}.items() if value is not None}
    found = first(tmp_path, row)
    assert isinstance(found, Question)
    return found


def test_a_line_is_a_retrieval_with_its_labels(tmp_path: Path) -> None:
    found = question(tmp_path)

    assert ("q1", "films", frozenset("a"), 2) == (found.id, found.source, found.gold, found.k)
    assert (("task", ROW["task"]),) == found.retrieval.queries


def test_the_truth_is_what_a_judge_that_is_always_right_would_score(tmp_path: Path) -> None:
    truth = question(tmp_path).truth

    assert (0.5, 0.5) == (truth.recall, truth.precision)
    assert pytest.approx(0.6309, abs=1e-4) == truth.ndcg


def test_a_list_without_scores_counts_as_ranked(tmp_path: Path) -> None:
    context = [{"id": "a", "text": "Nolan directed Inception."}, {"id": "b", "text": "Zoo."}]

    assert 1.0 == question(tmp_path, context=context).truth.ndcg


@pytest.mark.parametrize(
    ("gold", "expected"), [(["a"], 1.0), (["a", "c"], 0.5), ([], 0.0), (["c"], 0.0)]
)
def test_without_a_decomposition_k_is_unknown_and_each_gold_document_is_needed(
    tmp_path: Path, gold: list[str], expected: float
) -> None:
    found = question(tmp_path, subqueries=None, ground_truth={"gold_doc_ids": gold})

    assert (None, expected) == (found.k, found.truth.recall)


def test_ids_are_compared_as_texts(tmp_path: Path) -> None:
    found = question(
        tmp_path,
        context=[{"id": 1, "text": "Nolan directed Inception."}],
        subqueries=[{"gold_doc_ids": ["1"]}],
        ground_truth={"gold_doc_ids": [1]},
    )

    assert (frozenset("1"), 1.0) == (found.gold, found.truth.recall)


def test_a_set_without_a_name_has_that_of_its_file(tmp_path: Path) -> None:
    found = question(tmp_path, id=None, source=None)

    assert ("set.jsonl#1", "set") == (found.id, found.source)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{", "line"),
        ("[]", "no object"),
        ({**ROW, "ground_truth": {}}, "ground_truth.gold_doc_ids is missing"),
        ({**ROW, "ground_truth": "a"}, "ground_truth"),
        ({**ROW, "task": " "}, "task is missing"),
        ({**ROW, "context": None}, "context is missing"),
        ({**ROW, "subqueries": ["who"]}, "subqueries"),
    ],
)
def test_a_bad_line_says_what_it_lacks(tmp_path: Path, row: object, says: str) -> None:
    found = first(tmp_path, row)

    assert isinstance(found, BadRecord)
    assert says in str(found)
    assert str(found).startswith("set.jsonl:1: ")
