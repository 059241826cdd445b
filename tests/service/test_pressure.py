"""More than can be judged, or sent on: scores are given up first, answers slow down, then wait."""

import asyncio
from types import SimpleNamespace
from typing import Any

import grpc
import grpc.aio
import pytest

from seer_otel.evaluator import admission
from seer_otel.evaluator.admission import Admission
from seer_otel.evaluator.hold.entries import Statistics
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.conftest import Service, Start
from tests.service.spans import SCRIPT, attributes, request, retrieval, span

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
LARGE = ["x" * 10_000]


def away(_: object) -> grpc.StatusCode:
    return UNAVAILABLE


async def fill(service: Service, up_to: float) -> int:
    """Queue plain spans until so much of the mark is reached; return how many."""
    number = 0
    while service.total(metrics.HELD_BYTES) < up_to:
        number += 1
        await service.send(request(span(number, "x" * 1_000)))
    return number


async def test_a_judge_that_hangs_costs_scores_and_refuses_nothing(start: Start) -> None:
    """What waits for it fills no more than half of the hold; the rest leaves unevaluated."""
    service = await start(
        judge=ScriptedJudge(SCRIPT, delay_s=60), hold__max_bytes=100_000,
        trace_results__send="marked", shutdown__grace=2.0,
    )  # fmt: skip
    for number in range(1, 21):
        await service.send(request(retrieval(number, context=LARGE), span(100 + number)))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) >= 15)
    held = service.evaluator.store.statistics.held_bytes
    reasons = {attributes(s)["seer.skip_reason"] for s in service.backend.named("retrieval")}
    service.assert_accounted()
    await service.stop()

    assert held <= 50_000
    assert {"pressure"} == reasons
    assert 0 == service.total(metrics.REFUSED)
    assert 20 == len(service.backend.named("retrieval"))
    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


async def test_what_left_under_pressure_is_known_when_it_comes_again(start: Start) -> None:
    """Whether there is pressure changes from one delivery to the next; what is said must not."""
    service = await start(
        judge=ScriptedJudge(SCRIPT, delay_s=60), hold__max_bytes=30_000,
        trace_results__send="marked", shutdown__grace=2.0,
    )  # fmt: skip
    first, second = (request(retrieval(n, context=LARGE), span(10 + n)) for n in (1, 2))
    await service.send(first)
    await service.send(second)
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 1)
    await service.send(first)  # is held, and under pressure now
    await service.stop()
    service.assert_accounted()
    service = await start(trace_results__send="marked")
    await service.send(second)
    await service.send(first)
    await service.stop()
    retrievals = {s.span_id: s for s in service.backend.named("retrieval")}

    assert 2 == len(service.backend.named("retrieval")) == len(retrievals)
    assert {"pressure", "shutdown"} == {
        attributes(s)["seer.skip_reason"] for s in retrievals.values()
    }
    assert 2 == service.total(metrics.DUPLICATE)
    service.assert_accounted()


async def test_answers_slow_down_before_they_are_refusals(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[float] = []
    wait = Admission.wait

    async def note(self: Admission) -> None:
        delays.append(self.delay_s)
        await wait(self)

    monkeypatch.setattr(Admission, "wait", note)
    monkeypatch.setattr(admission, "SLOWEST_S", 0.05)
    service = await start(hold__max_bytes=40_000, shutdown__grace=0.2)
    service.backend.answer = away
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await fill(service, 50_000)

    assert UNAVAILABLE == refusal.value.code()
    assert delays == sorted(delays)
    assert {0.0} == set(delays[:20])
    assert 0.045 < delays[-2] <= 0.05
    service.assert_accounted()


async def test_what_is_on_disk_leaves_while_all_that_is_new_is_refused(start: Start) -> None:
    """The way out never waits for the way in."""
    service = await start(hold__max_bytes=20_000)
    service.backend.answer = away
    with pytest.raises(grpc.aio.AioRpcError):
        await fill(service, 30_000)
    ready = await service.http.get("/readyz")
    queued = service.total(metrics.HELD)
    service.backend.answer = None
    await service.backend.until(lambda: len(service.backend.spans) == queued)
    await service.stop()

    assert 503 == ready.status_code
    assert "full" in ready.json()["intake"]
    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


async def test_requests_under_way_are_bounded_in_memory(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "UNDER_WAY_BYTES", 25_000)
    service = await start()
    service.backend.gate = asyncio.Event()
    sending = [
        asyncio.create_task(service.send(request(span(number, "x" * 10_000))))
        for number in range(1, 6)
    ]
    async with asyncio.timeout(10):
        while sum(task.done() for task in sending) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    service.backend.gate.set()
    outcomes = await asyncio.gather(*sending, return_exceptions=True)

    assert [UNAVAILABLE] * 3 == [o.code() for o in outcomes if isinstance(o, grpc.aio.AioRpcError)]
    assert 2 == len(service.backend.spans)
    service.assert_accounted()


async def test_one_request_is_taken_however_large(start: Start, monkeypatch: Any) -> None:
    monkeypatch.setattr(admission, "UNDER_WAY_BYTES", 100)
    service = await start()
    await service.send(request(span(1, "x" * 1_000)))

    assert 1 == len(service.backend.spans)


async def test_a_request_of_many_retrievals_is_pressed_from_within(start: Start) -> None:
    service = await start(
        judge=ScriptedJudge(SCRIPT, delay_s=60), hold__max_bytes=100_000, shutdown__grace=2.0
    )
    await service.send(request(*(retrieval(n, context=LARGE) for n in range(1, 21))))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) >= 15)

    assert service.evaluator.store.statistics.held_bytes <= 50_000
    service.assert_accounted()


def test_pressure_is_a_matter_of_number_too() -> None:
    store = SimpleNamespace(statistics=Statistics())
    full = Admission(store, max_bytes=1_000, max_pending=3)  # type: ignore[arg-type]

    assert [False, True] == [full.is_pressed(pending, 10) for pending in (2, 3)]


async def test_traces_that_are_not_judged_are_not_remembered(start: Start) -> None:
    service = await start(sample_rate=0.0)
    for number in range(1, 21):
        await service.send(request(retrieval(number, trace=bytes([number]) * 16)))
    await service.send(request(retrieval(1, trace=b"j" * 16, seer__sampled=True)))

    assert 1 == service.total(metrics.TRACES_KNOWN)
