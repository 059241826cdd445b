"""The service put together: every part, built as the configuration says."""

from dataclasses import dataclass

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

from seer_otel.clock import Clock
from seer_otel.config import Config, Forward
from seer_otel.dialects import Reader, redaction_of, with_tools
from seer_otel.errors import ConfigError
from seer_otel.evaluator.admission import Admission
from seer_otel.evaluator.events import Events
from seer_otel.evaluator.forward.dead_letters import DeadLetters
from seer_otel.evaluator.forward.forwarder import Forwarder
from seer_otel.evaluator.forward.log_shipper import LogShipper
from seer_otel.evaluator.forward.next_hop import NextHop, connect
from seer_otel.evaluator.hold.memory import StoredAnswers, StoredRequirements, StoredSpending
from seer_otel.evaluator.hold.pruning import Memory
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.intake import Intake
from seer_otel.evaluator.receive.doors import open_doors
from seer_otel.evaluator.receive.event_routes import EventRoutes
from seer_otel.evaluator.receive.grpc_server import GrpcServer
from seer_otel.evaluator.receive.http_server import HttpServer
from seer_otel.evaluator.receive.status_route import status_route
from seer_otel.evaluator.telemetry.health import Health, Pulse
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.telemetry.status import Status
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
from seer_otel.judge.select import open_judge

_CERTIFICATES = {"certificate", "client_certificate", "client_key"}
STUCK_S = 60.0
"""A write that takes longer is no sign of life."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the service is made of; None where the configuration has no need of it."""

    telemetry: Telemetry
    status: Status
    judge: Judge
    store: Store
    assessor: Assessor
    resolver: Resolver | None
    judging: Judging
    next_hop: NextHop | None
    forwarder: Forwarder | None
    logs: LogShipper | None
    intake: Intake
    grpc: GrpcServer | None
    http: HttpServer | None


def build(config: Config, judge: Judge | None, clock: Clock) -> Parts:
    """
    Build the service; nothing runs yet.

    Args:
        config: What is in force.
        judge: In place of the configured one.
        clock: Where the hold and the judge get their time from.

    Raises:
        ConfigError: Anything that cannot heal by itself.
    """
    if config.forward is None:
        raise ConfigError(
            "no next hop: give --forward URL (where spans go from here), set "
            "OTEL_EXPORTER_OTLP_ENDPOINT, or say --forward off to judge and keep records only"
        )
    doors = open_doors(config)
    seen = redaction_of(config.redact.patterns, config.redact.function)
    reader = Reader(with_tools(config.tools), seen)
    health = Health(clock)
    telemetry = Telemetry(keys=tuple(config.metric_keys), reader=_metric_reader(config))
    settings = config.judge.settings()
    budget = Budget(settings.minute, settings.day, clock=clock)
    judge = judge or open_judge(settings, budget=budget, patience_s=0.0, observe=telemetry.called)
    next_hop = connect(config.forward) if config.forward.url else None
    memory = Memory(config.hold.known_for, config.hold.known_at_most)
    store = Store(config.data_dir, clock, forwarding=next_hop is not None, memory=memory)
    budget.remember_in(StoredSpending(store, clock))
    assessor = _assessor(config, judge, store, clock)
    forwarder = None
    if next_hop is not None:
        letters = DeadLetters(config.data_dir, clock)
        forwarder = Forwarder(next_hop, store, letters, telemetry, health.pulse("forwarder"))
    logs = _log_shipper(config, telemetry, health)
    resolver = _resolver(config)
    assessing = Assessing(
        assessor,
        telemetry,
        timeout_s=3 * config.judge.timeout * config.judge.runs,
        concurrency=config.judge.concurrency,
        resolve=resolver,
        reader=reader,
    )
    pulse = health.pulse("judging")
    judging = _judging(config, store, assessing, forwarder, logs, telemetry, pulse, reader)
    admission = Admission(store, max_bytes=config.hold.max_bytes)
    intake = Intake(
        store,
        forwarder,
        judging,
        telemetry,
        clock,
        sample_rate=config.sample_rate,
        admission=admission,
        signals=("traces",) if config.signals == "traces" else ("traces", "metrics", "logs"),
        reader=reader,
        payload=config.payload,
    )
    events = Events(
        intake,
        admission,
        store,
        judging,
        assessing,
        telemetry,
        sample_rate=config.sample_rate,
    )
    routes = EventRoutes(
        events, doors.gate, clock, reader, intake.refused, doors.max_bytes
    ).routes()
    status = Status(
        telemetry,
        health,
        store,
        clock,
        max_bytes=config.hold.max_bytes,
        judge=judge.name,
        next_hop=next_hop.address if next_hop is not None else None,
    )
    routes.append(status_route(status, doors.gate))
    _register(health, store, intake, admission, assessing, resolver, forwarder)
    return Parts(
        telemetry,
        status,
        judge,
        store,
        assessor,
        resolver,
        judging,
        next_hop,
        forwarder,
        logs,
        intake,
        GrpcServer(config.grpc, intake, doors) if config.grpc else None,
        HttpServer(config.http, intake, doors, health, telemetry, routes) if config.http else None,
    )


