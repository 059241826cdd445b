"""A model behind the service: what it may cost, and what it need not be asked again."""

import json
from functools import partial
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ChatReply, ChatStub
from tests.service.conftest import Service, Start
from tests.service.spans import CONTEXT, TASK, attributes, event, request, retrieval


def model() -> ChatStub:
    """A model that finds one requirement in every query, and cites the first passage for it."""

    def answer(body: dict[str, Any]) -> ChatReply:
        if body["response_format"]["json_schema"]["name"] == "requirements":
            return ChatReply(json.dumps({"requirements": ["who directed Inception"]}))
        verdict = {"requirement": 1, "passages": [1], "unsure": False}
        return ChatReply(json.dumps({"verdicts": [verdict]}))

    return ChatStub(answer)


async def judged(service: Service, *numbers: int, text: str | None = None) -> list[Span]:
    """Send retrievals one after the other; return them as they left."""
    for number in numbers:
        context = CONTEXT if text is None else [text]
        sent = request(retrieval(number, trace=bytes([number] * 16), context=context))
        await service.send(sent)
        span_id = number.to_bytes(8, "big")
        await service.backend.until(partial(_has, service, span_id))
    wanted = [number.to_bytes(8, "big") for number in numbers]
    return [span for span in service.backend.spans if span.span_id in wanted]


def _has(service: Service, span_id: bytes) -> bool:
    return span_id in service.backend.counts


def settings(stub: ChatStub, **more: Any) -> dict[str, Any]:
    named = {"kind": "openai", "model": "m", "base_url": stub.base_url}
    return {f"judge__{name}": value for name, value in {**named, **more}.items()}


async def test_what_the_budget_does_not_cover_leaves_with_that_reason(start: Start) -> None:
    async with model() as stub:
        service = await start(**settings(stub, budget={"day": {"calls": 3}}))
        spans = [
            span for n in range(1, 6) for span in await judged(service, n, text=f"Nolan, {n}.")
        ]
        await service.stop()
    service.assert_accounted()

    assert ["scored"] * 2 + ["skipped"] * 3 == [attributes(s)["seer.evaluated"] for s in spans]
    assert {"budget"} == {attributes(s)["seer.skip_reason"] for s in spans[2:]}
    assert not any(s.events for s in spans[2:])
    assert 3 == len(stub.requests)


async def test_the_budget_of_a_day_outlives_a_restart(start: Start) -> None:
    async with model() as stub:
        told = settings(stub, budget={"day": {"calls": 2}})
        first = await start(**told)
        await judged(first, 1)
        await first.stop()
        second = await start(**told)
        (span,) = await judged(second, 2, text="Another passage.")
        await second.stop()

    assert "budget" == attributes(span)["seer.skip_reason"]


async def test_what_was_judged_before_costs_nothing_also_after_a_restart(start: Start) -> None:
    async with model() as stub:
        first = await start(**settings(stub))
        spans = await judged(first, 1, 2)
        await first.stop()
        second = await start(**settings(stub))
        spans += await judged(second, 3)
        await second.stop()

    assert 2 == len(stub.requests)
    assert [False, True, True] == [event(s, "task")["seer.judge.cached"] for s in spans]
    assert [1.0] * 3 == [event(s, "task")["seer.recall"] for s in spans]
    assert (1, 1) == (first.total(metrics.JUDGE_CACHED), second.total(metrics.JUDGE_CACHED))


async def test_tokens_and_cost_are_on_the_event_and_in_the_metrics(start: Start) -> None:
    prices = {"m": {"input": 1.0, "output": 10.0}}
    async with model() as stub:
        service = await start(**settings(stub, prices=prices))
        (span,) = await judged(service, 1)
        exposed = (await service.http.get("/metrics")).text
        await service.stop()
    task = event(span, "task")

    assert (200, 20) == (task["seer.judge.input_tokens"], task["seer.judge.output_tokens"])
    assert pytest.approx(0.0004) == task["seer.judge.cost"]
    assert (2, 220) == (service.total(metrics.JUDGE_CALLS), service.total(metrics.JUDGE_TOKENS))
    assert pytest.approx(0.0004) == service.total(metrics.JUDGE_COST)
    labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai"'
    assert f'gen_ai_client_operation_duration_count{{error_type="",{labels}' in exposed
    assert 'gen_ai_token_type="input",server_address="127.0.0.1"} 2' in exposed.replace(
        'gen_ai_request_model="m",', ""
    )


async def test_an_unknown_price_is_an_unknown_cost(start: Start) -> None:
    async with model() as stub:
        service = await start(**settings(stub))
        (span,) = await judged(service, 1)
        await service.stop()

    assert "seer.judge.cost" not in event(span, "task")


async def test_runs_and_their_spread_are_on_the_event(start: Start) -> None:
    async with model() as stub:
        service = await start(**settings(stub, runs=2))
        (span,) = await judged(service, 1)
        await service.stop()
    task = event(span, "task")

    assert 3 == len(stub.requests)
    assert (2, 1.0, 0.0) == (
        task["seer.judge.runs"],
        task["seer.judge.agreement"],
        task["seer.spread.recall"],
    )


async def test_an_event_that_the_budget_does_not_cover_says_so(start: Start) -> None:
    async with model() as stub:
        service = await start(**settings(stub, budget={"day": {"calls": 0}}))
        answer = await service.http.post(
            "/v1/evaluate", json={"task": TASK, "context": ["Nolan did."]}
        )
        await service.stop()

    assert ("skipped", "budget") == (answer.json()["evaluated"], answer.json()["reason"])
