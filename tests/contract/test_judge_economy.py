"""What judging costs, and what keeps it from costing more, over a real connection."""

import json
import socket
from dataclasses import replace
from typing import Any

import pytest

from seer_otel.errors import BudgetSpent, JudgeError
from seer_otel.judge.assess import Assessor
from seer_otel.judge.budget import Allowance, Budget
from seer_otel.judge.calls import Call, Price
from seer_otel.judge.openai import OpenAIJudge
from seer_otel.judge.protocol import Asked, Question
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.testing import ChatReply, ChatStub, ManualClock
from seer_otel.verdict import Usage

TASK = "Who directed Inception?"
NOLAN = "Inception was directed by Christopher Nolan."
QUESTION = Question((Asked("task", TASK, {1: "director of Inception"}),), {1: NOLAN})
LISTED = ChatReply(json.dumps({"requirements": ["director of Inception"]}))
BUSY = ChatReply(status=429, body={"error": {"message": "too many"}})
BROKEN = ChatReply(status=500, body={"error": {"message": "sorry"}})
PROSE = ChatReply("All of it is supported.")
PRICE = Price(input=1.0, output=10.0)


def cites(*passages: int) -> ChatReply:
    verdict = {"requirement": 1, "passages": passages, "unsure": False}
    return ChatReply(json.dumps({"verdicts": [verdict]}))


def script(*replies: ChatReply) -> ChatStub:
    """Answer with each reply in turn; the last is repeated."""
    rest = list(replies)

    def answer(_: dict[str, Any]) -> ChatReply:
        return rest.pop(0) if len(rest) > 1 else rest[0]

    return ChatStub(answer)


async def at_once(_: float) -> None:
    """Stand in for sleeping."""


def judge_at(stub: ChatStub, **settings: Any) -> OpenAIJudge:
    return OpenAIJudge("m", **{"base_url": stub.base_url, "sleep": at_once, **settings})


def retrieval(*passages: str) -> Retrieval:
    return Retrieval(tuple(map(Passage, passages)), task=TASK)


# What is not asked twice.


async def test_a_retrieval_judged_before_costs_nothing() -> None:
    async with script(LISTED, cites(1)) as stub:
        judge = judge_at(stub)
        assessor = Assessor(judge)
        first, *again = [(await assessor.assess(retrieval(NOLAN))).evaluations[0] for _ in range(3)]
        await judge.aclose()

    assert 2 == len(stub.requests)
    assert Usage(2, 200, 20) == first.provenance.usage
    assert [Usage()] * 2 == [each.provenance.usage for each in again]
    assert [True] * 2 == [each.provenance.cached for each in again]
    assert [first.scores] * 2 == [each.scores for each in again]


async def test_several_runs_are_several_questions_over_the_same_requirements() -> None:
    async with script(LISTED, cites(1), cites(), cites(1)) as stub:
        judge = judge_at(stub)
        evaluation = (
            await Assessor(judge, runs=3).assess(retrieval(NOLAN, "Berlin has a zoo."))
        ).evaluations[0]
        await judge.aclose()
    repetition = evaluation.repetition

    assert 4 == len(stub.requests)
    assert pytest.approx(2 / 3) == evaluation.scores.recall
    assert repetition is not None
    assert (3, 1.0) == (repetition.runs, repetition.spread["recall"])
    assert pytest.approx(1 / 3) == repetition.agreement
    assert evaluation.judgement is not None
    assert (1,) == evaluation.judgement.requirements[0].passages  # two of three


async def test_a_failed_run_fails_the_judgement() -> None:
    async with script(LISTED, cites(1), PROSE) as stub:
        judge = judge_at(stub)
        verdict = await Assessor(judge, runs=2).assess(retrieval(NOLAN))
        await judge.aclose()
    evaluation = verdict.evaluations[0]

    assert ("failed", "judge_parse") == (evaluation.status, evaluation.reason)
    assert evaluation.scores.recall is None


# Money.


async def test_cost_follows_from_the_price_and_is_unknown_without_one() -> None:
    async with script(cites(1)) as stub:
        priced, unpriced = judge_at(stub, price=PRICE), judge_at(stub)
        costs = [(await judge.support(QUESTION)).usage.cost for judge in (priced, unpriced)]
        for judge in (priced, unpriced):
            await judge.aclose()

    assert [pytest.approx(0.0002), None] == costs


async def test_what_a_budget_does_not_cover_is_not_sent() -> None:
    async with script(cites(1)) as stub:
        budget = Budget(day=Allowance(calls=2), clock=ManualClock())
        judge = judge_at(stub, budget=budget)
        for _ in range(2):
            await judge.support(QUESTION)
        with pytest.raises(BudgetSpent):
            await judge.support(QUESTION)
        await judge.aclose()

    assert 2 == len(stub.requests)


@pytest.mark.parametrize(
    ("allowance", "expected"),
    [(Allowance(tokens=200), 2), (Allowance(cost=0.0005), 3)],
)
async def test_tokens_and_money_count_also_where_a_reply_was_no_use(
    allowance: Allowance, expected: int
) -> None:
    async with script(PROSE) as stub:
        budget = Budget(day=allowance, clock=ManualClock())
        judge = judge_at(stub, budget=budget, price=PRICE)
        for _ in range(5):
            with pytest.raises(JudgeError):
                await judge.support(QUESTION)
        await judge.aclose()

    assert expected == len(stub.requests)


