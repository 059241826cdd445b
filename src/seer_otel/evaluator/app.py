"""The order in which the service starts and stops."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass

from seer_otel.clock import Clock, SystemClock
from seer_otel.config import Config
from seer_otel.errors import ConfigError, StorageFailed
from seer_otel.evaluator.forward.circle import refuse_circle
from seer_otel.evaluator.receive.grpc_server import GrpcServer
from seer_otel.evaluator.receive.http_server import HttpServer
from seer_otel.evaluator.telemetry.recent import EVERY_S
from seer_otel.evaluator.telemetry.whereabouts import whereabouts
from seer_otel.evaluator.wiring import build
from seer_otel.judge.protocol import Judge

log = logging.getLogger(__name__)

PRUNE_EVERY_S = 600.0


class PartFailed(Exception):
    """Raised where a part of the service came to an unexpected end; says which, and where."""


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
        self.intake = self._parts.intake

    async def run(self, stop: asyncio.Event, ready: Callable[[Listening], None]) -> None:
        """
        Serve until told to stop; then let go of everything in order.

        Raises:
            ConfigError: A port is taken, or the next hop is one of our own listeners.
            PartFailed: Something that works in the background came to an unexpected end.
        """
        try:
            await self._run(stop, ready)
        except ExceptionGroup as group:
            for kind in (ConfigError, PartFailed):
                if (ours := group.subgroup(kind)) is not None:
                    raise ours.exceptions[0] from None
            raise
        finally:
            await self._close()

    async def _run(self, stop: asyncio.Event, ready: Callable[[Listening], None]) -> None:
        parts = self._parts
        await self.store.count()
        parts.intake.recovered()
        async with asyncio.TaskGroup() as group:
            background = [group.create_task(_part(*part)) for part in self._background()]
            try:
                parts.judging.begin(group)
                await parts.judging.recover(self.store.left_behind(), self._clock.now())
                ready(await self._listen())
                background += [group.create_task(_part(*part)) for part in self._listeners()]
                await stop.wait()
                await self._wind_down()
            finally:
                parts.judging.cancel()
                for task in background:
                    task.cancel()

    def _background(self) -> Iterator[tuple[str, Coroutine[None, None, None]]]:
        yield "the judging", self._parts.judging.run()
        yield "the forgetting", self._prune()
        yield "the counting", self._look()
        if self._parts.forwarder is not None:
            yield "the forwarding", self._parts.forwarder.run()
        if self._parts.logs is not None:
            yield "the sending of log records", self._parts.logs.run()

    def _listeners(self) -> Iterator[tuple[str, Coroutine[None, None, None]]]:
        if self._parts.grpc is not None:
            yield "the gRPC listener", self._attend(self._parts.grpc)
        if self._parts.http is not None:
            yield "the HTTP listener", self._attend(self._parts.http)

    async def _attend(self, listener: GrpcServer | HttpServer) -> None:
        await listener.attend()
        if not self._parts.intake.stopping:
            raise RuntimeError("nobody told it to end")

    async def _prune(self) -> None:
        while True:
            try:
                await self.store.prune()
            except StorageFailed as error:
                log.warning("%s", error)
            await asyncio.sleep(PRUNE_EVERY_S)

    async def _look(self) -> None:
        while True:
            self._parts.status.recent.look()
            await asyncio.sleep(EVERY_S)

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
        grace_s = self.config.shutdown.grace
        try:
            async with asyncio.timeout(grace_s):
                await self._let_go(grace_s)
        except TimeoutError:
            statistics = self.store.statistics
            log.warning(
                "not all has left within %g s: %d span(s) stay on disk, and are sent at the next "
                "start",
                grace_s,
                statistics.held_spans + statistics.queued_spans + statistics.queued_carriers,
            )

    async def _let_go(self, grace_s: float) -> None:
        """Refuse what is new, release what is held, empty the outbox."""
        parts = self._parts
        parts.intake.stopping = True
        await asyncio.gather(
            *([parts.grpc.stop(min(5.0, grace_s / 2))] if parts.grpc else []),
            *([parts.http.stop()] if parts.http else []),
        )
        await parts.intake.finish()
        if self.config.shutdown.held == "release":
            await parts.judging.release_all("shutdown")
            await parts.judging.end_all()
        if parts.forwarder is not None:
            await parts.forwarder.drain()

    async def _close(self) -> None:
        parts = self._parts
        if parts.grpc is not None:
            await parts.grpc.stop(0)
        if parts.http is not None:
            await parts.http.stop()
        await parts.assessor.aclose()
        await parts.judge.aclose()
        if parts.resolver is not None:
            await parts.resolver.aclose()
        if parts.next_hop is not None:
            await parts.next_hop.aclose()
        await asyncio.to_thread(self.telemetry.shutdown)
        await self.store.aclose()


async def _part(name: str, work: Coroutine[None, None, None]) -> None:
    """Do the work of a part; where it fails, nothing runs on without it."""
    try:
        await work
    except Exception as error:
        raise PartFailed(f"{name} failed: {whereabouts(error)}") from error
