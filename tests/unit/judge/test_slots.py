"""As many questions at once as the endpoint takes, and no more."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from seer_otel.judge.calls import Call
from seer_otel.judge.slots import Slots
from seer_otel.testing import ManualClock


def call(error_type: str | None = None, duration_s: float = 0.0) -> Call:
    return Call("m", "host", duration_s, error_type=error_type)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def slots(clock: ManualClock) -> Slots:
    return Slots(8, clock)


@pytest.mark.parametrize("error_type", ["429", "503", "529", "judge_timeout"])
def test_too_many_halves_them(slots: Slots, error_type: str) -> None:
    slots.note(call(error_type))

    assert 4 == slots.limit


@pytest.mark.parametrize("error_type", ["400", "401", "500", "connection", "judge_parse"])
def test_other_errors_leave_them(slots: Slots, error_type: str) -> None:
    slots.note(call(error_type))

    assert 8 == slots.limit


def test_calls_that_were_under_way_together_are_one_sign(slots: Slots, clock: ManualClock) -> None:
    clock.advance(10.0)
    for _ in range(8):
        clock.advance(0.01)
        slots.note(call("429", duration_s=1.0))

    assert 4 == slots.limit


def test_there_is_always_one(slots: Slots, clock: ManualClock) -> None:
    for _ in range(10):
        clock.advance(1.0)
        slots.note(call("429"))

    assert 1 == slots.limit


def test_every_round_of_answers_adds_one_up_to_the_most(slots: Slots) -> None:
    slots.note(call("429"))
    limits = []
    for _ in range(40):
        slots.note(call())
        limits.append(slots.limit)

    assert (4, 5) == (limits[3], limits[4])  # four answers and a bit
    assert 8 == max(limits) == limits[-1]


async def test_who_finds_no_place_waits_for_one(slots: Slots) -> None:
    slots.note(call("429"))
    inside = [asyncio.Event() for _ in range(6)]
    done = [asyncio.Event() for _ in range(6)]

    async def ask(number: int) -> None:
        async with slots.slot():
            inside[number].set()
            await done[number].wait()

    asking = [asyncio.create_task(ask(number)) for number in range(6)]
    await asyncio.gather(*(each.wait() for each in inside[:4]))
    before = [each.is_set() for each in inside[4:]]
    done[1].set()
    await inside[4].wait()

    assert [False, False] == before
    assert not inside[5].is_set()
    for each in done:
        each.set()
    await asyncio.gather(*asking)


async def test_one_who_gives_up_waiting_takes_no_place() -> None:
    slots = Slots(1)
    async with AsyncExitStack() as held:
        await held.enter_async_context(slots.slot())
        waiting = asyncio.create_task(held.enter_async_context(slots.slot()))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    async with asyncio.timeout(1), slots.slot():
        pass
