"""What becomes of the documents on the spans that go on: as told, whichever way they leave."""

import json
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.conftest import Service, Start
from tests.service.spans import SCRIPT, TASK, attributes, event, request, retrieval, span

PASSAGE = "Christopher Nolan directed Inception."
LONG = PASSAGE + " And so on." * 20
CONTEXT: list[dict[str, Any] | str] = [{"text": PASSAGE, "id": "d1"}, LONG]


def holds_documents(found: Span) -> bool:
    return PASSAGE.encode() in found.SerializeToString()


async def left(service: Service, number: int = 1) -> list[Span]:
    await service.backend.until(lambda: len(service.backend.named("retrieval")) >= number)
    return service.backend.named("retrieval")


async def test_they_are_kept_unless_told_otherwise(start: Start) -> None:
    service = await start()
    await service.send(request(retrieval(1, context=CONTEXT)))
    (found,) = await left(service)

    assert CONTEXT == json.loads(attributes(found)["seer.context"])
    assert "seer.payload" not in attributes(found)


async def test_they_are_dropped_when_the_retrieval_is_judged(start: Start) -> None:
    service = await start(payload="drop")
    before = retrieval(1, context=CONTEXT, vendor__note="kept")
    await service.send(request(before))
    (found,) = await left(service)

    assert 0.5 == event(found, "task")["seer.recall"]
    assert not holds_documents(found)
    assert {"seer.task": TASK, "vendor.note": "kept", "seer.payload": "dropped"}.items() <= (
        attributes(found).items()
    )
    assert before.name == found.name


async def test_they_are_cut_to_their_beginnings(start: Start) -> None:
    service = await start(payload="cut")
    await service.send(request(retrieval(1, context=CONTEXT)))
    (found,) = await left(service)
    first, second = json.loads(attributes(found)["seer.context"])

    assert "scored" == attributes(found)["seer.evaluated"]
    assert CONTEXT[0] == first
    assert LONG[:100] + "…" == second
    assert "cut" == attributes(found)["seer.payload"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"sample_rate": 0.0}, "not_sampled"), ({}, "shutdown")],
    ids=["not sampled", "at a stop"],
)
async def test_a_retrieval_that_is_not_judged_leaves_without_them_too(
    start: Start, settings: dict[str, Any], reason: str
) -> None:
    service = await start(ScriptedJudge(SCRIPT, delay_s=60), payload="drop", **settings)
    await service.send(request(retrieval(1, context=CONTEXT), span(2, "plain")))
    await service.stop()
    (found,) = service.backend.named("retrieval")

    assert reason == attributes(found)["seer.skip_reason"]
    assert not holds_documents(found)
    service.assert_accounted()


async def test_at_its_deadline_it_leaves_without_them_and_is_still_judged(start: Start) -> None:
    judge = ScriptedJudge(SCRIPT, delay_s=0.8)
    service = await start(judge, payload="drop", hold__seconds=0.4)
    await service.send(request(retrieval(1, context=CONTEXT)))
    await service.backend.until(lambda: bool(service.backend.named("seer.evaluation")))
    (found,) = service.backend.named("retrieval")
    (carrier,) = service.backend.named("seer.evaluation")

    assert "deferred" == attributes(found)["seer.evaluated"]
    assert 0.5 == event(carrier, "task")["seer.recall"]
    assert not holds_documents(found)
    assert not holds_documents(carrier)


async def test_a_span_whose_copy_was_judged_passes_without_them(start: Start) -> None:
    service = await start(payload="drop")
    body = request(retrieval(1, context=CONTEXT))
    await service.send(body, **{"seer-forward": "no"})
    await service.backend.until(lambda: bool(service.backend.named("seer.evaluation")))
    await service.send(body)
    (found,) = await left(service)
    await service.stop()

    assert "dropped" == attributes(found)["seer.payload"]
    assert not holds_documents(found)
    assert 0 == service.evaluator.store.statistics.queued_bytes
    service.assert_accounted()


async def test_a_logged_event_becomes_a_span_without_them(start: Start) -> None:
    service = await start(payload="drop")
    answer = await service.http.post("/v1/log", json={"task": TASK, "context": CONTEXT})
    (found,) = await left(service)

    assert 200 == answer.status_code
    assert "scored" == attributes(found)["seer.evaluated"]
    assert not holds_documents(found)


async def test_what_is_no_retrieval_passes_byte_for_byte(start: Start) -> None:
    service = await start(payload="drop")
    body = request(span(1, "chat", output__value=LONG, gen_ai__completion=LONG))
    await service.send(body)
    await service.backend.until(lambda: bool(service.backend.requests))

    assert [body] == [each for _, each in service.backend.requests]


async def test_a_span_that_comes_back_passes_byte_for_byte(start: Start) -> None:
    service = await start(payload="drop")
    await service.send(request(retrieval(1, context=CONTEXT)))
    await left(service)
    (_, judged) = service.backend.requests[0]
    await service.send(judged)
    await left(service, 2)

    assert judged == service.backend.requests[-1][1]
    assert 1 == service.total(metrics.EVALUATED_BEFORE)
