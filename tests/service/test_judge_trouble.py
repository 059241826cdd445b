"""A judge that is down, slow, busy, hanging, or talks rubbish is nobody's business upstream."""

import asyncio
from typing import Any

import pytest

from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ChatReply, ChatStub
from tests.service.conftest import Service, Start
from tests.service.spans import attributes, event, request, retrieval, span

SETTINGS: dict[str, Any] = {
    "judge__kind": "openai",
    "judge__model": "m",
    "judge__api_key": "k",
    "judge__timeout": 0.5,
    "hold__seconds": 4.0,
    "trace_results__send": "marked",
}


async def answered_at_once(service: Service, body: bytes) -> None:
    async with asyncio.timeout(1.5):
        await service.send(body)


@pytest.mark.parametrize(
    ("reply", "reason", "error_type"),
    [
        (ChatReply(hangs=True), "judge_timeout", "judge_timeout"),
        (ChatReply("I would say that it is all there."), "judge_parse", "judge_parse"),
        (ChatReply(body="<html>502 Bad Gateway</html>"), "judge_parse", "judge_parse"),
        (ChatReply('{"requirements": 7}'), "judge_parse", "judge_parse"),
        (ChatReply(status=500, body={"error": "down"}), "judge_failed", "500"),
        (ChatReply(status=401, body={"error": "key"}), "judge_refused", "401"),
        (ChatReply(status=429, headers={"retry-after": "60"}), "judge_failed", "429"),
    ],
    ids=["hangs", "prose", "a page", "another shape", "down", "refused key", "busy for long"],
)
async def test_what_goes_wrong_is_said_on_the_span_which_leaves_in_time(
    start: Start, reply: ChatReply, reason: str, error_type: str
) -> None:
    async with ChatStub(lambda _: reply) as stub:
        service = await start(judge__base_url=stub.base_url, **SETTINGS)
        await answered_at_once(service, request(retrieval(1), span(2)))
        await service.backend.until(lambda: len(service.backend.spans) == 2)
        (failed,) = service.backend.named("retrieval")
        ready = await service.http.get("/readyz")
        await service.stop()

    assert "failed" == attributes(failed)["seer.evaluated"]
    assert {"seer.reason": reason, "error.type": error_type}.items() <= event(
        failed, "task"
    ).items()
    assert "seer.recall" not in event(failed, "task")
    assert f"{reason} ({error_type})" == ready.json()["judge"]
    assert 1 == service.total(metrics.RETRIEVALS)
    service.assert_accounted()


async def test_a_judge_that_is_away_costs_the_scores_and_none_of_the_spans(start: Start) -> None:
    async with ChatStub(lambda _: ChatReply()) as stub:
        nobody = stub.base_url
    service = await start(judge__base_url=nobody, **SETTINGS)
    for number in range(1, 11):
        await answered_at_once(service, request(retrieval(number), span(100 + number)))
    await service.backend.until(lambda: len(service.backend.spans) >= 20, timeout_s=30)
    await service.stop()

    outcomes = {attributes(s)["seer.evaluated"] for s in service.backend.named("retrieval")}
    assert outcomes <= {"failed", "deferred"}
    assert 10 == len(service.backend.named("retrieval"))
    service.assert_accounted()


async def test_a_judge_slower_than_the_hold_follows_on_a_carrier(start: Start) -> None:
    """All of ten at once, more than it takes together."""
    replies = iter(range(10_000))

    def answer(asked: dict[str, Any]) -> ChatReply:
        next(replies)
        return ChatReply(hangs=True)

    async with ChatStub(answer) as stub:
        settings = {**SETTINGS, "hold__seconds": 0.6, "judge__timeout": 1.0}
        service = await start(judge__base_url=stub.base_url, judge__concurrency=2, **settings)
        for number in range(1, 5):
            await answered_at_once(service, request(retrieval(number)))
        await service.backend.until(
            lambda: len(service.backend.named("seer.evaluation")) == 4, timeout_s=30
        )
        await service.stop()

    late = service.backend.named("retrieval")
    assert {("deferred", "deadline")} == {
        (attributes(s)["seer.evaluated"], attributes(s)["seer.skip_reason"]) for s in late
    }
    assert {"judge_timeout"} == {
        event(carrier, "task")["seer.reason"]
        for carrier in service.backend.named("seer.evaluation")
    }
    service.assert_accounted()
