"""A judge spends no more than it may, and what it spent is not forgotten."""

import asyncio

import pytest

from seer_otel.errors import BudgetSpent
from seer_otel.judge.assess import Assessor
from seer_otel.judge.budget import Allowance, Budget, Spent
from seer_otel.judge.calls import Price
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.testing import ManualClock, ScriptedJudge

DAY = 24 * 3600


class Kept:
    """A memory that outlives a budget."""

    def __init__(self) -> None:
        self.days: dict[str, Spent] = {}

    async def get(self, day: str) -> Spent | None:
        return self.days.get(day)

    async def put(self, day: str, spent: Spent) -> None:
        self.days[day] = spent


async def admitted(budget: Budget, times: int, *, tokens: int = 0, cost: float = 0.0) -> int:
    """Count how many of some calls were admitted."""
    for number in range(times):
        try:
            await budget.admit()
        except BudgetSpent:
            return number
        await budget.spend(tokens, cost)
    return times


@pytest.mark.parametrize(
    ("allowance", "expected"),
    [
        (Allowance(), 5),
        (Allowance(calls=2), 2),
        (Allowance(calls=0), 0),
        (Allowance(tokens=250), 3),  # the third call is what goes over it
        (Allowance(cost=0.5), 2),
        (Allowance(calls=3, tokens=1_000, cost=9.0), 3),
    ],
)
async def test_calls_tokens_and_money_are_limited(allowance: Allowance, expected: int) -> None:
    for budget in (
        Budget(minute=allowance, clock=ManualClock()),
        Budget(day=allowance, clock=ManualClock()),
    ):
        assert expected == await admitted(budget, 5, tokens=100, cost=0.25)


async def test_the_message_names_the_limit() -> None:
    budget = Budget(day=Allowance(tokens=2_000_000), clock=ManualClock())
    await admitted(budget, 1, tokens=2_000_000)

    with pytest.raises(BudgetSpent, match="the budget of 2,000,000 tokens a day is spent") as error:
        await budget.admit()

    assert ("budget", "budget") == (error.value.reason, error.value.error_type)


async def test_calls_made_at_once_do_not_exceed_the_limit() -> None:
    budget = Budget(minute=Allowance(calls=3), clock=ManualClock())
    outcomes = await asyncio.gather(*(budget.admit() for _ in range(10)), return_exceptions=True)

    assert 7 == sum(isinstance(outcome, BudgetSpent) for outcome in outcomes)


async def test_a_minute_and_a_day_end() -> None:
    clock = ManualClock()
    minute = Budget(minute=Allowance(calls=1), clock=clock)
    day = Budget(day=Allowance(calls=1), clock=clock)
    counts = []
    for seconds in (0, 60, DAY):
        clock.advance(seconds)
        counts.append((await admitted(minute, 3), await admitted(day, 3)))

    assert [(1, 1), (1, 0), (1, 1)] == counts


async def test_the_day_is_counted_on_through_a_restart() -> None:
    clock, kept = ManualClock(), Kept()
    first = Budget(day=Allowance(calls=5), memory=kept, clock=clock)
    await admitted(first, 3, tokens=10, cost=0.5)
    second = Budget(day=Allowance(calls=5), memory=kept, clock=clock)

    assert [Spent(3, 30, 1.5)] == list(kept.days.values())
    assert 2 == await admitted(second, 5)


@pytest.mark.parametrize(
    ("input_tokens", "output_tokens", "expected"),
    [(1_000_000, 0, 0.25), (0, 500_000, 1.0), (None, 10, None), (10, None, None)],
)
def test_a_price_is_per_million_tokens_and_unknown_tokens_have_none(
    input_tokens: int | None, output_tokens: int | None, expected: float | None
) -> None:
    assert expected == Price(input=0.25, output=2.0).of(input_tokens, output_tokens)


async def test_a_retrieval_that_the_budget_does_not_cover_is_no_failure() -> None:
    task = "Who directed Inception?"
    assessor = Assessor(ScriptedJudge({task: BudgetSpent("spent")}))

    with pytest.raises(BudgetSpent):
        await assessor.assess(Retrieval((Passage("x"),), task=task))
