"""What the scores of conversations promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.metrics import conversation

K = 5
SUPPORTED = st.lists(st.sets(st.integers(1, K)), max_size=12)


def test_an_opening_greeting_is_no_turn_and_two_in_a_row_are_two() -> None:
    roles: list[conversation.Role] = ["assistant", "user", "assistant", "assistant", "user"]

    assert (2, 3) == conversation.assistant_turns(roles)


def test_nobody_asked_so_nobody_answered() -> None:
    assert () == conversation.assistant_turns([])
    assert () == conversation.assistant_turns(["assistant", "assistant"])
    assert () == conversation.assistant_turns(["user"])


def test_a_turn_without_passages_in_its_window_scores_nothing_and_never_one() -> None:
    assert (0.0, 1.0) == conversation.turn_recalls([set(), {1}], 1)
    assert (1.0, 0.0) == conversation.turn_recalls([{1}, set()], 1, window=1)


def test_the_sum_is_over_all_assistant_turns() -> None:
    recalls = conversation.turn_recalls([set(), {1, 2}, set()], 2, window=2)

    assert pytest.approx(2 / 3) == conversation.turn_contextual_recall(recalls)
    assert conversation.turn_contextual_recall(()) is None


def test_without_statements_there_is_no_recall() -> None:
    with pytest.raises(ValueError, match="statements"):
        conversation.turn_recalls([{1}], 0)


@given(SUPPORTED, st.integers(1, 12))
def test_a_wider_window_sees_no_less(supported: list[set[int]], window: int) -> None:
    narrow = conversation.turn_recalls(supported, K, window=window)
    wide = conversation.turn_recalls(supported, K, window=window + 1)

    assert all(0 <= one <= other <= 1 for one, other in zip(narrow, wide, strict=True))


@given(SUPPORTED)
def test_within_one_window_recall_never_falls(supported: list[set[int]]) -> None:
    recalls = conversation.turn_recalls(supported, K, window=len(supported) or 1)

    assert sorted(recalls) == list(recalls)
