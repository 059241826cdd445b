"""The shipped Collector files: accepted, in step, and whole even without an evaluator."""

import dataclasses
import os
import subprocess
from collections import Counter
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from .jaeger import Jaeger, copies
from .peers import COLLECTOR_CONFIG, Peers
from .stack import Addresses, run_application, running_collector

pytestmark = pytest.mark.e2e

FILES = sorted(file.name for file in COLLECTOR_CONFIG.glob("*-*.yaml"))


@pytest.mark.parametrize("file", FILES)
def test_the_collector_accepts_the_file_without_any_setting(
    peers: Peers, file: str, tmp_path: Path
) -> None:
    checked = subprocess.run(
        [peers.collector, "validate", "--config", COLLECTOR_CONFIG / file],
        env={"COLLECTOR_QUEUE": str(tmp_path / "queue")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (0, "") == (checked.returncode, checked.stderr)


@pytest.mark.parametrize("layout", ["sidecar", "gateway"])
def test_the_files_for_jaeger_and_tempo_differ_in_the_back_end_alone(layout: str) -> None:
    jaeger = _settings(f"{layout}-jaeger.yaml")
    tempo = _settings(f"{layout}-tempo.yaml")

    assert jaeger.replace("jaeger", "tempo").replace("JAEGER", "TEMPO") == tempo


@pytest.mark.parametrize("file", FILES)
def test_with_the_evaluator_left_out_every_span_arrives_once(
    peers: Peers, jaeger: Jaeger, file: str, tmp_path: Path
) -> None:
    """What is for the evaluator goes straight to where the evaluator would hand it back."""
    addresses = Addresses.free()
    shortcut = dataclasses.replace(addresses, evaluator_grpc=addresses.judged_grpc)
    with running_collector(peers, file, shortcut, backend=jaeger.otlp_grpc, folder=tmp_path):
        exported = run_application(
            "openinference_app", count=5, endpoint=f"http://{addresses.http}", service=file
        )
        stored = jaeger.await_spans([span.key for span in exported])

    assert Counter(span.key for span in exported) == copies(stored)


def test_a_span_that_is_stored_twice_shows_twice(jaeger: Jaeger) -> None:
    """The guard of every count of copies here."""
    trace_id, span_id = os.urandom(16), os.urandom(8)
    span = Span(
        trace_id=trace_id,
        span_id=span_id,
        name="twice",
        start_time_unix_nano=1,
        end_time_unix_nano=2,
    )
    request = ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])]
    )
    for _ in range(2):
        httpx.post(
            f"http://{jaeger.otlp_http}/v1/traces",
            content=request.SerializeToString(),
            headers={"Content-Type": "application/x-protobuf"},
        ).raise_for_status()
    key = (trace_id.hex(), span_id.hex())

    assert {key: 2} == copies(jaeger.await_spans([key]))


def _settings(file: str) -> str:
    lines = (COLLECTOR_CONFIG / file).read_text().splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))