async def test_a_server_that_does_not_count_tokens_does_not_make_a_limit_void() -> None:
    completion = {"choices": [{"message": {"content": cites(1).content}, "finish_reason": "stop"}]}
    async with script(ChatReply(body=completion)) as stub:
        budget = Budget(day=Allowance(tokens=100), clock=ManualClock())
        judge = judge_at(stub, budget=budget)
        usage = (await judge.support(QUESTION)).usage
        with pytest.raises(BudgetSpent):
            await judge.support(QUESTION)
        await judge.aclose()

    assert Usage(1) == usage  # what is estimated is not told as known


# An endpoint in trouble.


async def test_an_endpoint_that_keeps_failing_is_left_alone_and_tried_again() -> None:
    clock = ManualClock()
    replies = [BROKEN] * 15 + [cites(1)]
    async with script(*replies) as stub:
        judge = judge_at(stub, clock=clock)
        errors = []
        for _ in range(7):
            with pytest.raises(JudgeError) as caught:
                await judge.support(QUESTION)
            errors.append(caught.value.error_type)
        asked = len(stub.requests)
        clock.advance(5.0)
        reply = await judge.support(QUESTION)
        await judge.aclose()

    assert ["500"] * 5 + ["circuit_open"] * 2 == errors
    assert 15 == asked  # three attempts a question
    assert {1: (1,)} == reply.citations


async def test_an_open_circuit_is_a_failed_judgement() -> None:
    async with script(BROKEN) as stub:
        judge = judge_at(stub)
        for _ in range(5):
            with pytest.raises(JudgeError):
                await judge.support(QUESTION)
        verdict = await Assessor(judge).assess(retrieval(NOLAN))
        await judge.aclose()
    evaluation = verdict.evaluations[0]

    assert ("failed", "judge_failed") == (evaluation.status, evaluation.reason)
    assert "circuit_open" == evaluation.error_type


async def test_an_endpoint_that_is_busy_is_asked_less_at_once() -> None:
    async with script(BUSY, cites(1)) as stub:
        judge = judge_at(stub, concurrency=8)
        await judge.support(QUESTION)
        limit = judge._slots.limit
        await judge.aclose()

    assert 4 == limit


# What is told of every request.


async def test_every_request_is_told_of_with_tokens_and_what_went_wrong() -> None:
    calls: list[Call] = []
    async with script(BUSY, PROSE, cites(1)) as stub:
        judge = judge_at(stub, observe=calls.append, price=PRICE)
        await judge.support(QUESTION)
        await judge.aclose()
    usage = Usage(1, 100, 10, 0.0002)

    assert [("429", Usage()), (None, usage), (None, usage)] == [
        (call.error_type, replace(call.usage, cost=call.usage.cost and round(call.usage.cost, 9)))
        for call in calls
    ]
    assert {("m", "127.0.0.1")} == {(call.model, call.server) for call in calls}


async def test_a_request_that_hangs_is_told_of() -> None:
    calls: list[Call] = []
    async with script(ChatReply(hangs=True)) as stub:
        judge = judge_at(stub, observe=calls.append, timeout_s=0.05)
        with pytest.raises(JudgeError):
            await judge.support(QUESTION)
        await judge.aclose()

    assert ["judge_timeout"] == [call.error_type for call in calls]


# Any provider.


async def test_a_query_in_the_address_goes_along_with_every_request() -> None:
    async with script(cites(1)) as stub:
        url = stub.base_url.replace("/v1", "/openai/deployments/m") + "?api-version=2025-01-01"
        judge = judge_at(stub, base_url=url)
        await judge.support(QUESTION)
        await judge.aclose()

    assert ["/openai/deployments/m/chat/completions?api-version=2025-01-01"] == stub.targets


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("x.openai.azure.com", {"api-key": "sk-key"}),
        ("x.services.ai.azure.com", {"api-key": "sk-key"}),
        ("azure.com.example.org", {"authorization": "Bearer sk-key"}),
        ("api.openai.com", {"authorization": "Bearer sk-key", "openai-organization": "org-1"}),
    ],
)
async def test_each_server_is_told_the_key_in_its_own_way_and_no_more(
    host: str, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *more: resolve("127.0.0.1", *more))
    async with script(cites(1)) as stub:
        url = stub.base_url.replace("127.0.0.1", host)
        judge = judge_at(stub, base_url=url, api_key="sk-key")
        await judge.support(QUESTION)
        await judge.aclose()
    (headers,) = stub.headers
    names = ("authorization", "api-key", "openai-organization")

    assert expected == {name: headers[name] for name in names if name in headers}


async def test_a_server_that_needs_no_key_is_shown_none() -> None:
    async with script(cites(1)) as stub:
        judge = judge_at(stub)
        await judge.support(QUESTION)
        await judge.aclose()

    assert "authorization" not in stub.headers[0]
