"""Delivered twice, for whatever reason: one judgement, one result, one forward."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.backend import Backend
from tests.service.conftest import Service, Start, running
from tests.service.spans import SCRIPT, TRACE, attributes, event, request, retrieval, span

COPY = {"seer-forward": "no"}


async def settled(service: Service) -> None:
    """Wait until nothing is held any more."""
    async with asyncio.timeout(15):
        while service.total(metrics.HELD):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def results(backend: Backend) -> int:
    """How many results of retrievals the next hop has, inline or on carriers."""
    return sum(
        one.name == "seer.evaluation" and attributes(one).get("seer.scope") == "task"
        for received in backend.spans
        for one in received.events
    )


async def test_a_client_that_does_not_hear_the_answer_sends_again(start: Start) -> None:
    service = await start(trace_results__send="marked")
    body = request(retrieval(1))
    await asyncio.gather(*(service.send(body) for _ in range(3)))
    await settled(service)
    await service.send(body)
    await service.stop()
    again = await start(trace_results__send="marked")
    await again.send(body)
    await again.stop()

    assert 1 == len(service.judge.questions) + len(again.judge.questions)
    assert {(1).to_bytes(8, "big"): 1} == service.backend.counts
    assert (3, 1) == (service.total(metrics.DUPLICATE), again.total(metrics.DUPLICATE))
    service.assert_accounted()
    again.assert_accounted()


async def test_a_client_that_gives_up_while_it_is_written_sends_again(start: Start) -> None:
    service = await start(trace_results__send="marked")
    for number in range(1, 21):
        sending = asyncio.create_task(service.send(request(retrieval(number))))
        await asyncio.sleep(0.001 * (number % 5))
        sending.cancel()
        await asyncio.wait({sending})
        await service.send(request(retrieval(number)))
    await settled(service)

    assert {1} == set(service.backend.counts.values())
    assert 20 == len(service.backend.counts) == service.total(metrics.RETRIEVALS)
    service.assert_accounted()


async def test_a_load_balancer_puts_it_into_two_batches(start: Start) -> None:
    service = await start(trace_results__send="marked")
    first = request(retrieval(1), span(2), span(3))
    second = request(span(4), retrieval(1), service="app, elsewhere")
    await asyncio.gather(service.send(first), service.send(second))
    await settled(service)

    assert {1} == set(service.backend.counts.values())
    assert (4, 1) == (len(service.backend.counts), len(service.judge.questions))
    service.assert_accounted()


async def test_the_same_id_in_another_trace_is_another_span(start: Start) -> None:
    service = await start(trace_results__send="marked")
    await service.send(request(retrieval(1), retrieval(1, trace=bytes(reversed(TRACE)))))
    await settled(service)

    assert 2 == len(service.backend.spans)
    assert 0 == service.total(metrics.DUPLICATE)
    service.assert_accounted()


async def test_two_processors_ship_one_copy_each(start: Start) -> None:
    service = await start(trace_results__send="marked")
    body = request(retrieval(1))
    await asyncio.gather(service.send(body, **COPY), service.send(body, **COPY))
    await settled(service)
    await service.send(body, **COPY)
    await service.stop()

    assert 1 == len(service.judge.questions)
    assert ["seer.evaluation"] == [s.name for s in service.backend.spans]
    service.assert_accounted()


@pytest.mark.parametrize("copy_first", [True, False], ids=["copy first", "span first"])
@pytest.mark.parametrize("restart", [False, True], ids=["at once", "over a restart"])
@pytest.mark.parametrize("judged", [False, True], ids=["still held", "judged"])
async def test_processor_and_pipeline_both(
    next_hop: Backend, tmp_path: Path, copy_first: bool, restart: bool, judged: bool
) -> None:
    judge = ScriptedJudge(SCRIPT, delay_s=0.0 if judged else 60 if restart else 0.7)
    first, second = (COPY, {}) if copy_first else ({}, COPY)
    body = request(retrieval(1))
    settings: dict[str, Any] = {"trace_results__send": "marked", "shutdown__held": "keep"}
    judgements = 0.0
    async with running(tmp_path, judge, next_hop, **settings) as service:
        await service.send(body, **first)
        if judged:
            await settled(service)
        if not restart:
            await service.send(body, **second)
            await settled(service)
        judgements += service.total(metrics.RETRIEVALS)
        service.assert_accounted()
    if restart:
        judge = ScriptedJudge(SCRIPT, delay_s=0.5)
        async with running(tmp_path, judge, next_hop, **settings) as service:
            await service.send(body, **second)
            await settled(service)
            judgements += service.total(metrics.RETRIEVALS)
            service.assert_accounted()

    assert 1 == judgements
    assert 1 == results(next_hop)
    (span_itself,) = next_hop.named("retrieval")
    if judged and copy_first:  # its result went ahead of it, on a carrier
        assert request(span_itself) == body
    else:
        assert 1.0 == event(span_itself, "task")["seer.recall"]


async def test_two_evaluators_agree_on_samples_and_make_one_result_of_a_trace(
    next_hop: Backend, tmp_path: Path
) -> None:
    """Without affinity each sees a part of the trace: then only a marked context has a result."""
    settings: dict[str, Any] = {"trace_results__send": "marked", "sample_rate": 0.5}
    traces = [bytes([n]) * 16 for n in range(1, 41)]
    async with (
        running(tmp_path / "a", ScriptedJudge(SCRIPT), next_hop, **settings) as a,
        running(tmp_path / "b", ScriptedJudge(SCRIPT), next_hop, **settings) as b,
    ):
        for trace in traces:
            await a.send(request(retrieval(1, trace=trace)))
            await b.send(request(retrieval(2, trace=trace, seer__is_final_context=True)))
        await settled(a)
        await settled(b)
    outcomes = {
        trace: {attributes(s)["seer.evaluated"] for s in next_hop.spans if s.trace_id == trace}
        for trace in traces
    }

    assert {frozenset({"scored"}), frozenset({"skipped"})} == set(map(frozenset, outcomes.values()))
    assert [] == next_hop.named("seer.evaluation")
