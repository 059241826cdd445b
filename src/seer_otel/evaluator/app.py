"""The order in which the service starts and stops."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from seer_otel.clock import Clock, SystemClock
from seer_otel.config import Config
from seer_otel.errors import ConfigError, StorageFailed
from seer_otel.evaluator.forward.circle import refuse_circle
from seer_otel.evaluator.receive.grpc_server import GrpcServer
from seer_otel.evaluator.wiring import build
from seer_otel.judge.protocol import Judge

log = logging.getLogger(__name__)

PRUNE_EVERY_S = 600.0


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the service can be reached: the real addresses; None where off."""

    grpc: str | None
    http: str | None


class Evaluator:
    """
    The service: one process, one event loop, one data folder.

    Raises:
        ConfigError: Anything at the start that cannot heal by itself.
    """

    def __init__(
        self, config: Config, *, judge: Judge | None = None, clock: Clock | None = None
    ) -> None:
        self.config = config
        self._clock = clock or SystemClock()
        self._parts = build(config, judge, self._clock)
        self.telemetry = self._parts.telemetry
        self.store = self._parts.store

    async def run(self, stop: asyncio.Event, ready: Callable[[Listening], None]) -> None:
        """
        Serve until told to stop; then let go of everything in order.

        Raises:
            ConfigError: A port is taken, or the next hop is one of our own listeners.
        """
        try:
            await self._run(stop, ready)
        except ExceptionGroup as group:
            mistakes = group.subgroup(ConfigError)
            if mistakes is None:
                raise
            raise mistakes.exceptions[0] from None
        finally:
            await self._close()

    async def _run(self, stop: asyncio.Event, ready: Callable[[Listening], None]) -> None:
        async with asyncio.TaskGroup() as group:
            background = self._background(group)
            try:
                self._parts.judging.begin(group)
                await self._parts.judging.recover(await self.store.recover(), self._clock.now())
                self._parts.intake.recovered()
                ready(await self._listen())
                await stop.wait()
                await self._wind_down()
            finally:
                self._parts.judging.cancel()
                for task in background:
                    task.cancel()

    def _background(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        tasks = [group.create_task(self._parts.judging.run()), group.create_task(self._prune())]
        if self._parts.forwarder is not None:
            tasks.append(group.create_task(self._parts.forwarder.run()))
        if self._parts.logs is not None:
            tasks.append(group.create_task(self._parts.logs.run()))
        return tasks

    async def _prune(self) -> None:
        while True:
            try:
                await self.store.prune()
            except StorageFailed as error:
                log.warning("%s", error)
            await asyncio.sleep(PRUNE_EVERY_S)

    async def _listen(self) -> Listening:
        listening = Listening(
            await self._parts.grpc.start() if self._parts.grpc else None,
            await self._parts.http.start() if self._parts.http else None,
        )
        assert self.config.forward is not None
        if self.config.forward.url:
            refuse_circle(self.config.forward.url, (listening.grpc, listening.http))
        return listening

    async def _wind_down(self) -> None:
        """Refuse what is new, release what is held, empty the outbox; within the grace."""
        grace_s = self.config.shutdown.grace
        self._parts.intake.stopping = True
        if self._parts.grpc:
            await self._parts.grpc.stop(min(5.0, grace_s / 2))
        if self._parts.http:
            await self._parts.http.stop()
        await self._parts.intake.finish()
        if self.config.shutdown.held == "release":
            await self._parts.judging.release_all("shutdown")
            await self._parts.judging.end_all()
        if self._parts.forwarder is not None:
            try:
                async with asyncio.timeout(grace_s):
                    await self._parts.forwarder.drain()
            except TimeoutError:
                statistics = self.store.statistics
                log.warning(
                    "the next hop did not take all within %g s: %d span(s) stay on disk, and are "
                    "sent at the next start",
                    grace_s,
                    statistics.queued_spans + statistics.queued_carriers,
                )

    async def _close(self) -> None:
        for server in (self._parts.grpc, self._parts.http):
            if server is not None:
                await (server.stop(0) if isinstance(server, GrpcServer) else server.stop())
        await self._parts.assessor.aclose()
        await self._parts.judge.aclose()
        if self._parts.resolver is not None:
            await self._parts.resolver.aclose()
        if self._parts.next_hop is not None:
            await self._parts.next_hop.aclose()
        await asyncio.to_thread(self.telemetry.shutdown)
        await self.store.aclose()
