"""The same question is not asked twice; another one is."""

import asyncio
from dataclasses import replace

import pytest

from seer_otel.errors import JudgeFailed
from seer_otel.judge.answers import Answers, RecentAnswers, key
from seer_otel.judge.assess import Assessor
from seer_otel.judge.protocol import Asked, Question, Requirements, Support
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.testing import ScriptedJudge
from seer_otel.verdict import Evaluation, Usage

TASK = "Who directed Inception?"
NOLAN = "Inception was directed by Christopher Nolan."
ZOO = "Berlin has a zoo."
QUESTION = Question((Asked("task", TASK, {1: "director", 2: "year"}),), {1: NOLAN, 2: ZOO})
ANSWER = Support({1: (1,), 2: ()}, Usage(1, 100, 10), frozenset({2}))


class SlowJudge:
    """Gives one answer, when it is let to."""

    name = "slow/test"
    revision = "1"

    def __init__(self, answer: Support | Exception = ANSWER) -> None:
        self.answer = answer
        self.asked = 0
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()

    async def requirements(self, query: str) -> Requirements:
        raise NotImplementedError

    async def support(self, question: Question) -> Support:
        self.asked += 1
        self.started.set()
        await self.go_on.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def aclose(self) -> None:
        pass


def ready(answer: Support | Exception = ANSWER) -> SlowJudge:
    judge = SlowJudge(answer)
    judge.go_on.set()
    return judge


async def test_an_answer_is_remembered_with_all_that_it_says() -> None:
    judge = ready()
    answers = Answers(judge, RecentAnswers())
    first, again = await answers.to(QUESTION), await answers.to(QUESTION)

    assert first == ANSWER
    assert again == replace(ANSWER, usage=Usage(), cached=True)
    assert judge.asked == 1


async def test_those_who_ask_at_the_same_time_share_one_question() -> None:
    judge = SlowJudge()
    answers = Answers(judge, RecentAnswers())
    waiting = asyncio.gather(*(answers.to(QUESTION) for _ in range(5)))
    await judge.started.wait()
    judge.go_on.set()
    found = await waiting

    assert judge.asked == 1
    assert [False, True, True, True, True] == [each.cached for each in found]
    assert [1, 0, 0, 0, 0] == [each.usage.calls for each in found]


async def test_one_who_gives_up_does_not_end_the_question_of_the_others() -> None:
    judge = SlowJudge()
    answers = Answers(judge, RecentAnswers())
    first, second = (asyncio.create_task(answers.to(QUESTION)) for _ in range(2))
    await judge.started.wait()
    first.cancel()
    await asyncio.wait([first])
    judge.go_on.set()

    assert (await second).citations == ANSWER.citations
    assert judge.asked == 1


@pytest.mark.parametrize("flawed", [JudgeFailed("no"), Support({1: (1,)})])
async def test_a_failure_and_a_part_of_an_answer_are_not_remembered(
    flawed: Support | Exception,
) -> None:
    judge = ready(flawed)
    answers = Answers(judge, RecentAnswers())
    for _ in range(2):
        await asyncio.gather(answers.to(QUESTION), return_exceptions=True)

    assert judge.asked == 2


async def test_the_memory_is_bounded_and_forgets_what_is_unused_for_longest() -> None:
    memory = RecentAnswers(limit=2)
    for question in (b"one", b"two", b"one", b"three"):
        if await memory.get(question) is None:
            await memory.put(question, ANSWER)

    assert await memory.get(b"two") is None
    assert await memory.get(b"one") == await memory.get(b"three") == ANSWER


def asking(question: Question, *, name: str = "openai/m", revision: str = "1") -> bytes:
    return key(ScriptedJudge({}, name=name, revision=revision), question)


ASKED = QUESTION.asked[0]


@pytest.mark.parametrize(
    "other",
    [
        asking(QUESTION, name="openai/n"),
        asking(QUESTION, revision="2"),
        asking(replace(QUESTION, run=2)),
        asking(replace(QUESTION, passages={1: ZOO, 2: NOLAN})),
        asking(replace(QUESTION, passages={1: NOLAN})),
        asking(replace(QUESTION, asked=(replace(ASKED, query="Who?"),))),
        asking(replace(QUESTION, asked=(replace(ASKED, requirements={1: "director"}),))),
        asking(replace(QUESTION, asked=(replace(ASKED, requirements={1: "year", 2: "director"}),))),
        asking(replace(QUESTION, asked=(ASKED, replace(ASKED, requirements={3: "x"})))),
    ],
)
def test_whatever_can_change_an_answer_makes_another_question(other: bytes) -> None:
    assert other != asking(QUESTION)


@pytest.mark.parametrize(
    "same",
    [
        replace(QUESTION, asked=(replace(ASKED, scope="subquery"),)),
        replace(QUESTION, asked=(replace(ASKED, query=f" {TASK}\n"),)),
        replace(QUESTION, passages={1: NOLAN.replace(" ", "\n"), 2: ZOO}),
    ],
)
def test_nothing_else_makes_another_question(same: Question) -> None:
    assert asking(same) == asking(QUESTION)


# In a verdict.


def evaluation_of(assessor: Assessor, *passages: Passage) -> asyncio.Task[Evaluation]:
    async def judged() -> Evaluation:
        return (await assessor.assess(Retrieval(passages, task=TASK))).evaluations[0]

    return asyncio.ensure_future(judged())


async def test_ids_scores_and_copies_do_not_make_another_question() -> None:
    judge = ScriptedJudge({TASK: [("director", [NOLAN])]})
    assessor = Assessor(judge)
    first = await evaluation_of(assessor, Passage(NOLAN, id="a", score=0.9), Passage(ZOO))
    again = await evaluation_of(
        assessor, Passage(NOLAN, id="b", score=0.1), Passage(ZOO), Passage(NOLAN)
    )

    assert (False, True) == (first.provenance.cached, again.provenance.cached)
    assert (1 / 2, 1 / 3) == (first.scores.precision, again.scores.precision)
    assert len(judge.questions) == 1


async def test_a_verdict_is_cached_only_where_all_of_it_was_remembered() -> None:
    judge = ScriptedJudge({TASK: [("director", [NOLAN])]})
    assessor = Assessor(judge)
    await evaluation_of(assessor, Passage(NOLAN))
    other = await evaluation_of(assessor, Passage(ZOO))
    empty = await evaluation_of(assessor)

    assert not other.provenance.cached
    assert empty.provenance.cached  # the list of requirements is all that it rests on
    assert (0.0, []) == (empty.scores.recall, judge.questions[2:])
