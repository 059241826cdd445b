"""An endpoint that keeps failing is left alone, for longer and longer, and tried again."""

import asyncio

import pytest

from seer_otel.errors import (
    BudgetSpent,
    JudgeError,
    JudgeFailed,
    JudgeParse,
    JudgeRefused,
    JudgeTimeout,
)
from seer_otel.judge.breaker import Breaker
from seer_otel.testing import ManualClock

DOWN = JudgeFailed("away", "connection")


def outcome(breaker: Breaker, error: BaseException | None = None) -> str:
    """Put one question; return what became of it."""
    try:
        with breaker.question():
            if error is not None:
                raise error
    except JudgeError as raised:
        return raised.error_type
    return "answered"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def breaker(clock: ManualClock) -> Breaker:
    return Breaker(failures=3, open_s=5.0, most_s=15.0, clock=clock)


def test_failures_in_a_row_open_it_and_what_comes_then_fails_at_once(breaker: Breaker) -> None:
    outcomes = [outcome(breaker, DOWN) for _ in range(3)]

    assert ["connection"] * 3 == outcomes
    assert "circuit_open" == outcome(breaker)


def test_an_answer_in_between_begins_the_count_anew(breaker: Breaker) -> None:
    for error in (DOWN, DOWN, None, DOWN, DOWN):
        outcome(breaker, error)

    assert "answered" == outcome(breaker)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (JudgeTimeout("slow"), "circuit_open"),
        (JudgeFailed("busy", "429"), "circuit_open"),
        (JudgeFailed("broken", "503"), "circuit_open"),
        (JudgeRefused("key", "401"), "circuit_open"),
        (JudgeFailed("no such model", "404"), "circuit_open"),
        (JudgeFailed("too long", "400"), "answered"),
        (JudgeFailed("cut", "reply_cut"), "answered"),
        (JudgeParse("prose"), "answered"),
        (JudgeRefused("filter", "content_filter"), "answered"),
        (BudgetSpent("spent"), "answered"),
    ],
)
def test_only_what_the_endpoint_is_to_blame_for_counts(
    breaker: Breaker, error: JudgeError, expected: str
) -> None:
    for _ in range(3):
        outcome(breaker, error)

    assert expected == outcome(breaker)


def test_a_spent_budget_is_no_answer(breaker: Breaker) -> None:
    for error in (DOWN, DOWN, BudgetSpent("spent"), DOWN):
        outcome(breaker, error)

    assert "circuit_open" == outcome(breaker)


def test_after_a_while_one_question_is_let_through(breaker: Breaker, clock: ManualClock) -> None:
    for _ in range(3):
        outcome(breaker, DOWN)
    clock.advance(5.0)
    with breaker.question():
        during = outcome(breaker)

    assert "circuit_open" == during
    assert "answered" == outcome(breaker)


def test_a_failed_probe_doubles_the_time_up_to_a_limit(
    breaker: Breaker, clock: ManualClock
) -> None:
    for _ in range(3):
        outcome(breaker, DOWN)
    waited = []
    for _ in range(3):
        seconds = 0
        while outcome(breaker, DOWN) == "circuit_open":
            clock.advance(1.0)
            seconds += 1
        waited.append(seconds)

    assert [5, 10, 15] == waited


def test_a_closed_circuit_opens_for_the_first_time_again(
    breaker: Breaker, clock: ManualClock
) -> None:
    for _ in range(3):
        outcome(breaker, DOWN)
    clock.advance(5.0)
    outcome(breaker, DOWN)
    clock.advance(10.0)
    outcome(breaker)
    for _ in range(3):
        outcome(breaker, DOWN)
    clock.advance(5.0)

    assert "answered" == outcome(breaker)


def test_a_probe_that_is_cancelled_makes_room_for_another(
    breaker: Breaker, clock: ManualClock
) -> None:
    for _ in range(3):
        outcome(breaker, DOWN)
    clock.advance(5.0)
    with pytest.raises(asyncio.CancelledError):
        outcome(breaker, asyncio.CancelledError())

    assert "answered" == outcome(breaker)


def test_failures_of_what_was_under_way_do_not_prolong_it(
    breaker: Breaker, clock: ManualClock
) -> None:
    late = breaker.question()
    late.__enter__()
    for _ in range(3):
        outcome(breaker, DOWN)
    clock.advance(4.0)
    late.__exit__(JudgeFailed, DOWN, None)
    clock.advance(1.0)

    assert "answered" == outcome(breaker)


class Sleeper:
    """Sleeps by letting a clock go on."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)


async def test_with_patience_a_question_waits_for_the_circuit(clock: ManualClock) -> None:
    sleep = Sleeper(clock)
    breaker = Breaker(failures=3, open_s=5.0, patience_s=60.0, sleep=sleep, clock=clock)
    for _ in range(3):
        outcome(breaker, DOWN)
    await breaker.wait()

    assert [5.0] == sleep.slept
    assert "answered" == outcome(breaker)


async def test_patience_ends_for_all_once_an_endpoint_has_failed_for_long(
    clock: ManualClock,
) -> None:
    sleep = Sleeper(clock)
    breaker = Breaker(failures=3, open_s=5.0, patience_s=30.0, sleep=sleep, clock=clock)
    outcomes = []
    for _ in range(10):
        await breaker.wait()
        outcomes.append(outcome(breaker, DOWN))

    assert [5.0, 10.0] == sleep.slept  # after 15 s it would have to wait 20 s more
    assert ["connection"] * 5 + ["circuit_open"] * 5 == outcomes


async def test_without_patience_nobody_waits(breaker: Breaker) -> None:
    for _ in range(3):
        outcome(breaker, DOWN)
    async with asyncio.timeout(1):
        await breaker.wait()

    assert "circuit_open" == outcome(breaker)
