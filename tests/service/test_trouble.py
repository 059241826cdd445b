"""What goes wrong around the service costs no span, and says so."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from seer_otel.errors import ConfigError, JudgeFailed
from seer_otel.evaluator.forward import forwarder
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.backend import Backend, backend
from tests.service.conftest import Start, running
from tests.service.spans import SCRIPT, TASK, TRACE, attributes, event, request, retrieval, span

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
INVALID = grpc.StatusCode.INVALID_ARGUMENT


def names(message: ExportTraceServiceRequest) -> list[str]:
    return [s.name for r in message.resource_spans for c in r.scope_spans for s in c.spans]


async def test_a_next_hop_that_is_away_costs_nothing(start: Start) -> None:
    service = await start(trace_results__send="marked")
    service.backend.answer = lambda _: UNAVAILABLE
    await service.send(request(span(1, "plain"), retrieval(2, parent=1)))
    await service.send(request(span(3, "plain")))
    service.backend.answer = lambda _: None
    await service.backend.until(lambda: len(service.backend.spans) == 3)
    await service.stop()

    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


async def test_a_slow_next_hop_delays_no_answer_and_gets_no_copy(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forwarder, "PATIENCE_S", 0.1)
    service = await start()
    service.backend.gate = asyncio.Event()
    body = request(span(1, "plain"))
    await service.send(body)

    assert 1 == service.total(metrics.HELD)
    service.backend.gate.set()
    await service.stop()
    assert [("traces", body)] == service.backend.requests
    service.assert_accounted()


async def test_one_poison_span_becomes_a_dead_letter_and_its_neighbours_arrive(
    start: Start, tmp_path: Path
) -> None:
    service = await start()
    service.backend.answer = lambda message: INVALID if "poison" in names(message) else None
    spans = [span(n, "poison" if n == 5 else "plain") for n in range(1, 9)]
    await service.send(request(*spans))
    await service.backend.until(lambda: len(service.backend.spans) == 7)
    await service.stop()

    assert {1} == set(service.backend.counts.values())
    assert 1 == service.total(metrics.DEAD_LETTERED)
    (letter,) = (tmp_path / "data" / "dead-letters").glob("*.otlp.pb")
    assert ["poison"] == names(ExportTraceServiceRequest.FromString(letter.read_bytes()))
    service.assert_accounted()


async def test_more_than_a_receiver_takes_is_sent_in_parts(start: Start) -> None:
    service = await start(trace_results__send="marked")
    long = "x" * 500_000
    spans = [span(n, text=long) for n in range(1, 11)] + [retrieval(n, text=long) for n in (11, 12)]
    await service.send(request(*spans))
    await service.backend.until(lambda: len(service.backend.spans) == len(spans))
    sizes = [len(body) for _, body in service.backend.requests]

    assert max(sizes) < 4 * 1024 * 1024 < sum(sizes)
    assert {1} == set(service.backend.counts.values())


async def test_what_a_partial_success_rejects_is_a_dead_letter(start: Start) -> None:
    service = await start()
    service.backend.response = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=1, error_message="one too many")
    ).SerializeToString()
    await service.send(request(span(1), span(2)))

    assert (1, 1) == (service.total(metrics.FORWARDED), service.total(metrics.DEAD_LETTERED))
    assert 1 == service.backend.attempts
    service.assert_accounted()


async def test_a_failing_judge_is_said_on_the_span(start: Start) -> None:
    service = await start(judge=ScriptedJudge({TASK: JudgeFailed("no reply", "connection")}))
    await service.send(request(retrieval(1)))
    await service.backend.until(lambda: bool(service.backend.spans))
    (failed,) = service.backend.spans

    assert "failed" == attributes(failed)["seer.evaluated"]
    assert {"seer.status": "failed", "seer.reason": "judge_failed"}.items() <= event(
        failed, "task"
    ).items()
    assert "seer.recall" not in event(failed, "task")
    ready = (await service.http.get("/readyz")).json()
    assert "judge_failed (connection)" == ready["judge"]


async def test_what_is_held_at_a_stop_leaves_with_the_reason(start: Start) -> None:
    service = await start(judge=ScriptedJudge(SCRIPT, delay_s=60))
    await service.send(request(retrieval(1)))
    await service.stop()
    (released,) = service.backend.spans

    assert ("skipped", "shutdown") == (
        attributes(released)["seer.evaluated"],
        attributes(released)["seer.skip_reason"],
    )
    service.assert_accounted()


async def test_what_is_kept_at_a_stop_is_judged_at_the_next_start(
    next_hop: Backend, tmp_path: Path
) -> None:
    hanging = ScriptedJudge(SCRIPT, delay_s=60)
    async with running(tmp_path, hanging, next_hop, shutdown__held="keep") as service:
        await service.send(request(retrieval(2, parent=1, task=None, subquery="?")))
        await service.send(request(span(1, "ask", input__value=TASK)))
    held_back = [s.name for s in next_hop.spans]
    async with running(tmp_path, ScriptedJudge(SCRIPT), next_hop) as service:
        await next_hop.until(lambda: len(next_hop.named("retrieval")) == 1)
        await service.stop()
        service.assert_accounted()

    assert ["ask"] == held_back
    (judged,) = next_hop.named("retrieval")
    assert "ancestor" == event(judged, "task")["seer.task_source"]
    assert 1.0 == event(judged, "task")["seer.recall"]


async def test_what_waits_for_the_next_hop_survives_a_restart(tmp_path: Path) -> None:
    async with backend() as away:
        away.answer = lambda _: UNAVAILABLE
        async with running(tmp_path, ScriptedJudge(SCRIPT), away, shutdown__grace=0.2) as service:
            await service.send(request(span(1, "plain")))
    async with backend() as back, running(tmp_path, ScriptedJudge(SCRIPT), back) as service:
        await back.until(lambda: len(back.spans) == 1)
        await service.stop()
        service.assert_accounted()

    assert {1} == set(back.counts.values())


async def test_a_late_task_is_judged_once_and_goes_on_a_carrier(start: Start) -> None:
    service = await start(hold__task_wait=0.2, hold__settle=0.1, trace_results__send="marked")
    await service.send(
        request(retrieval(2, parent=1, task=None, subquery="Who directed Inception?"))
    )
    await service.backend.until(lambda: len(service.backend.spans) == 1)
    await service.send(request(span(1, "ask", input__value=TASK)))
    await service.backend.until(lambda: len(service.backend.spans) == 3)
    (carrier,) = service.backend.named("seer.evaluation")

    assert "ancestor" == event(carrier, "task")["seer.task_source"]
    assert 2 == event(carrier, "task")["seer.requirements.total"]


async def test_a_late_task_brings_another_result_of_its_trace(start: Start) -> None:
    service = await start(hold__task_wait=0.2, hold__settle=0.1, trace_results__idle=0.2)
    await service.send(
        request(retrieval(2, parent=1, task=None, subquery="Who directed Inception?"))
    )
    await service.backend.until(lambda: len(service.backend.named("seer.evaluation")) == 1)
    await service.send(request(span(1, "ask", input__value=TASK)))
    await service.backend.until(lambda: len(service.backend.named("seer.evaluation")) == 2)
    first, second = (event(s, "trace") for s in service.backend.named("seer.evaluation"))

    assert ("query", None) == (first["seer.task_source"], first.get("seer.supersedes"))
    assert "ancestor" == second["seer.task_source"]
    assert (2).to_bytes(8, "big").hex() == second["seer.supersedes"]


async def test_a_later_final_context_brings_another_result_of_its_trace(start: Start) -> None:
    service = await start(trace_results__idle=0.2)
    await service.send(request(retrieval(2), span(1, "root")))
    await service.backend.until(lambda: len(service.backend.named("seer.evaluation")) == 1)
    await service.send(request(retrieval(3, end_ms=300_000, seer__is_final_context=True)))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 2)
    final = service.backend.named("retrieval")[-1]

    assert (2).to_bytes(8, "big").hex() == event(final, "trace")["seer.supersedes"]


async def test_a_retrieval_around_one_that_is_judged_already_is_nested(start: Start) -> None:
    service = await start(hold__settle=0.1, trace_results__send="marked")
    await service.send(request(retrieval(4, parent=3)))
    await service.backend.until(lambda: len(service.backend.spans) == 1)
    await service.send(request(span(3, parent=2), retrieval(2, parent=1), span(1, "root")))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 2)
    inner, outer = (attributes(s) for s in service.backend.named("retrieval"))

    assert "scored" == inner["seer.evaluated"]
    assert ("skipped", "nested") == (outer["seer.evaluated"], outer["seer.skip_reason"])


async def test_a_span_that_first_came_without_its_documents_is_judged(start: Start) -> None:
    service = await start()
    await service.send(request(span(2, "step", input__value=TASK)))
    await service.send(request(retrieval(2)))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 1)
    (judged,) = service.backend.named("retrieval")

    assert "scored" == attributes(judged)["seer.evaluated"]


async def test_a_root_that_says_it_is_sampled_may_come_first(start: Start) -> None:
    service = await start(sample_rate=0.0, trace_results__send="marked")
    root = span(1, "ask", input__value=TASK, seer__sampled=True)
    await service.send(request(root))
    await service.send(request(retrieval(2, parent=1, task=None, subquery="?", seer__sampled=True)))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 1)
    (judged,) = service.backend.named("retrieval")

    assert "ancestor" == event(judged, "task")["seer.task_source"]


@pytest.mark.parametrize("parent", [bytes(8), TRACE])
async def test_a_root_whose_parent_is_no_span_is_a_root(start: Start, parent: bytes) -> None:
    service = await start(hold__settle=0.1, trace_results__send="marked")
    root = span(1, "root")
    root.parent_span_id = parent
    await service.send(request(retrieval(2, parent=9, task=None, subquery=TASK), root))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 1)
    (judged,) = service.backend.named("retrieval")

    assert "scored" == attributes(judged)["seer.evaluated"]


async def test_a_retrieval_inside_another_is_judged_with_it(start: Start) -> None:
    service = await start()
    await service.send(request(retrieval(3, parent=2)))
    await service.send(request(retrieval(2, parent=1), span(1, "root")))
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 2)
    reasons = {
        s.span_id[-1]: attributes(s).get("seer.skip_reason")
        for s in service.backend.named("retrieval")
    }

    assert {3: "nested", 2: None} == reasons


async def test_two_evaluators_cannot_share_a_data_folder(start: Start) -> None:
    await start()

    with pytest.raises(ConfigError, match="in use by another evaluator"):
        await start()


@pytest.mark.parametrize("listener", ["grpc", "http"])
async def test_a_port_that_is_taken_is_an_error(
    start: Start, tmp_path: Path, next_hop: Backend, listener: str
) -> None:
    first = await start()
    settings: dict[str, Any] = {
        listener: first.listening.grpc if listener == "grpc" else first.listening.http
    }

    with pytest.raises(ConfigError, match="cannot listen on"):
        async with running(tmp_path / "other", ScriptedJudge({}), next_hop, **settings):
            pass


async def test_a_next_hop_that_is_the_evaluator_itself_is_an_error(
    tmp_path: Path, next_hop: Backend
) -> None:
    port = next_hop.port + 1

    with pytest.raises(ConfigError, match="is this evaluator itself"):
        async with running(
            tmp_path, ScriptedJudge({}), next_hop,
            grpc=f"127.0.0.1:{port}", forward__url=f"http://localhost:{port}",
        ):  # fmt: skip
            pass
