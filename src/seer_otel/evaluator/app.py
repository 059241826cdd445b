"""The service put together: what the configuration builds, and the order of start and stop."""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from starlette.routing import Route

from seer_otel.clock import Clock, SystemClock
from seer_otel.config import Config, Forward
from seer_otel.dialects import with_tools
from seer_otel.errors import ConfigError, StorageFailed
from seer_otel.evaluator.events import Events
from seer_otel.evaluator.forward.dead_letters import DeadLetters
from seer_otel.evaluator.forward.forwarder import Forwarder
from seer_otel.evaluator.forward.log_shipper import LogShipper
from seer_otel.evaluator.forward.next_hop import NextHop, address_of, connect
from seer_otel.evaluator.hold.memory import StoredAnswers, StoredRequirements, StoredSpending
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.intake import Admission, Intake
from seer_otel.evaluator.receive.event_routes import EventRoutes
from seer_otel.evaluator.receive.grpc_server import GrpcServer
from seer_otel.evaluator.receive.guard import Gate
from seer_otel.evaluator.receive.http_server import HttpServer
from seer_otel.evaluator.telemetry.health import Health
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.work.assessing import Assessing
from seer_otel.evaluator.work.exits import Exits
from seer_otel.evaluator.work.hops import Hops
from seer_otel.evaluator.work.judging import Judging, Times
from seer_otel.evaluator.work.resolver import Resolver
from seer_otel.evaluator.work.results import Writer
from seer_otel.evaluator.work.traces import Traces
from seer_otel.judge.assess import Assessor
from seer_otel.judge.budget import Budget
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import Judge
from seer_otel.judge.select import describe, open_judge

log = logging.getLogger(__name__)

PRUNE_EVERY_S = 600.0
MAX_PENDING = 20_000
"""Retrievals on their way; more leave unevaluated (`pressure`)."""


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
        if config.forward is None:
            raise ConfigError(
                "no next hop: give --forward URL (where spans go from here), set "
                "OTEL_EXPORTER_OTLP_ENDPOINT, or say --forward off to judge and keep records only"
            )
        self.config = config
        self._clock = clock or SystemClock()
        self.telemetry = Telemetry(keys=tuple(config.metric_keys), reader=_metric_reader(config))
        settings = config.judge.settings()
        budget = Budget(settings.minute, settings.day, clock=self._clock)
        self._judge = judge or open_judge(settings, budget=budget, observe=self.telemetry.called)
        self._next_hop = connect(config.forward) if config.forward.url else None
        self.store = Store(config.data_dir, self._clock, forwarding=self._next_hop is not None)
        budget.remember_in(StoredSpending(self.store, self._clock))
        self._assessor = self._make_assessor()
        self._forwarder = self._make_forwarder(self._next_hop)
        self._logs = _log_shipper(config)
        self._resolver = _resolver(config)
        self._assessing = Assessing(
            self._assessor,
            self.telemetry,
            timeout_s=3 * config.judge.timeout,
            concurrency=config.judge.concurrency,
            resolve=self._resolver,
        )
        self._judging = self._make_judging()
        self._intake = Intake(
            self.store,
            self._forwarder,
            self._judging,
            self.telemetry,
            self._clock,
            sample_rate=config.sample_rate,
            admission=Admission(config.hold.max_bytes, MAX_PENDING),
            signals=("traces",) if config.signals == "traces" else ("traces", "metrics", "logs"),
            dialects=with_tools(config.tools),
        )
        self._health = self._make_health()
        self._servers(Gate(config.api_key.get_secret_value() if config.api_key else None))

    def _make_forwarder(self, next_hop: NextHop | None) -> Forwarder | None:
        if next_hop is None:
            return None
        letters = DeadLetters(self.config.data_dir / "dead-letters", self._clock)
        return Forwarder(next_hop, self.store, letters, self.telemetry)

    def _make_assessor(self) -> Assessor:
        limits = self.config.limits
        return Assessor(
            self._judge,
            memory=StoredRequirements(self.store, self._clock),
            answers=StoredAnswers(self.store, self._clock),
            limits=Limits(
                passages_per_call=limits.passages_per_call,
                characters_per_passage=limits.characters_per_passage,
                max_passages=limits.max_passages,
                max_characters=limits.max_characters,
            ),
            runs=self.config.judge.runs,
            clock=self._clock,
        )

    def _make_judging(self) -> Judging:
        config = self.config
        writer = Writer({str(k): v for k, v in config.thresholds.items()})
        return Judging(
            self.store,
            self._assessing,
            Hops(Traces(), writer, send=config.trace_results.send, late_task=config.late_task),
            Exits(
                self.store,
                writer,
                self.telemetry,
                forwarding=self._forwarder is not None,
                released=self._forwarder.wake if self._forwarder else lambda: None,
                log_records=self._logs.ship if self._logs else None,
            ),
            self.telemetry,
            times=Times(
                hold=config.hold.seconds,
                settle=config.hold.settle,
                task_wait=config.hold.task_wait,
                trace_idle=config.trace_results.idle,
            ),
            dialects=with_tools(config.tools),
        )

    def _make_health(self) -> Health:
        health = Health()
        health.register(
            "intake", lambda: "stopping" if self._intake.stopping else self._intake.full()
        )
        health.register("judge", lambda: self._assessing.trouble)
        if self._resolver is not None:
            resolver = self._resolver
            health.register("resolver", lambda: resolver.trouble)
        if self._forwarder is not None:
            forwarder = self._forwarder
            health.register(
                "next_hop", lambda: "does not take spans" if forwarder.up is False else None
            )
        return health

    def _servers(self, gate: Gate) -> None:
        config = self.config
        limit = config.limits.request_bytes
        self._grpc = GrpcServer(config.grpc, self._intake, gate, limit) if config.grpc else None
        self._http = (
            HttpServer(
                config.http,
                self._intake,
                gate,
                self._health,
                self.telemetry,
                self._event_routes(gate),
                limit,
            )
            if config.http
            else None
        )

    def _event_routes(self, gate: Gate) -> list[Route]:
        events = Events(
            self._intake,
            self.store,
            self._judging,
            self._assessing,
            self.telemetry,
            sample_rate=self.config.sample_rate,
            max_pending=MAX_PENDING,
        )
        limit = self.config.limits.request_bytes
        return EventRoutes(events, gate, self._clock, self._intake.refused, limit).routes()

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
                self._judging.begin(group)
                await self._judging.recover(await self.store.recover(), self._clock.now())
                self._intake.recovered()
                ready(await self._listen())
                await stop.wait()
                await self._wind_down()
            finally:
                self._judging.cancel()
                for task in background:
                    task.cancel()

    def _background(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        tasks = [group.create_task(self._judging.run()), group.create_task(self._prune())]
        if self._forwarder is not None:
            tasks.append(group.create_task(self._forwarder.run()))
        if self._logs is not None:
            tasks.append(group.create_task(self._logs.run()))
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
            await self._grpc.start() if self._grpc else None,
            await self._http.start() if self._http else None,
        )
        assert self.config.forward is not None
        if self.config.forward.url:
            _refuse_loop(self.config.forward.url, listening)
        return listening

    async def _wind_down(self) -> None:
        """Refuse what is new, release what is held, empty the outbox; within the grace."""
        grace_s = self.config.shutdown.grace
        self._intake.stopping = True
        if self._grpc:
            await self._grpc.stop(min(5.0, grace_s / 2))
        if self._http:
            await self._http.stop()
        await self._intake.finish()
        if self.config.shutdown.held == "release":
            await self._judging.release_all("shutdown")
            await self._judging.end_all()
        if self._forwarder is not None:
            try:
                async with asyncio.timeout(grace_s):
                    await self._forwarder.drain()
            except TimeoutError:
                statistics = self.store.statistics
                log.warning(
                    "the next hop did not take all within %g s: %d span(s) stay on disk, and are "
                    "sent at the next start",
                    grace_s,
                    statistics.queued_spans + statistics.queued_carriers,
                )

    async def _close(self) -> None:
        for server in (self._grpc, self._http):
            if server is not None:
                await (server.stop(0) if isinstance(server, GrpcServer) else server.stop())
        await self._assessor.aclose()
        await self._judge.aclose()
        if self._resolver is not None:
            await self._resolver.aclose()
        if self._next_hop is not None:
            await self._next_hop.aclose()
        await asyncio.to_thread(self.telemetry.shutdown)
        await self.store.aclose()


