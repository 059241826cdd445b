"""The service as a process: it stops well under load, at once when told twice, and says why."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import grpc
import grpc.aio
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.crash.process import REPOSITORY, Process, recording
from tests.crash.traffic import Traffic, arrivals, assert_whole
from tests.service.accounts import assert_balanced
from tests.service.backend import Backend, backend
from tests.service.conftest import EXPORT
from tests.service.spans import attributes, request, retrieval, span

FAILING = """
import asyncio, sys
from seer_otel.cli import main
from seer_otel.evaluator.forward.forwarder import Forwarder

async def fail(self):
    await asyncio.sleep(0.2)
    raise ValueError("what was retrieved")

Forwarder.run = fail
sys.exit(main())
"""


@pytest.fixture
def judge(tmp_path: Path) -> str:
    return f"replay:{recording(tmp_path)}"


async def test_a_stop_under_load_loses_nothing_and_takes_its_time_and_no_more(
    tmp_path: Path, next_hop: Backend, judge: str
) -> None:
    traffic = Traffic()
    process = await Process.start(tmp_path / "data", next_hop, judge)
    load = asyncio.create_task(traffic.load(process.grpc, senders=8))
    await asyncio.sleep(0.5)
    began = asyncio.get_running_loop().time()
    code = await process.stop()
    took_s = asyncio.get_running_loop().time() - began
    await load
    stopped = set(arrivals(next_hop))
    process = await Process.start(tmp_path / "data", next_hop, judge)
    told = assert_balanced(await process.metrics())
    await traffic.finish(process.grpc)
    await process.stop()

    assert 0 == code, process.said
    assert took_s < 15
    assert 0 == told["accepted"]  # nothing was left on disk
    assert len(traffic.acknowledged) > 100
    assert set() == traffic.acknowledged.keys() - stopped - set(arrivals(next_hop))
    assert_whole(traffic, arrivals(next_hop))
    outcomes = {
        (attributes(s).get("seer.evaluated"), attributes(s).get("seer.skip_reason"))
        for s in next_hop.named("retrieval")
    }
    assert {("scored", None), ("skipped", "shutdown")} <= outcomes


async def test_the_second_signal_ends_it_at_once_and_costs_nothing(
    tmp_path: Path, judge: str
) -> None:
    async with backend() as away:
        away.answer = lambda _: grpc.StatusCode.UNAVAILABLE
        process = await Process.start(tmp_path / "data", away, judge)
        async with grpc.aio.insecure_channel(process.grpc) as channel:
            await channel.unary_unary(EXPORT)(request(span(1), retrieval(2)), timeout=10)
        process.terminate()
        async with asyncio.timeout(10):
            while not any("again to stop at once" in line for line in process.said):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        process.terminate()
        async with asyncio.timeout(5):
            code = await process.gone()
    async with backend() as back:
        process = await Process.start(tmp_path / "data", back, judge)
        await back.until(lambda: len(back.counts) == 2)
        await process.stop()

    assert -signal.SIGTERM == code
    assert {1} == set(back.counts.values())


async def test_a_part_that_fails_is_one_line_and_an_exit_code(
    tmp_path: Path, next_hop: Backend, judge: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FAILING, "serve", "--grpc", "127.0.0.1:0", "--http", "off",
        "--forward", next_hop.url, "--judge", judge, "--data-dir", str(tmp_path / "data"),
        stderr=asyncio.subprocess.PIPE, cwd=REPOSITORY,
    )  # fmt: skip
    _, said = await process.communicate()
    errors = [line for line in said.decode().splitlines() if line.startswith("error")]

    assert 1 == process.returncode
    (error,) = errors
    assert error.startswith("error: the forwarding failed: ValueError at <string>:8")
    assert error.endswith("; what was accepted is on disk, and goes on at the next start")
    assert "retrieved" not in said.decode()
    assert "Traceback" not in said.decode()


@pytest.mark.parametrize("shared", ["port", "folder"])
async def test_a_second_one_on_the_same_port_or_folder_ends_with_one_line(
    tmp_path: Path, next_hop: Backend, judge: str, shared: str
) -> None:
    process = await Process.start(tmp_path / "data", next_hop, judge)
    second = await asyncio.to_thread(
        subprocess.run,
        [
            *(sys.executable, "-m", "seer_otel", "serve", "--http", "off", "--judge", judge),
            *("--grpc", process.grpc if shared == "port" else "127.0.0.1:0"),
            *("--forward", next_hop.url),
            *("--data-dir", str(tmp_path / ("data" if shared == "folder" else "other"))),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    await process.stop()

    assert 2 == second.returncode
    said = second.stderr.strip().splitlines()[-1]
    assert said.startswith("error: ")
    assert ("Address already in use" if shared == "port" else "is in use by another") in said


async def test_an_sdk_with_a_hundred_spans_and_a_judge_at_work_ends_in_time(
    tmp_path: Path, next_hop: Backend, judge: str
) -> None:
    """Both stop at once, as a pod does: what the application flushed is at the next hop."""
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    process = await Process.start(tmp_path / "data", next_hop, judge)
    exporter = OTLPSpanExporter(f"http://{process.grpc}", insecure=True)

    def application() -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        for number in range(100):
            with provider.get_tracer("app").start_as_current_span("retrieval") as current:
                current.set_attribute("seer.task", f"question {number}")
                current.set_attribute("seer.context", '["a passage"]')
        provider.shutdown()

    await asyncio.to_thread(application)
    began = asyncio.get_running_loop().time()
    code = await process.stop()

    assert 0 == code
    assert asyncio.get_running_loop().time() - began < 25
    assert 100 == len(next_hop.named("retrieval"))
    assert {1} == set(next_hop.counts.values())


async def test_its_folder_is_nobody_elses(tmp_path: Path, next_hop: Backend, judge: str) -> None:
    process = await Process.start(tmp_path / "data", next_hop, judge)
    mode = os.stat(tmp_path / "data").st_mode & 0o777
    await process.stop()

    assert 0o700 == mode
