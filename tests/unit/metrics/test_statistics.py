"""A mean comes with how sure it is, and says when that is nothing."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.metrics.statistics import (
    Interval,
    correlation,
    difference_interval,
    gap,
    mean_interval,
    percentile,
)

FOLDER = Path(os.environ.get("SEER_VECTORS", Path(__file__).parents[2] / "data" / "vectors"))
HARNESS = json.loads((FOLDER / "harness.json").read_text(encoding="utf-8"))
(CASE,) = [case for case in HARNESS["cases"] if case["name"] == "intervals"]


def near(expected: list[float]) -> object:
    """The limits of very many resamples; a thousand land nearby."""
    low, high = expected
    return pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02)


def test_the_interval_of_a_mean_is_the_percentile_bootstrap() -> None:
    interval = mean_interval(CASE["values"])

    assert near(CASE["expect"]["ci95"]) == (interval.low, interval.high)
    assert not interval.degenerate


def test_the_interval_of_a_difference_resamples_the_pairs() -> None:
    interval = difference_interval(CASE["values"], CASE["other_arm"])

    assert near(CASE["expect"]["difference_ci95"]) == (interval.low, interval.high)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = CASE["values"]

    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values) != mean_interval(values, seed=8)


def test_resamples_are_drawn_with_replacement() -> None:
    interval = mean_interval([1, 2, 3, 4, 5, 6, 7])

    assert interval.low < 4 < interval.high


@pytest.mark.parametrize("values", [[0.4], [1.0] * 20, [0.0, 0.0]])
def test_an_interval_without_width_says_that_it_is_none(values: list[float]) -> None:
    assert Interval(values[0], values[0], degenerate=True) == mean_interval(values)


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        mean_interval([])


def test_arms_over_different_queries_are_not_compared() -> None:
    with pytest.raises(ValueError, match="different queries"):
        difference_interval([1.0, 0.0], [1.0])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_an_interval_lies_within_the_values(values: list[float]) -> None:
    interval = mean_interval(values)

    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0), (0.05, 1.15)])
def test_a_percentile_is_linearly_interpolated(share: float, expected: float) -> None:
    assert pytest.approx(expected) == percentile([4, 1, 3, 2], share)


def test_rows_that_do_not_vary_have_no_correlation() -> None:
    assert pytest.approx(1.0) == correlation([0.1, 0.2, 0.4], [1, 2, 4])
    assert correlation([1.0, 1.0], [0.0, 1.0]) is None
    assert correlation([1.0], [1.0]) is None


def test_a_gap_tells_what_holds_from_what_does_not() -> None:
    found = gap([1.0, 0.8, 0.4], [1.0, 1.0, 0.5], lambda truth: truth == 1.0)

    assert pytest.approx(0.5) == found
    assert gap([1.0], [1.0], bool) is None
