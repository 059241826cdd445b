"""The requirements of a query are found once."""

import asyncio

import pytest

from seer_otel.errors import JudgeFailed
from seer_otel.judge.protocol import Question, Requirements, Support
from seer_otel.judge.requirements import RecentRequirements, RequirementLists
from seer_otel.verdict import Usage


class SlowJudge:
    """Answers when it is let to."""

    name = "slow/test"

    def __init__(self, revision: str = "1", error: Exception | None = None) -> None:
        self.revision = revision
        self.error = error
        self.asked: list[str] = []
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()

    async def requirements(self, query: str) -> Requirements:
        self.asked.append(query)
        self.started.set()
        await self.go_on.wait()
        if self.error is not None:
            raise self.error
        return Requirements(("director", "year"), Usage(1, 100, 10))

    async def support(self, question: Question) -> Support:
        raise NotImplementedError

    async def aclose(self) -> None:
        pass


async def test_those_who_ask_at_the_same_time_share_one_question() -> None:
    judge = SlowJudge()
    lists = RequirementLists(judge, RecentRequirements())
    waiting = asyncio.gather(*(lists.of("Who, and when?") for _ in range(5)))
    await judge.started.wait()
    judge.go_on.set()
    found = await waiting

    assert judge.asked == ["Who, and when?"]
    assert {each.texts for each in found} == {("director", "year")}
    assert [each.usage.calls for each in found] == [1, 0, 0, 0, 0]


async def test_a_query_asked_before_is_remembered() -> None:
    judge = SlowJudge()
    judge.go_on.set()
    memory = RecentRequirements()
    await RequirementLists(judge, memory).of("Who, and when?")
    again = await RequirementLists(judge, memory).of(" Who,  and\nwhen? ")

    assert again == Requirements(("director", "year"), cached=True)
    assert judge.asked == ["Who, and when?"]


async def test_another_revision_of_the_judge_is_asked_anew() -> None:
    memory = RecentRequirements()
    old, new = SlowJudge("1"), SlowJudge("2")
    for judge in (old, new):
        judge.go_on.set()
        await RequirementLists(judge, memory).of("Who?")

    assert old.asked == new.asked == ["Who?"]


async def test_no_requirements_are_remembered_too() -> None:
    memory = RecentRequirements()
    await memory.put("hi", "judge", ())

    assert await memory.get("hi", "judge") == ()
    assert await memory.get("hello", "judge") is None


async def test_the_query_unused_for_longest_is_forgotten() -> None:
    memory = RecentRequirements(limit=2)
    await memory.put("a", "judge", ("1",))
    await memory.put("b", "judge", ("2",))
    await memory.get("a", "judge")
    await memory.put("c", "judge", ("3",))

    assert [await memory.get(q, "judge") for q in "abc"] == [("1",), None, ("3",)]


async def test_a_failure_reaches_all_who_wait_and_is_not_remembered() -> None:
    judge = SlowJudge(error=JudgeFailed("away"))
    lists = RequirementLists(judge, RecentRequirements())
    waiting = [asyncio.create_task(lists.of("Who?")) for _ in range(2)]
    await judge.started.wait()
    judge.go_on.set()
    for task in waiting:
        with pytest.raises(JudgeFailed):
            await task
    judge.error = None

    assert (await lists.of("Who?")).texts == ("director", "year")


async def test_one_who_gives_up_does_not_take_the_answer_from_the_others() -> None:
    judge = SlowJudge()
    lists = RequirementLists(judge, RecentRequirements())
    first, second = (asyncio.create_task(lists.of("Who?")) for _ in range(2))
    await judge.started.wait()
    first.cancel()
    judge.go_on.set()

    assert (await second).texts == ("director", "year")
    assert judge.asked == ["Who?"]


async def test_closing_ends_what_is_under_way() -> None:
    judge = SlowJudge()
    lists = RequirementLists(judge, RecentRequirements())
    waiting = asyncio.create_task(lists.of("Who?"))
    await judge.started.wait()
    await lists.aclose()

    with pytest.raises(asyncio.CancelledError):
        await waiting
