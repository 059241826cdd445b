"""What the scores of ranked lists promise."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from seer_otel.metrics import ranked

IDS = st.sampled_from([f"d{n}" for n in range(12)])
LISTS = st.lists(IDS, max_size=20)
RIGHT = st.sets(IDS, min_size=1)
KS = st.integers(min_value=1, max_value=25)
CONFIDENCES = st.lists(st.floats(-1, 1) | st.none(), min_size=1, max_size=30)


@given(LISTS, RIGHT, KS)
def test_all_scores_are_shares(ranking: list[str], right: set[str], k: int) -> None:
    scores = ranked.score(ranking, right, k)

    assert all(0 <= value <= 1 for value in (scores.recall, scores.hit, scores.rr))
    assert scores.recall <= scores.capped_recall <= 1
    assert scores.hit == float(scores.recall > 0)


@given(RIGHT, KS)
def test_a_perfect_list_reaches_a_capped_recall_of_one(right: set[str], k: int) -> None:
    assert 1.0 == ranked.score(sorted(right), right, k).capped_recall


@given(LISTS, RIGHT, KS)
def test_more_places_find_no_less(ranking: list[str], right: set[str], k: int) -> None:
    fewer, more = (ranked.score(ranking, right, each) for each in (k, k + 1))

    assert fewer.recall <= more.recall
    assert fewer.rr == more.rr


def test_duplicates_count_once_and_take_their_places() -> None:
    assert 0.5 == ranked.score(["A", "A", "A"], {"A", "B"}, 3).recall
    assert 0.5 == ranked.score(["A", "A", "A", "B"], {"A", "B"}, 3).recall
    assert 1.0 == ranked.score(["A", "A", "A"], {"A"}, 3).recall


def test_a_miss_lowers_recall_and_neither_hit_nor_reciprocal_rank() -> None:
    scores = ranked.score(["A"], {"A", "B"}, 10)

    assert (0.5, 0.5, 1.0, 1.0) == (
        scores.recall, scores.capped_recall, scores.hit, scores.rr
    )  # fmt: skip


def test_the_reciprocal_rank_reads_beyond_k() -> None:
    scores = ranked.score(["x", "y", "A"], {"A"}, 2)

    assert (0.0, 0.0, 1 / 3) == (scores.recall, scores.hit, scores.rr)


def test_an_empty_list_scores_nothing() -> None:
    assert ranked.RankedScores(0.0, 0.0, 0.0, 0.0) == ranked.score([], {"A"}, 10)
    assert ranked.CandidateSet(0.0, 0.0) == ranked.candidate_set([], {"a"})


def test_a_query_without_right_documents_has_no_scores() -> None:
    with pytest.raises(ValueError, match="right document"):
        ranked.score(["A"], (), 10)
    with pytest.raises(ValueError, match="right label"):
        ranked.candidate_set([["a"]], ())


def test_hedging_costs() -> None:
    sure = ranked.candidate_set([["a"], ["a"]], ["a"])
    hedged = ranked.candidate_set([["a"], ["b"], ["c"], ["d"]], ["a"])

    assert (1.0, 1.0) == (sure.recall, sure.score)
    assert (1.0, 0.25) == (hedged.recall, hedged.score)


def test_fewer_candidates_than_right_ones_are_no_hedging() -> None:
    assert ranked.CandidateSet(0.5, 0.5) == ranked.candidate_set([["a"]], ["a", "b"])


def test_a_query_with_nothing_returned_is_declined_and_sets_no_floor() -> None:
    scores = ranked.abstention([0.9, 0.8, None], [0.1, None])

    assert scores.floor == pytest.approx(0.805)
    assert scores.accuracy == 1.0
    assert scores.false_abstention_rate == pytest.approx(2 / 3)
    assert 4.5 / 6 == scores.separation_auc


def test_what_cannot_be_said_of_an_abstention_is_absent() -> None:
    assert ranked.Abstention(None, None, None, None) == ranked.abstention([], [])
    assert ranked.Abstention(None, None, None, 0.5) == ranked.abstention([None], [None])

    only = ranked.abstention([0.5], [])

    assert (0.5, None, 0.0, None) == (
        only.floor, only.accuracy, only.false_abstention_rate, only.separation_auc
    )  # fmt: skip


@given(CONFIDENCES, CONFIDENCES)
def test_separation_is_the_area_under_the_curve(
    answerable: list[float | None], unanswerable: list[float | None]
) -> None:
    def floats(values: Sequence[float | None]) -> list[float]:
        return [-2.0 if value is None else value for value in values]

    expected = roc_auc_score(
        [1] * len(answerable) + [0] * len(unanswerable), floats(answerable) + floats(unanswerable)
    )
    found = ranked.separation(answerable, unanswerable)

    assert found is not None
    assert math.isclose(expected, found, abs_tol=1e-9)


@given(CONFIDENCES, CONFIDENCES)
def test_abstention_queries_never_set_the_floor(
    answerable: list[float | None], unanswerable: list[float | None]
) -> None:
    floors = {
        ranked.abstention(answerable, each).floor
        for each in ([], unanswerable, [*unanswerable, *unanswerable])
    }

    assert 1 == len(floors)
