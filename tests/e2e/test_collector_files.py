"""The shipped Collector files: accepted, in step, and whole even without an evaluator."""

import dataclasses
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from .jaeger import Jaeger, SpanKey, copies
from .peers import COLLECTOR_CONFIG, Peers
from .stack import Addresses, run_application, running_collector

FILES = sorted(file.name for file in COLLECTOR_CONFIG.glob("*-*.yaml"))


@pytest.mark.parametrize("file", FILES)
def test_the_collector_accepts_the_file_without_any_setting(peers: Peers, file: str) -> None:
    checked = subprocess.run(
        [peers.collector, "validate", f"--config={COLLECTOR_CONFIG / file}"],
        env={},
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


def test_traces_are_kept_by_their_verdict(peers: Peers, jaeger: Jaeger, tmp_path: Path) -> None:
    """The documentation's tail sampling, with less patience and none of the rest."""
    text = _from_documentation("keep-poor-retrievals.yaml")
    addition = tmp_path / "addition.yaml"
    addition.write_text(text.replace("wait: 40s", "wait: 1s").replace("age: 5", "age: 0"))
    addresses = Addresses.free()
    good, poor = _retrieval(recall=1.0), _retrieval(recall=0.5)
    with running_collector(
        peers,
        "gateway-jaeger.yaml",
        addresses,
        backend=jaeger.otlp_grpc,
        folder=tmp_path,
        additions=[addition],
    ):
        for span in good, poor:
            _post(span, addresses.judged_http)
        jaeger.await_spans([_key(poor)])

    assert [] == jaeger.trace(good.trace_id.hex())


def test_passages_are_dropped_once_they_are_judged(
    peers: Peers, jaeger: Jaeger, tmp_path: Path
) -> None:
    addition = tmp_path / "addition.yaml"
    addition.write_text(_from_documentation("drop-passages.yaml"))
    addresses = Addresses.free()
    judged, waiting = _retrieval(recall=1.0), _retrieval()
    with running_collector(
        peers,
        "gateway-jaeger.yaml",
        addresses,
        backend=jaeger.otlp_grpc,
        folder=tmp_path,
        additions=[addition],
    ):
        for span in judged, waiting:
            _post(span, addresses.judged_http)
        stored = {s.key: s for s in jaeger.await_spans([_key(judged), _key(waiting)])}

    assert "seer.context" not in stored[_key(judged)].attributes
    assert 1 == len(stored[_key(judged)].results())
    assert "seer.context" in stored[_key(waiting)].attributes


def test_a_span_that_is_stored_twice_shows_twice(jaeger: Jaeger) -> None:
    """The guard of every count of copies here."""
    span = _retrieval()
    for _ in range(2):
        _post(span, jaeger.otlp_http)

    assert {_key(span): 2} == copies(jaeger.await_spans([_key(span)]))


def _retrieval(*, recall: float | None = None) -> Span:
    """Make a retrieval, a trace of its own, as the evaluator would hand it back."""
    span = Span(
        trace_id=os.urandom(16),
        span_id=os.urandom(8),
        name="retrieval",
        start_time_unix_nano=1,
        end_time_unix_nano=2,
        attributes=[_attribute("seer.context", AnyValue(string_value='["a passage"]'))],
    )
    if recall is not None:
        score = _attribute("seer.recall", AnyValue(double_value=recall))
        span.events.add(name="seer.evaluation", time_unix_nano=2, attributes=[score])
        span.attributes.append(_attribute("seer.evaluated", AnyValue(string_value="scored")))
    return span


def _attribute(key: str, value: AnyValue) -> KeyValue:
    return KeyValue(key=key, value=value)


def _key(span: Span) -> SpanKey:
    return (span.trace_id.hex(), span.span_id.hex())


def _post(span: Span, address: str) -> None:
    request = ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])]
    )
    httpx.post(
        f"http://{address}/v1/traces",
        content=request.SerializeToString(),
        headers={"Content-Type": "application/x-protobuf"},
    ).raise_for_status()


def _from_documentation(file: str) -> str:
    """Return the block of docs/collector.md that begins with the name of the file."""
    text = (COLLECTOR_CONFIG.parent / "docs" / "collector.md").read_text()
    (block,) = re.findall(rf"```yaml\n# {re.escape(file)}:.*?\n(.*?)```", text, re.DOTALL)
    return str(block)


def _settings(file: str) -> str:
    lines = (COLLECTOR_CONFIG / file).read_text().splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))
