"""A corrected mean is right, and as sure as it says."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.metrics.ppi import CorrectedMean, corrected_mean, student

SHARES = st.floats(0, 1)
PAIRS = st.lists(st.tuples(SHARES, SHARES), min_size=3, max_size=20)


def simulated(draw: random.Random, labelled: int, others: int, noise: float) -> CorrectedMean:
    """Recalls with a mean of 0.7, and a judge that is biased upwards and at times says anything."""

    def one() -> tuple[float, float]:
        truth = draw.choice([0, 0, 0.5, 0.5, 1, 1, 1, 1, 1, 1])
        said = draw.random() if draw.random() < noise else min(1.0, 0.8 * truth + 0.25)
        return truth, said

    pairs = [one() for _ in range(labelled)]
    return corrected_mean(
        [truth for truth, _ in pairs],
        [said for _, said in pairs],
        [one()[1] for _ in range(others)],
    )


@pytest.mark.parametrize(("labelled", "noise"), [(30, 0.1), (50, 0.4), (100, 0.1)])
def test_the_interval_holds_the_truth_as_often_as_it_says(labelled: int, noise: float) -> None:
    draw = random.Random(20261130)
    sets = [simulated(draw, labelled, 300, noise) for _ in range(1000)]
    held = sum(each.interval.low <= 0.7 <= each.interval.high for each in sets) / len(sets)

    assert 0.93 <= held <= 0.97


def test_the_judge_is_biased_and_the_corrected_mean_is_not() -> None:
    draw = random.Random(1)
    sets = [simulated(draw, 30, 300, 0.1) for _ in range(400)]

    assert sum(each.value for each in sets) / len(sets) == pytest.approx(0.7, abs=0.01)
    assert sum(each.judged for each in sets) / len(sets) > 0.75


def test_a_good_judge_makes_the_interval_narrower_and_a_bad_one_no_wider() -> None:
    draw = random.Random(2)

    def widths(noise: float) -> tuple[float, float]:
        sets = [simulated(draw, 50, 500, noise) for _ in range(100)]
        mine = sum(each.interval.high - each.interval.low for each in sets)
        alone = sum(each.labels_alone.high - each.labels_alone.low for each in sets)
        return mine, alone

    good, useless = widths(0.05), widths(1.0)

    assert good[0] < 0.6 * good[1]
    assert useless[0] < 1.05 * useless[1]


def test_a_judge_that_always_says_the_same_gets_no_weight() -> None:
    found = corrected_mean([0, 1, 1, 1], [0.5] * 4, [0.5] * 50)

    assert (0.0, 0.75) == (found.weight, found.value)
    assert found.interval == found.labels_alone


def test_without_others_the_labels_remain() -> None:
    found = corrected_mean([0, 1, 1], [0, 1, 1], [])

    assert pytest.approx(2 / 3) == found.value
    assert 0.0 == found.weight


def test_labels_that_are_all_alike_are_marked() -> None:
    found = corrected_mean([1, 1, 1], [1, 1, 1], [1, 1, 1])

    assert found.interval.degenerate


@pytest.mark.parametrize(("labels", "judged"), [([1, 0], [1, 0]), ([1, 0, 1], [1, 0])])
def test_too_few_labels_are_refused(labels: list[float], judged: list[float]) -> None:
    with pytest.raises(ValueError, match="labels"):
        corrected_mean(labels, judged, [1, 0, 1])


@given(PAIRS, st.lists(SHARES, max_size=30))
def test_the_estimate_lies_in_its_interval_and_the_weight_in_its_range(
    pairs: list[tuple[float, float]], others: list[float]
) -> None:
    found = corrected_mean([one for one, _ in pairs], [said for _, said in pairs], others)

    assert 0 <= found.weight <= 1
    assert found.interval.low <= found.value <= found.interval.high


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (99, 1.9842)],
)
def test_students_t(degrees: int, expected: float) -> None:
    assert expected == pytest.approx(student(degrees), abs=0.004)