def _assessor(config: Config, judge: Judge, store: Store, clock: Clock) -> Assessor:
    limits = config.limits
    return Assessor(
        judge,
        memory=StoredRequirements(store, clock),
        answers=StoredAnswers(store, clock),
        limits=Limits(
            passages_per_call=limits.passages_per_call,
            characters_per_passage=limits.characters_per_passage,
            max_passages=limits.max_passages,
            max_characters=limits.max_characters,
        ),
        runs=config.judge.runs,
        clock=clock,
    )


def _judging(
    config: Config,
    store: Store,
    assessing: Assessing,
    forwarder: Forwarder | None,
    logs: LogShipper | None,
    telemetry: Telemetry,
    pulse: Pulse,
    reader: Reader,
) -> Judging:
    writer = Writer({str(k): v for k, v in config.thresholds.items()}, config.payload)
    return Judging(
        store,
        assessing,
        Hops(Traces(), writer, send=config.trace_results.send, late_task=config.late_task),
        Exits(
            store,
            writer,
            telemetry,
            forwarding=forwarder is not None,
            released=forwarder.wake if forwarder else lambda: None,
            log_records=logs.ship if logs else None,
        ),
        telemetry,
        pulse,
        times=Times(
            hold=config.hold.seconds,
            settle=config.hold.settle,
            task_wait=config.hold.task_wait,
            trace_idle=config.trace_results.idle,
        ),
        reader=reader,
    )


def _register(
    health: Health,
    store: Store,
    intake: Intake,
    admission: Admission,
    assessing: Assessing,
    resolver: Resolver | None,
    forwarder: Forwarder | None,
) -> None:
    health.register_living(
        "hold",
        lambda: f"a write takes {store.busy_s:.0f} s" if store.busy_s > STUCK_S else None,
    )
    health.register("intake", lambda: "stopping" if intake.stopping else admission.full())
    health.register("hold", lambda: store.trouble)
    health.register("judge", lambda: assessing.trouble)
    if resolver is not None:
        health.register("resolver", lambda: resolver.trouble)
    if forwarder is not None:
        health.register(
            "next_hop", lambda: "does not take spans" if forwarder.up is False else None
        )


def _metric_reader(config: Config) -> PeriodicExportingMetricReader | None:
    if not config.metrics_endpoint:
        return None
    return PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=config.metrics_endpoint))


def _log_shipper(config: Config, telemetry: Telemetry, health: Health) -> LogShipper | None:
    if not config.logs_endpoint:
        return None
    told = {"url": config.logs_endpoint, "protocol": "http/protobuf", "complete": True}
    if config.forward is not None:  # the same certificates; headers are the next hop's own
        told |= config.forward.model_dump(include=_CERTIFICATES)
    endpoint = connect(Forward.model_validate(told))
    return LogShipper(endpoint, telemetry, health.pulse("logs"))


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