def serve(config: Config) -> None:
    """
    Run the service in this process until SIGINT or SIGTERM; a second signal ends it at once.

    Raises:
        ConfigError: Anything at the start that cannot heal by itself.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    for name in ("httpx", "uvicorn"):
        logging.getLogger(name).setLevel(logging.WARNING)
    asyncio.run(_serve(config))


async def _serve(config: Config) -> None:
    evaluator = Evaluator(config)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(name: str) -> None:
        _say(f"{name}: releasing what is held (again to stop at once; nothing accepted is lost)")
        stop.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number.name)
    _say(greeting(config))
    await evaluator.run(
        stop, lambda at: _say(f"listening grpc={at.grpc or 'off'} http={at.http or 'off'}")
    )


def greeting(config: Config) -> str:
    """Return the first line: how much is judged, by whom, and where everything goes."""
    forward = config.forward
    onward = (
        f"forwarding to {forward.url} ({forward.protocol})"
        if forward is not None and forward.url
        else "forwarding off: records only"
    )
    return (
        f"judging {100 * config.sample_rate:.4g} % of traces; "
        f"{describe(config.judge.settings())}; {onward}"
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _metric_reader(config: Config) -> PeriodicExportingMetricReader | None:
    if not config.metrics_endpoint:
        return None
    return PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=config.metrics_endpoint))


def _log_shipper(config: Config) -> LogShipper | None:
    if not config.logs_endpoint:
        return None
    return LogShipper(
        connect(Forward(url=config.logs_endpoint, protocol="http/protobuf", complete=True))
    )


def _resolver(config: Config) -> Resolver | None:
    if config.resolver is None:
        return None
    told = config.resolver
    return Resolver(
        told.url,
        timeout_s=told.timeout,
        headers={name: value.get_secret_value() for name, value in told.headers.items()},
        batch=told.batch,
        cache=told.cache,
    )


def _refuse_loop(url: str, listening: Listening) -> None:
    """Refuse a next hop that is one of our own listeners."""
    host, port, _ = address_of(url)
    for own in (listening.grpc, listening.http):
        if own is None or int(own.rpartition(":")[2]) != port:
            continue
        own_host = own.rpartition(":")[0].strip("[]")
        if _same_machine(host, own_host):
            raise ConfigError(
                f"the next hop {url} is this evaluator itself ({own}): spans would go in circles; "
                "give the address of the Collector or backend with --forward, or other ports with "
                "--grpc and --http"
            )


def _same_machine(host: str, own: str) -> bool:
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    if ip_address(own).is_unspecified if _is_ip(own) else False:
        return any(ip_address(a).is_loopback for a in addresses) or host == socket.gethostname()
    try:
        return bool(addresses & {info[4][0] for info in socket.getaddrinfo(own, None)})
    except OSError:
        return False


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
