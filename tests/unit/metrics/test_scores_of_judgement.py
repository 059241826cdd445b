"""Scores of one judgement mean what the documentation says."""

import math
import random
from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from seer_otel.metrics.judgement import cited, score, verdict_label
from seer_otel.metrics.ranking import ranked
from seer_otel.retrieval import Passage
from seer_otel.verdict import Scores

Requirements = Sequence[Sequence[int]]

EIFFEL = (
    Passage("Berlin has a zoo.", score=0.9),
    Passage("The Eiffel Tower is in Paris.", score=0.8),
)

texts = st.sampled_from(["", " \n", "a", " a ", "a  b", "a b", "\u00e9", "e\u0301", "b", "c"])
numbers = st.none() | st.floats() | st.sampled_from([0.0, 0.5, 1.0])
passages = st.builds(
    Passage,
    text=st.none() | texts,
    id=st.none() | st.sampled_from("xyz"),
    score=numbers,
    distance=numbers,
    rerank_score=numbers,
    rank=st.none() | st.integers(),
)
contexts = st.lists(passages, max_size=12)
judged = st.lists(st.lists(st.integers(-2, 14), max_size=5), max_size=6)


def values(scores: Scores) -> dict[str, float]:
    return {name: value for name, value in asdict(scores).items() if isinstance(value, float)}


@pytest.mark.parametrize("context", [[], [""], [" \n"], [None]])
def test_an_empty_context_has_a_recall_of_0_and_nothing_else(context: list[str | None]) -> None:
    scores = score([Passage(text) for text in context], [[], []])

    assert values(scores) == {"recall": 0.0}
    assert scores.absent == dict.fromkeys(
        ("precision", "f1", "ndcg", "contextual_precision"), "the context is empty"
    )


def test_a_citation_of_an_empty_context_supports_nothing() -> None:
    assert values(score([Passage(" ")], [[1]])) == {"recall": 0.0}


def test_a_query_that_needs_nothing_has_no_scores() -> None:
    scores = score([Passage("Hello!", score=1.0)], [])

    assert values(scores) == {}
    assert set(scores.absent.values()) == {"the query needs no retrieval"}
    assert verdict_label(scores) == "not_applicable"


def test_noise_above_the_evidence_lowers_precision_and_ndcg() -> None:
    scores = score(EIFFEL, [[2]])

    assert values(scores) == {
        "recall": 1.0,
        "precision": 0.5,
        "f1": pytest.approx(2 / 3),
        "ndcg": pytest.approx(0.631, abs=5e-4),
        "contextual_precision": 0.5,
    }


def test_both_orders_of_a_context_score_differently() -> None:
    swapped = (replace(EIFFEL[0], score=0.8), replace(EIFFEL[1], score=0.9))

    assert score(EIFFEL, [[2]]).ndcg != score(swapped, [[2]]).ndcg
    assert score(swapped, [[2]]).ndcg == 1.0


def test_copies_of_one_passage_never_count_twice() -> None:
    context = [Passage("The same.", score=0.9 - n / 10) for n in range(3)]

    assert values(score(context, [[1, 2, 3]])) == {
        "recall": 1.0,
        "precision": pytest.approx(1 / 3),
        "f1": 0.5,
        "ndcg": 1.0,
        "contextual_precision": 1.0,
    }


def test_citing_one_copy_is_citing_every_copy() -> None:
    context = [
        Passage("Same text.", id="x", score=0.9),
        Passage("Same text.", id="y", score=0.8),
    ]

    assert score(context, [[1]]) == score(context, [[2]])
    assert score(context, [[1]]).precision == 0.5
    assert score(context, [[1]]).ndcg == 1.0
    assert cited(context, [[2]]) == (1, 2)


def test_one_of_eleven_requirements_is_one_eleventh() -> None:
    assert score([Passage("a")], [[1], *([] for _ in range(10))]).recall == 1 / 11


def test_a_distance_orders_upwards_and_a_score_downwards() -> None:
    near_first = [Passage("a", distance=0.1), Passage("b", distance=0.4)]
    negative = [Passage("a", score=-172.0), Passage("b", score=-3.0)]

    assert ranked(near_first) == ("distance", (1, 2))
    assert ranked(negative) == ("score", (2, 1))


@pytest.mark.parametrize("missing", [None, math.nan, math.inf, -math.inf])
def test_a_score_missing_from_one_passage_leaves_no_ranking(missing: float | None) -> None:
    scores = score([Passage("a", score=0.9), Passage("b", score=missing)], [[1]])

    assert scores.ranking == "partial"
    assert scores.absent == dict.fromkeys(
        ("ndcg", "contextual_precision"), "only some of the passages have a rank or a score"
    )


@pytest.mark.parametrize(
    ("passage", "signal"),
    [
        (Passage("a", rank=1, rerank_score=1, score=1, distance=1), "rank"),
        (Passage("a", rerank_score=1, score=1, distance=1), "rerank_score"),
        (Passage("a", score=1, distance=1), "score"),
        (Passage("a", distance=1), "distance"),
        (Passage("a"), "absent"),
    ],
)
def test_signals_have_a_precedence(passage: Passage, signal: str) -> None:
    assert ranked([passage])[0] == signal


