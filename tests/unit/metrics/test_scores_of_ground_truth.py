"""Scores against labels mean what the documentation says."""

from collections.abc import Sequence
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.metrics.ground_truth import score
from seer_otel.retrieval import Passage
from seer_otel.verdict import GroundTruthScores

ids = st.sampled_from("abcd")
contexts = st.lists(
    st.builds(Passage, text=st.sampled_from(["", "p", " p", "q", "r"]), id=st.none() | ids),
    max_size=8,
)
judged = st.lists(st.lists(st.integers(-1, 9), max_size=4), max_size=4)


def values(scores: GroundTruthScores) -> dict[str, float]:
    return {name: value for name, value in asdict(scores).items() if isinstance(value, float)}


def test_no_gold_ids_leave_every_score_absent() -> None:
    scores = score([Passage("a", id="x")], [], [[1]])

    assert values(scores) == {}
    assert set(scores.absent.values()) == {"no gold ids are given"}
    assert not scores.gold_ids_unmatched


def test_an_id_fetched_three_times_is_fetched_once() -> None:
    context = [Passage(text, id="A") for text in ("one", "two", "three")]
    scores = score(context, ["A", "B"], [[1]])

    assert scores.gt_recall == 0.5
    assert scores.gt_precision == 1.0


def test_a_gold_id_listed_twice_counts_once() -> None:
    assert score([Passage("a", id="A")], ["A", "A"], [[1]]).gt_recall == 1.0


def test_chunks_with_different_texts_are_different_documents() -> None:
    context = [*(Passage(f"chunk {n}", id="d1") for n in range(4)), Passage("other", id="d2")]
    scores = score(context, ["d1"], [[1]])

    assert scores.gt_precision == 4 / 5
    assert scores.gt_recall == 1.0


def test_ids_that_name_something_else_are_reported_as_unmatched() -> None:
    context = [Passage("a", id="doc1#0"), Passage("b", id="doc1#3")]
    scores = score(context, ["doc1"], [[1]])

    assert scores.gt_recall == 0.0
    assert scores.gold_ids_unmatched
    assert scores.absent == {"evaluator_recall": "no gold id was fetched"}


@pytest.mark.parametrize("position", [1, 2])
def test_a_document_is_gold_when_any_copy_carries_a_gold_id(position: int) -> None:
    context = [Passage("same", id="x"), Passage("same", id="y")]
    scores = score(context, ["y"], [[position]])

    assert values(scores) == dict.fromkeys(values(scores), 1.0)
    assert scores.absent == {}


def test_a_passage_without_an_id_is_not_gold() -> None:
    scores = score([Passage("a"), Passage("b", id="x")], ["x"], [[1], [2]])

    assert scores.gt_precision == 0.5
    assert scores.evaluator_precision == 0.5
    assert scores.evaluator_exact_match == 0.0


def test_an_unreadable_item_was_not_fetched() -> None:
    scores = score([Passage(" ", id="x")], ["x"], [[1]])

    assert scores.gt_recall == 0.0
    assert scores.absent["gt_precision"] == "nothing was fetched"


def test_none_fetched_and_none_cited_is_an_exact_match() -> None:
    scores = score([], ["x"], [[]])

    assert values(scores) == {"gt_recall": 0.0, "evaluator_exact_match": 1.0}


@given(contexts, st.lists(ids), judged)
def test_scores_are_shares_or_absent_with_a_reason(
    context: list[Passage], gold: list[str], requirements: Sequence[Sequence[int]]
) -> None:
    scores = score(context, gold, requirements)
    undefined = {name for name, value in asdict(scores).items() if value is None}

    assert all(0 <= value <= 1 for value in values(scores).values())
    assert undefined == set(scores.absent)


@given(contexts, st.lists(ids), judged)
def test_an_exact_match_is_a_perfect_evaluator(
    context: list[Passage], gold: list[str], requirements: Sequence[Sequence[int]]
) -> None:
    scores = score(context, gold, requirements)
    perfect = scores.evaluator_recall in (1.0, None) and scores.evaluator_precision in (1.0, None)

    assert scores.evaluator_exact_match in ((None,) if not gold else (float(perfect),))
