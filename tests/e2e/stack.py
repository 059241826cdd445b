"""Jaeger, a Collector with a shipped file, the evaluator and an application, connected."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .jaeger import Jaeger, SpanKey
from .peers import COLLECTOR_CONFIG, Peers
from .processes import Running, answers, free_ports, running

Protocol = Literal["grpc", "http/protobuf"]

TESTS = Path(__file__).resolve().parents[1]


@contextmanager
def running_jaeger(peers: Peers, folder: Path) -> Iterator[Jaeger]:
    """Run a Jaeger that stores in memory, until the block ends."""
    query, query_grpc, health, grpc, http = (f"127.0.0.1:{port}" for port in free_ports(5))
    environment = {
        "JAEGER_QUERY": query,
        "JAEGER_QUERY_GRPC": query_grpc,
        "JAEGER_HEALTH": health,
        "JAEGER_OTLP_GRPC": grpc,
        "JAEGER_OTLP_HTTP": http,
    }
    with running(
        "jaeger",
        [peers.jaeger, "--config", Path(__file__).with_name("jaeger.yaml")],
        ready=lambda _: answers(f"http://{health}/status"),
        folder=folder,
        environment=environment,
    ):
        yield Jaeger(query=query, otlp_grpc=grpc, otlp_http=http)


@dataclass(frozen=True)
class Addresses:
    """Where a Collector listens, and where its evaluator is to; each `host:port`."""

    grpc: str
    http: str
    judged_grpc: str
    judged_http: str
    health: str
    metrics: str
    evaluator_grpc: str
    evaluator_http: str

    @classmethod
    def free(cls) -> "Addresses":
        """Return addresses that nobody listens on."""
        return cls(*(f"127.0.0.1:{port}" for port in free_ports(8)))


@contextmanager
def running_collector(
    peers: Peers,
    file: str,
    addresses: Addresses,
    *,
    backend: str,
    folder: Path,
    additions: Sequence[Path] = (),
) -> Iterator[Running]:
    """Run a Collector with a file of `collector-config/`, unchanged, until the block ends."""
    files = [COLLECTOR_CONFIG / file, *additions]
    metrics_host, metrics_port = addresses.metrics.split(":")
    environment = {
        "COLLECTOR_GRPC": addresses.grpc,
        "COLLECTOR_HTTP": addresses.http,
        "COLLECTOR_JUDGED_GRPC": addresses.judged_grpc,
        "COLLECTOR_JUDGED_HTTP": addresses.judged_http,
        "COLLECTOR_HEALTH": addresses.health,
        "COLLECTOR_METRICS_HOST": metrics_host,
        "COLLECTOR_METRICS_PORT": metrics_port,
        "COLLECTOR_QUEUE": str(folder / "queue"),
        "EVALUATOR_ENDPOINT": addresses.evaluator_grpc,
        "JAEGER_ENDPOINT": backend,
        "TEMPO_ENDPOINT": backend,
    }
    with running(
        "collector",
        [peers.collector, *(f"--config={file}" for file in files)],
        ready=lambda _: answers(f"http://{addresses.health}"),
        folder=folder,
        environment=environment,
    ) as collector:
        yield collector


@contextmanager
def running_evaluator(
    addresses: Addresses, *, forward: str, protocol: Protocol, judge: str = "local", folder: Path
) -> Iterator[Running]:
    """Run `seer-otel serve`, judging every trace, until the block ends."""
    settings = folder / "seer.yaml"
    settings.write_text("hold: {seconds: 20, settle: 0.5}\ntrace_results: {idle: 2}\n")
    with running(
        "evaluator",
        [
            *(Path(sys.executable).with_name("seer-otel"), "serve", "--config", settings),
            *("--grpc", addresses.evaluator_grpc, "--http", addresses.evaluator_http),
            *("--forward", f"http://{forward}", "--forward-protocol", protocol),
            *("--judge", judge, "--sample-rate", "1", "--data-dir", folder / "evaluator"),
        ],
        ready=lambda log: "listening " in log.read_text(),
        folder=folder,
    ) as evaluator:
        yield evaluator


@dataclass(frozen=True)
class Inline:
    """A Collector and an evaluator, each handing its spans to the other."""

    addresses: Addresses
    collector: Running
    evaluator: Running

    def said(self) -> str:
        """Return the end of what both printed."""
        return f"{self.collector.said()}\n{self.evaluator.said()}"


@contextmanager
def running_inline(
    peers: Peers, jaeger: Jaeger, file: str, *, protocol: Protocol, judge: str, folder: Path
) -> Iterator[Inline]:
    """Run a Collector with a shipped file and the evaluator in its path, until the block ends."""
    addresses = Addresses.free()
    judged = addresses.judged_grpc if protocol == "grpc" else addresses.judged_http
    with (
        running_collector(
            peers, file, addresses, backend=jaeger.otlp_grpc, folder=folder
        ) as collector,
        running_evaluator(
            addresses, forward=judged, protocol=protocol, judge=judge, folder=folder
        ) as evaluator,
    ):
        yield Inline(addresses, collector, evaluator)


@dataclass(frozen=True)
class Exported:
    """A span that an application ended."""

    key: SpanKey
    name: str


def run_application(
    name: str,
    *,
    count: int = 1,
    endpoint: str,
    service: str,
    environment: Mapping[str, str] | None = None,
) -> list[Exported]:
    """
    Let an application of `rag/` answer so many questions, and wait for its end.

    Returns:
        The spans that it exported.
    """
    done = subprocess.run(
        [sys.executable, "-m", f"e2e.rag.{name}", str(count)],
        env={
            "PYTHONPATH": str(TESTS),
            "OTEL_SERVICE_NAME": service,
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "SEER_SAMPLE_RATE": "1",
            **(environment or {}),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [
        Exported((span["trace_id"], span["span_id"]), span["name"])
        for span in json.loads(done.stdout)
    ]