def test_the_list_orders_where_its_convention_says_so_and_no_signal_does() -> None:
    some = [Passage("a", score=0.1), Passage("b")]
    every = [Passage("a", score=0.1), Passage("b", score=0.2)]

    assert ranked(some, list_is_ranked=True) == ("list", (1, 2))
    assert ranked(every, list_is_ranked=True) == ("score", (2, 1))


def test_ties_keep_the_order_given() -> None:
    assert ranked([Passage(text, score=0.5) for text in "abc"]) == ("score", (1, 2, 3))


def test_unreadable_items_keep_their_position_and_are_not_ranked() -> None:
    context = [Passage(None, score=1.0), Passage("a", score=0.1), Passage("b", score=0.2)]

    assert ranked(context) == ("score", (3, 2))
    assert cited(context, [[1, 3]]) == (3,)


@pytest.mark.parametrize("position", [-1, 0, 3])
def test_a_citation_of_no_passage_counts_for_nothing(position: int) -> None:
    assert score(EIFFEL, [[position]]).recall == 0.0
    assert cited(EIFFEL, [[position]]) == ()


def test_what_was_missed_cannot_lower_ndcg() -> None:
    """Its ideal knows only what was cited; recall is what shows a miss."""
    scores = score([Passage("a", score=1.0)], [[1], []])

    assert scores.ndcg == 1.0
    assert scores.recall == 0.5


@pytest.mark.parametrize(
    ("requirements", "label"), [([[1], [2]], "complete"), ([[1], []], "partial"), ([[]], "none")]
)
def test_the_verdict_in_one_word_goes_by_recall(requirements: Requirements, label: str) -> None:
    assert verdict_label(score(EIFFEL, requirements)) == label


@pytest.mark.parametrize("seed", range(50))
def test_ndcg_and_average_precision_agree_with_scikit_learn(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.randint(2, 40)
    context = [Passage(f"passage {n}", score=chance.uniform(-5, 5)) for n in range(size)]
    relevant = sorted(chance.sample(range(size), chance.randint(1, size)))
    truth = [int(n in relevant) for n in range(size)]
    estimates = [passage.score for passage in context]
    scores = score(context, [[n + 1] for n in relevant])

    assert scores.ndcg == pytest.approx(ndcg_score([truth], [estimates]))
    assert scores.contextual_precision == pytest.approx(average_precision_score(truth, estimates))


@given(contexts, judged, st.booleans())
def test_scores_are_shares_or_absent_with_a_reason(
    context: list[Passage], requirements: Requirements, list_is_ranked: bool
) -> None:
    scores = score(context, requirements, list_is_ranked=list_is_ranked)
    names = {"recall", "precision", "f1", "ndcg", "contextual_precision"}

    assert all(0 <= value <= 1 for value in values(scores).values())
    assert set(values(scores)) | set(scores.absent) == names
    assert not set(values(scores)) & set(scores.absent)


@given(contexts, judged)
def test_ids_change_no_online_score(context: list[Passage], requirements: Requirements) -> None:
    renamed = [replace(passage, id=f"new {n}") for n, passage in enumerate(context)]

    assert score(context, requirements) == score(renamed, requirements)


@given(contexts.filter(bool), judged, st.data())
def test_copying_a_passage_changes_no_recall_and_raises_no_precision(
    context: list[Passage], requirements: Requirements, data: st.DataObject
) -> None:
    requirements = [[n for n in positions if n <= len(context)] for positions in requirements]
    before = score(context, requirements)
    after = score([*context, data.draw(st.sampled_from(context))], requirements)

    assert before.recall == after.recall
    assert (after.precision or 0) <= (before.precision or 0)


@given(contexts, judged, st.data())
def test_a_further_citation_lowers_neither_recall_nor_precision(
    context: list[Passage], requirements: Requirements, data: st.DataObject
) -> None:
    more = [[*positions, data.draw(st.integers(-2, 14))] for positions in requirements]
    before, after = score(context, requirements), score(context, more)

    assert (before.recall or 0) <= (after.recall or 0)
    assert (before.precision or 0) <= (after.precision or 0)


@given(st.lists(texts, max_size=10), judged, st.randoms())
def test_the_place_in_the_list_is_nothing_where_ranks_are_stated(
    given_texts: list[str], requirements: Requirements, chance: random.Random
) -> None:
    context = [Passage(text, rank=n) for n, text in enumerate(given_texts, start=1)]
    places = list(range(len(context)))
    chance.shuffle(places)
    moved_to = {place + 1: n for n, place in enumerate(places, start=1)}
    moved = [[moved_to.get(n, 99) for n in positions] for positions in requirements]

    assert score(context, requirements) == score([context[place] for place in places], moved)


@given(contexts, judged, st.randoms())
def test_the_order_of_requirements_and_of_citations_is_nothing(
    context: list[Passage], requirements: list[list[int]], chance: random.Random
) -> None:
    shuffled = [chance.sample(positions, len(positions)) for positions in requirements]
    chance.shuffle(shuffled)

    assert score(context, requirements) == score(context, shuffled)
    assert cited(context, requirements) == cited(context, shuffled)


@given(contexts, judged)
def test_cited_positions_are_ascending_readable_and_closed_over_copies(
    context: list[Passage], requirements: Requirements
) -> None:
    found = cited(context, requirements)

    assert list(found) == sorted(set(found))
    assert all(context[n - 1].readable for n in found)
    assert cited(context, [found]) == found
