"""How the embedded judge decides: trees read as written, citations chosen by probability."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.judge.local.evidence import choose
from seer_otel.judge.local.trees import Forest

STUMPS = {
    "features": ["cover", "bm25"],
    "trees": [
        [[0, 0.5, 1, 2], [-1.0], [2.0]],
        [[1, 3.0, 1, 2], [0.5], [0, 0.25, 3, 4], [1.0], [1.5]],
    ],
}


def test_a_forest_adds_up_the_leaves_that_a_row_falls_into() -> None:
    forest = Forest.read(STUMPS)

    likely = forest.likelihood({"bm25": [1.0, 4.0], "cover": [0.5, 0.75]})

    assert pytest.approx([1 / (1 + math.exp(0.5)), 1 / (1 + math.exp(-3.5))]) == likely


def test_a_forest_takes_the_columns_that_it_names() -> None:
    forest = Forest.read(STUMPS)
    columns = {"cover": [0.9], "bm25": [4.0]}

    expected = forest.likelihood(columns)

    assert expected == forest.likelihood({"other": [7.0], **dict(reversed(columns.items()))})


@pytest.mark.parametrize(
    ("likely", "expected"),
    [
        ([0.9, 0.05, 0.05], {0}),
        ([0.9, 0.8, 0.1], {0, 1}),
        ([0.45, 0.4, 0.02], {0, 1}),
        ([0.02, 0.03, 0.01], set()),
        ([1.0, 1.0], {0, 1}),
    ],
)
def test_as_many_are_cited_as_promise_the_highest_f1(
    likely: list[float], expected: set[int]
) -> None:
    assert expected == choose(likely, reluctance=1.0).places


def test_a_reluctant_judge_cites_what_it_half_believes() -> None:
    assert frozenset() == choose([0.3, 0.05], reluctance=1.0).places
    assert {0} == choose([0.3, 0.05], reluctance=0.5).places


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_passages_equally_likely_are_cited_together(likely: list[float]) -> None:
    places = choose(likely, reluctance=0.8).places

    cited = [likely[place] for place in places]
    left = [value for place, value in enumerate(likely) if place not in places]
    assert not cited or not left or min(cited) > max(left)
