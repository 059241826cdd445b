"""Memory is bounded: what waits is on disk, and of what waits for the judge there is so much."""

from pathlib import Path

import grpc
import grpc.aio

from tests.crash.process import Process
from tests.service.accounts import assert_balanced
from tests.service.backend import Backend, backend
from tests.service.conftest import EXPORT
from tests.service.spans import request, retrieval, span

MIB = 1024 * 1024
TEXT = "x" * (MIB // 4)
"""One of four passages of a retrieval."""


def resident_mib(process: Process) -> float:
    """Return the most memory that a process has had."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return float(peak.split()[1]) / 1024


def config(folder: Path, hold_mib: int) -> str:
    file = folder / "seer.yaml"
    file.write_text(
        f"hold: {{max_bytes: {hold_mib * MIB}}}\n"
        "judge: {kind: openai, model: m, base_url: 'http://127.0.0.1:1/v1', api_key: k}\n"
        "shutdown: {grace: 1}\n"
    )
    return str(file)


async def send(process: Process, bodies: list[bytes]) -> int:
    """Send one after another; return how many were refused."""
    refused = 0
    async with grpc.aio.insecure_channel(process.grpc) as channel:
        for body in bodies:
            try:
                await channel.unary_unary(EXPORT)(body, timeout=30)
            except grpc.aio.AioRpcError:
                refused += 1
    return refused


async def test_many_retrievals_of_large_contexts_wait_in_bounded_memory(
    tmp_path: Path, next_hop: Backend
) -> None:
    """Four times as much as the hold takes, and a judge that does not answer."""
    process = await Process.start(
        tmp_path / "data", next_hop, "openai", "--config", config(tmp_path, 32)
    )
    await send(process, [request(retrieval(999_999))])
    before = resident_mib(process)
    traces = {n: n.to_bytes(16, "big") for n in range(1, 129)}
    refused = await send(
        process,
        [request(retrieval(n, context=[TEXT] * 4, trace=trace)) for n, trace in traces.items()],
    )
    grown = resident_mib(process) - before
    told = assert_balanced(await process.metrics())
    process.kill()
    await process.gone()

    print(f"grew by {grown:.0f} MiB")
    assert 0 == refused
    assert told["held"] < 30
    assert grown < 160


async def test_a_long_queue_is_on_disk_and_not_in_memory(tmp_path: Path) -> None:
    async with backend() as away:
        away.answer = lambda _: grpc.StatusCode.UNAVAILABLE
        process = await Process.start(
            tmp_path / "data", away, "local", "--config", config(tmp_path, 256)
        )
        await send(process, [request(span(999_999))])
        before = resident_mib(process)
        refused = await send(process, [request(span(n, text=TEXT * 4)) for n in range(1, 201)])
        grown = resident_mib(process) - before
        told = assert_balanced(await process.metrics())
        process.kill()
        await process.gone()
        process = await Process.start(
            tmp_path / "data", away, "local", "--config", config(tmp_path, 256)
        )
        again = resident_mib(process) - before
        away.answer = None
        await away.until(lambda: len(away.spans) == 201, timeout_s=60)
        drained = resident_mib(process) - before
        await process.stop()

    print(f"grew by {grown:.0f}, {again:.0f}, {drained:.0f} MiB")
    assert (0, 201) == (refused, told["held"])
    assert max(grown, again, drained) < 100
    assert {1} == set(away.counts.values())
