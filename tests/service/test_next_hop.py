"""A next hop that is away, slow, wrong or absurd: nothing is lost, nothing doubled."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from seer_otel.errors import StorageFailed
from seer_otel.evaluator.forward import forwarder
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.backend import backend
from tests.service.conftest import Service, Start, running
from tests.service.spans import SCRIPT, request, retrieval, span

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
INVALID = grpc.StatusCode.INVALID_ARGUMENT


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarder, "FIRST_DELAY_S", 0.02)
    monkeypatch.setattr(forwarder, "LONGEST_DELAY_S", 0.1)


async def until_sent(service: Service, spans: int) -> None:
    """Wait until so many spans are at the next hop, and forgotten here."""
    await service.backend.until(lambda: len(service.backend.spans) >= spans)
    async with asyncio.timeout(10):
        while service.total(metrics.HELD):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_next_hop_that_comes_late_gets_everything_without_a_restart(
    tmp_path: Path,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    async with backend() as nowhere:
        nowhere.port = port
        async with running(tmp_path, ScriptedJudge(SCRIPT), nowhere) as service:
            for number in range(0, 30, 3):
                await service.send(
                    request(span(number + 1), span(number + 2), retrieval(number + 3))
                )
            refused = (await service.http.get("/readyz")).json()
            async with backend(port) as late:
                service.backend = late
                await until_sent(service, 30)
                ready = (await service.http.get("/readyz")).json()
                await service.stop()

    assert {1} == set(late.counts.values())
    assert ("does not take spans", "ok") == (refused["next_hop"], ready["next_hop"])
    service.assert_accounted()


async def test_what_it_takes_and_answers_too_late_is_not_sent_for_ever(start: Start) -> None:
    """It takes twice as long as is waited at first: then it is waited for longer."""
    service = await start(forward__timeout=0.2)

    async def slowly() -> None:
        while True:
            service.backend.gate = asyncio.Event()
            await asyncio.sleep(0.5)
            service.backend.gate.set()

    slow = asyncio.create_task(slowly())
    for number in range(1, 6):
        await service.send(request(span(number)))
    await until_sent(service, 5)
    slow.cancel()
    copies = service.backend.counts

    assert {number.to_bytes(8, "big") for number in range(1, 6)} == set(copies)
    assert max(copies.values()) <= 4  # 0.2 s, 0.4 s, 0.8 s, and one under way
    later = len(service.backend.spans)
    service.backend.gate = None
    await service.send(request(span(6)))
    assert later + 1 == len(service.backend.spans)
    service.assert_accounted()


async def test_a_refusal_of_everything_makes_letters_of_everything(
    start: Start, tmp_path: Path
) -> None:
    service = await start(trace_results__send="marked")
    service.backend.answer = lambda _: INVALID
    await service.send(request(*(span(n) for n in range(1, 6)), retrieval(9)))
    async with asyncio.timeout(10):
        while service.total(metrics.HELD):  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    assert 6 == service.total(metrics.DEAD_LETTERED)
    assert 6 == len(list((tmp_path / "data" / "dead-letters").glob("*.otlp.pb")))
    service.assert_accounted()


async def test_a_refused_carrier_is_a_letter_and_no_span_lost(start: Start, tmp_path: Path) -> None:
    service = await start(trace_results__send="marked")
    service.backend.answer = lambda _: INVALID
    await service.send(request(retrieval(1)), **{"seer-forward": "no"})
    letters = tmp_path / "data" / "dead-letters"
    async with asyncio.timeout(10):
        while not list(letters.glob("*.otlp.pb")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await service.stop()

    assert 0 == service.total(metrics.DEAD_LETTERED)
    service.assert_accounted()


async def test_what_is_larger_than_it_takes_is_sent_in_parts(tmp_path: Path) -> None:
    """Receivers of gRPC take 4 MiB unless told otherwise; a span of documents is large."""
    async with (
        backend() as small,
        running(tmp_path, ScriptedJudge(SCRIPT), small) as service,
    ):
        spans = [span(n, text="x" * 1_500_000) for n in range(1, 9)]
        await service.send(request(*spans))
        await until_sent(service, 8)

    assert {1} == set(small.counts.values())
    assert max(len(body) for _, body in small.requests) < 4 * 1024 * 1024
    service.assert_accounted()


@pytest.mark.parametrize("rejected", [-7, 3, 2**62])
async def test_absurd_numbers_of_rejected_spans_break_nothing(start: Start, rejected: int) -> None:
    service = await start()
    service.backend.response = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=rejected)
    ).SerializeToString()
    await service.send(request(span(1), span(2)))
    await service.send(request(retrieval(3)))
    await until_sent(service, 3)

    service.assert_accounted()


async def test_a_warning_without_a_rejection_is_a_success(start: Start, tmp_path: Path) -> None:
    service = await start()
    service.backend.response = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(error_message="mind your attributes")
    ).SerializeToString()
    await service.send(request(span(1)))

    assert 1 == service.total(metrics.FORWARDED)
    assert not (tmp_path / "data" / "dead-letters").exists()


async def test_what_the_disk_will_not_forget_is_not_sent_again(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full does not let go either: copies would fill the next hop."""
    service = await start(trace_results__send="marked")
    forget, refusals = Store.sent, 5

    async def full(store: Store, ids: Any) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            raise StorageFailed("the disk is full")
        await forget(store, ids)

    monkeypatch.setattr(Store, "sent", full)
    for number in range(1, 4):
        await service.send(request(retrieval(number)))
        await service.backend.until(lambda n=number: len(service.backend.spans) == n)  # type: ignore[misc]
    service.assert_accounted()
    await service.stop()

    assert refusals < 0
    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


async def test_a_slow_attempt_is_the_answer_where_the_disk_refuses(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forwarder, "PATIENCE_S", 0.1)
    service = await start()

    async def full(*_: Any) -> None:
        raise StorageFailed("the disk is full")

    monkeypatch.setattr(Store, "queue", full)
    service.backend.gate = asyncio.Event()
    sending = asyncio.create_task(service.send(request(span(1))))
    await asyncio.wait({sending}, timeout=0.5)
    waits = not sending.done()
    service.backend.gate.set()
    await sending

    assert waits
    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


async def test_a_request_that_is_refused_in_part_is_accounted_for_when_it_comes_again(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = await start(judge=ScriptedJudge(SCRIPT, delay_s=1))
    queue = Store.queue

    async def full(*_: Any) -> None:
        raise StorageFailed("the disk is full")

    monkeypatch.setattr(Store, "queue", full)
    service.backend.answer = lambda _: UNAVAILABLE
    body = request(retrieval(1), span(2))
    with pytest.raises(grpc.aio.AioRpcError) as refusal:
        await service.send(body)
    service.assert_accounted()
    monkeypatch.setattr(Store, "queue", queue)
    service.backend.answer = None
    await service.send(body)
    await until_sent(service, 2)

    assert UNAVAILABLE == refusal.value.code()
    assert {1} == set(service.backend.counts.values())
    assert 1 == service.total(metrics.DUPLICATE)
    service.assert_accounted()


async def test_its_port_may_be_taken_by_something_else(tmp_path: Path) -> None:
    """An HTTP server where gRPC is spoken: no letters are made, and all waits for the right one."""

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with backend() as nowhere:
        nowhere.port = server.sockets[0].getsockname()[1]
        async with (
            server,
            running(tmp_path, ScriptedJudge(SCRIPT), nowhere, shutdown__grace=0.5) as service,
        ):
            await service.send(request(span(1)))
            await service.stop()

    assert (1, 0) == (service.total(metrics.HELD), service.total(metrics.DEAD_LETTERED))
