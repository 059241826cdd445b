"""A disk that is full, or refuses: what cannot be kept is refused, what can pass passes."""

import asyncio
import os
import resource
import shutil
import subprocess
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import grpc
import grpc.aio
import pytest

from seer_otel.evaluator.work import exits
from seer_otel.testing import ScriptedJudge
from tests.crash.process import Process, recording
from tests.crash.traffic import Traffic, arrivals, assert_whole, make
from tests.service.accounts import assert_balanced
from tests.service.backend import Backend, backend
from tests.service.conftest import EXPORT, Service, Start
from tests.service.disk import refuse_writes, take_writes
from tests.service.spans import SCRIPT, request, retrieval, span

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE

Usage = namedtuple("Usage", ["total", "used", "free"])


async def refusal(service: Service, body: bytes) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await service.send(body)
    return refused.value


async def test_on_a_disk_that_refuses_retrievals_wait_outside_and_the_rest_passes(
    start: Start,
) -> None:
    service = await start(trace_results__send="marked")
    await refuse_writes(service.evaluator.store)
    refused = await refusal(service, request(retrieval(1)))
    await service.send(request(span(2)))
    ready = await service.http.get("/readyz")
    alive = await service.http.get("/healthz")
    service.assert_accounted()
    await take_writes(service.evaluator.store)
    await service.send(request(retrieval(1)))
    await service.backend.until(lambda: len(service.backend.spans) == 2)

    assert UNAVAILABLE == refused.code()
    assert "google.rpc.retryinfo-bin" in dict(refused.trailing_metadata() or ())
    assert (503, 200) == (ready.status_code, alive.status_code)
    assert "refuses writes" in ready.json()["hold"]
    assert "ok" == (await service.http.get("/readyz")).json()["hold"]
    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


async def test_what_is_judged_while_the_disk_refuses_leaves_when_it_takes_again(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exits, "FIRST_DELAY_S", 0.05)
    service = await start(judge=ScriptedJudge(SCRIPT, delay_s=0.2), trace_results__send="marked")
    await service.send(request(retrieval(1)))
    await refuse_writes(service.evaluator.store)
    async with asyncio.timeout(10):
        while service.evaluator.store.trouble is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    before = len(service.backend.spans)
    await take_writes(service.evaluator.store)
    await service.backend.until(lambda: len(service.backend.spans) == 1)
    await service.stop()

    assert 0 == before
    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


async def test_a_stop_while_the_disk_refuses_takes_no_longer_than_the_grace(
    start: Start, tmp_path: Path
) -> None:
    service = await start(judge=ScriptedJudge(SCRIPT, delay_s=60), shutdown__grace=1.0)
    await service.send(request(retrieval(1)))
    await refuse_writes(service.evaluator.store)
    began = asyncio.get_running_loop().time()
    await service.stop()
    took_s = asyncio.get_running_loop().time() - began
    service = await start()
    await service.backend.until(lambda: len(service.backend.named("retrieval")) == 1)

    assert took_s < 5
    await service.stop()
    service.assert_accounted()


async def test_the_last_of_the_disk_belongs_to_what_leaves(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = await start(judge=ScriptedJudge(SCRIPT, delay_s=0.3), trace_results__send="marked")
    await service.send(request(retrieval(1)))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2**30, 2**30 - 2**20, 2**20))
    refused = await refusal(service, request(retrieval(2)))
    await service.send(request(span(3)))
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    ready = (await service.http.get("/readyz")).json()

    assert UNAVAILABLE == refused.code()
    assert "1024 KiB left" in ready["hold"]
    assert {1, 3} == {int.from_bytes(span_id, "big") for span_id in service.backend.counts}
    service.assert_accounted()


async def test_a_full_disk_that_is_freed_costs_no_span_and_doubles_none(tmp_path: Path) -> None:
    """The kernel refuses the process every write beyond a size, while the load goes on."""
    traffic = Traffic()
    async with backend() as next_hop:
        next_hop.answer = lambda _: UNAVAILABLE
        process = await Process.start(
            tmp_path / "data", next_hop, f"replay:{recording(tmp_path)}", "--hold", "1"
        )
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (700_000, -1))
        refused = await fill(process, traffic)
        next_hop.answer = None
        await asyncio.sleep(1)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (-1, -1))
        await finish(process, next_hop, traffic)
        told = assert_balanced(await process.metrics())
        code = await process.stop()

    assert 0 == code, process.said
    assert refused > 3
    assert 0 == told["held"]
    assert_whole(traffic, arrivals(next_hop))


async def fill(process: Process, traffic: Traffic) -> int:
    """Send until the service has refused some requests; return how many."""
    refused = 0
    async with grpc.aio.insecure_channel(process.grpc) as channel:
        while refused < 5:
            first = traffic.last + 1
            traffic.last += 2
            sent = make([retrieval(first, context=["x" * 20_000]), span(first + 1)])
            traffic.deliveries.update(sent.spans.keys())
            try:
                await channel.unary_unary(EXPORT)(sent.body, timeout=10)
            except grpc.aio.AioRpcError as error:
                refused += error.code() is UNAVAILABLE
                traffic.unanswered.append(sent)
            else:
                traffic.acknowledged.update(sent.spans)
    return refused


async def finish(process: Process, next_hop: Backend, traffic: Traffic) -> None:
    """Send again what was refused, and wait for everything."""
    await traffic.finish(process.grpc)
    await next_hop.until(lambda: traffic.acknowledged.keys() <= set(next_hop.counts), timeout_s=60)
    async with asyncio.timeout(30):
        while assert_balanced(await process.metrics())["held"]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 24 MiB, where one may be made."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder))
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_a_disk_that_it_filled_itself_drains_by_itself(
    tmp_path: Path, small_disk: Path
) -> None:
    """The mark is far above what the disk takes; nobody makes room, and nothing gets stuck."""
    traffic = Traffic()
    async with backend() as next_hop:
        next_hop.answer = lambda _: UNAVAILABLE
        process = await Process.start(
            small_disk / "data", next_hop, f"replay:{recording(tmp_path)}", "--hold", "2"
        )
        refused = await fill(process, traffic)
        next_hop.answer = None
        await finish(process, next_hop, traffic)
        told = assert_balanced(await process.metrics())
        code = await process.stop()

    assert 0 == code, process.said
    assert refused >= 5
    assert told["forwarded"] > 100
    assert_whole(traffic, arrivals(next_hop))
