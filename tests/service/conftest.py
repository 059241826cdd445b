"""A running evaluator in the test's own event loop, before a next hop that keeps everything."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest

from seer_otel.clock import Clock
from seer_otel.config import load
from seer_otel.evaluator.app import Evaluator, Listening, PartFailed
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.crash.process import no_process_left
from tests.service.backend import Backend, backend
from tests.service.spans import SCRIPT

__all__ = ["no_process_left"]

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@dataclass
class Service:
    """A running evaluator and its surroundings."""

    evaluator: Evaluator
    backend: Backend
    judge: ScriptedJudge
    listening: Listening
    channel: grpc.aio.Channel
    http: httpx.AsyncClient
    stop: Callable[[], Awaitable[None]]
    ended: Callable[[], Awaitable[None]]
    """Wait for it to end by itself."""

    async def send(self, body: bytes, **headers: str) -> None:
        """Export over gRPC."""
        await self.channel.unary_unary(EXPORT)(body, metadata=tuple(headers.items()), timeout=10)

    def total(self, metric: metrics.Metric) -> float:
        return self.evaluator.telemetry.total(metric)

    def assert_accounted(self) -> None:
        """What was accepted is somewhere, once."""
        parts = (
            metrics.FORWARDED, metrics.HELD, metrics.DEAD_LETTERED, metrics.DUPLICATE,
            metrics.JUDGED_ONLY,
        )  # fmt: skip
        sums = {part.name: self.total(part) for part in parts}

        assert self.total(metrics.ACCEPTED) == sum(sums.values()), sums


Start = Callable[..., Awaitable[Service]]


@asynccontextmanager
async def running(
    folder: Path,
    judge: ScriptedJudge | None,
    next_hop: Backend,
    *,
    clock: Clock | None = None,
    **settings: Any,
) -> AsyncIterator[Service]:
    flags: dict[str, Any] = {
        "grpc": "127.0.0.1:0",
        "http": "127.0.0.1:0",
        "forward.url": next_hop.url,
        "sample_rate": 1.0,
        "data_dir": str(folder),
        "shutdown.grace": 5.0,
    }
    config = load(None, {}, {**flags, **{k.replace("__", "."): v for k, v in settings.items()}})
    evaluator = Evaluator(config, judge=judge, clock=clock)
    stop = asyncio.Event()
    ready: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(evaluator.run(stop, ready.set_result))

    async def end() -> None:
        stop.set()
        await task

    async def ended() -> None:
        await task

    task.add_done_callback(lambda _: ready.cancel())
    try:
        listening = await ready
    except asyncio.CancelledError:
        await task  # says why
        raise
    async with (
        grpc.aio.insecure_channel(listening.grpc or "") as channel,
        httpx.AsyncClient(base_url=f"http://{listening.http}", trust_env=False) as http,
    ):
        try:
            yield Service(
                evaluator,
                next_hop,
                judge or ScriptedJudge({}),
                listening,
                channel,
                http,
                end,
                ended,
            )
        finally:
            stop.set()
            await asyncio.wait({task})
            if not task.cancelled() and not isinstance(task.exception(), PartFailed):
                task.result()


@pytest.fixture
async def next_hop() -> AsyncIterator[Backend]:
    async with backend() as recording:
        yield recording


@pytest.fixture
async def start(tmp_path: Path, next_hop: Backend) -> AsyncIterator[Start]:
    """Start evaluators on one data folder; with the judge of their settings where they name one."""
    async with AsyncExitStack() as stack:

        async def begin(
            judge: ScriptedJudge | None = None, clock: Clock | None = None, **settings: Any
        ) -> Service:
            if judge is None and "judge__base_url" not in settings:
                judge = ScriptedJudge(SCRIPT)
            return await stack.enter_async_context(
                running(tmp_path / "data", judge, next_hop, clock=clock, **settings)
            )

        yield begin
