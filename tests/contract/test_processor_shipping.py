"""What leaves an application, as an evaluator receives it: over HTTP, from real processes."""

import logging
import socket
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult

from seer_otel import SeerSpanProcessor, request, retrieval, sampling
from seer_otel.instrument import notices

QUESTION = "Which depot services the tram that runs to the harbour?"
HOP = "Which tram runs to the harbour?"
OPENINFERENCE = {
    "openinference.span.kind": "RETRIEVER",
    "input.value": HOP,
    "retrieval.documents.0.document.content": "Tram 9 runs to the harbour.",
}
"""What OpenInference puts on a span before it ends; nothing of it is there when it starts."""


class Evaluator(ThreadingHTTPServer):
    """Takes spans and keeps them, with the headers they came with."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.requests: list[tuple[str, dict[str, str], ExportTraceServiceRequest]] = []

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for _, _, request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.spans]


class Handler(BaseHTTPRequestHandler):
    server: Evaluator

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = ExportTraceServiceRequest.FromString(body)
        self.server.requests.append((self.path, headers, request))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@dataclass
class Application:
    """An application with its own export, to which the processor was added last."""

    processor: SeerSpanProcessor
    provider: TracerProvider
    exported: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)

    def __post_init__(self) -> None:
        self.provider.add_span_processor(SimpleSpanProcessor(self.exported))
        self.provider.add_span_processor(self.processor)
        self.tracer = self.provider.get_tracer("app", "1.2")

    def retrieve(self, name: str = "search", **more: Any) -> None:
        """Record a retrieval as OpenInference does."""
        with self.tracer.start_as_current_span(name) as span:
            span.set_attributes({**OPENINFERENCE, **more})


@pytest.fixture(autouse=True)
def fresh_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_said", set())


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    with Evaluator() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def application(evaluator: Evaluator) -> Iterator[Application]:
    application = Application(
        SeerSpanProcessor(evaluator.url, sample_rate=1.0),
        TracerProvider(resource=Resource({"service.name": "tram-desk"}), shutdown_on_exit=False),
    )
    yield application
    application.provider.shutdown()


def attributes(span: Span) -> dict[str, str | bool]:
    return {
        a.key: a.value.bool_value if a.value.HasField("bool_value") else a.value.string_value
        for a in span.attributes
    }


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_retrieval_arrives_whole_and_marked(
    evaluator: Evaluator, application: Application
) -> None:
    application.retrieve()
    assert application.provider.force_flush()
    ((path, headers, received),) = evaluator.requests
    expected = encode_spans(application.exported.get_finished_spans())
    mark = expected.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="seer.sampled")
    mark.value.bool_value = True

    assert ("/v1/traces", "no", "application/x-protobuf") == (
        path,
        headers["seer-forward"],
        headers["content-type"],
    )
    assert expected == received


def test_the_key_of_the_evaluator_is_sent_and_no_other(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-vendor-key=secret")
    processor = SeerSpanProcessor(evaluator.url, sample_rate=1.0, api_key="k")
    application = Application(processor, TracerProvider(shutdown_on_exit=False))
    application.retrieve()
    application.provider.shutdown()
    ((_, headers, _),) = evaluator.requests

    assert "Bearer k" == headers["authorization"]
    assert "x-vendor-key" not in headers


def test_inside_a_request_the_copy_has_the_task_and_the_application_span_has_not(
    evaluator: Evaluator, application: Application
) -> None:
    with request(task=QUESTION, tracer_provider=application.provider):
        application.retrieve()
    application.provider.force_flush()
    (copy,) = evaluator.spans
    own, _ = application.exported.get_finished_spans()

    assert {**OPENINFERENCE, "seer.sampled": True, "seer.task": QUESTION} == attributes(copy)
    assert {**OPENINFERENCE, "seer.sampled": True} == dict(own.attributes or {})


def test_what_a_span_lost_is_still_counted_on_the_copy(evaluator: Evaluator) -> None:
    processor = SeerSpanProcessor(evaluator.url, sample_rate=1.0)
    application = Application(processor, TracerProvider(shutdown_on_exit=False))
    documents = {f"retrieval.documents.{n}.document.content": "p" for n in range(150)}
    with application.tracer.start_as_current_span("search") as span:
        span.set_attributes({**documents, "openinference.span.kind": "RETRIEVER"})
    application.provider.shutdown()
    (copy,) = evaluator.spans

    assert 151 - 128 == copy.dropped_attributes_count


def test_ancestors_with_an_input_follow_when_they_end(
    evaluator: Evaluator, application: Application
) -> None:
    tracer = application.tracer
    with (
        tracer.start_as_current_span("chain") as chain,
        tracer.start_as_current_span("no input"),
        tracer.start_as_current_span("agent") as agent,
    ):
        application.retrieve()
        tracer.start_span("sibling", attributes={"input.value": "not above"}).end()
        application.provider.force_flush()
        early = evaluator.names
        agent.set_attribute("gen_ai.input.messages", '[{"role": "user", "content": "?"}]')
        chain.set_attribute("input.value", QUESTION)
    application.provider.force_flush()

    assert ["search"] == early
    assert ["search", "agent", "chain"] == evaluator.names


def test_nested_retrievals_all_arrive(evaluator: Evaluator, application: Application) -> None:
    with application.tracer.start_as_current_span("outer") as outer:
        application.retrieve("inner")
        outer.set_attributes(OPENINFERENCE)
    application.provider.force_flush()

    assert ["inner", "outer"] == evaluator.names


def test_an_unsampled_trace_sends_nothing(evaluator: Evaluator, application: Application) -> None:
    with (
        application.tracer.start_as_current_span("chain", attributes={"input.value": "q"}),
        request(sample_rate=0.0),
    ):
        application.retrieve()
    application.provider.force_flush()

    assert [] == evaluator.spans


def test_the_first_retrieval_to_end_decides_for_its_trace(
    evaluator: Evaluator, application: Application
) -> None:
    with application.tracer.start_as_current_span("root"):
        application.retrieve("first", **{"seer.sample_rate": 0.0})
        application.retrieve("second", **{"seer.sample_rate": 1.0})
    application.provider.force_flush()

    assert [] == evaluator.spans


def test_spans_that_are_recorded_only_are_not_shipped(evaluator: Evaluator) -> None:
    class RecordOnly(Sampler):
        def should_sample(self, *arguments: Any, **more: Any) -> SamplingResult:
            return SamplingResult(Decision.RECORD_ONLY)

        def get_description(self) -> str:
            return "record only"

    processor = SeerSpanProcessor(evaluator.url, sample_rate=1.0)
    application = Application(processor, TracerProvider(RecordOnly(), shutdown_on_exit=False))
    application.retrieve()
    application.provider.shutdown()

    assert [] == evaluator.spans


def test_before_or_after_another_processor_the_same_arrives(evaluator: Evaluator) -> None:
    class Other(SpanProcessor):
        def on_start(self, span: Any, parent_context: Any = None) -> None:
            span.set_attribute("other", "was here")

    for order in ("ours first", "ours second"):
        provider = TracerProvider(shutdown_on_exit=False)
        ours = SeerSpanProcessor(evaluator.url, sample_rate=1.0)
        for processor in (ours, Other()) if order == "ours first" else (Other(), ours):
            provider.add_span_processor(processor)
        with provider.get_tracer("app").start_as_current_span(order) as span:
            span.set_attributes(OPENINFERENCE)
        provider.shutdown()

    assert ["ours first", "ours second"] == evaluator.names
    assert ["was here"] * 2 == [attributes(span)["other"] for span in evaluator.spans]


def test_threads_and_many_traces(evaluator: Evaluator, application: Application) -> None:
    def work(number: int) -> None:
        for _ in range(25):
            application.retrieve(f"search {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    application.provider.force_flush()

    assert {f"search {number}": 25 for number in range(8)} == Counter(evaluator.names)


@pytest.fixture
def refused() -> Iterator[str]:
    """An endpoint that nobody listens at, and nobody else will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_with_nobody_there_an_application_goes_on_and_hears_of_it_once(
    refused: str, caplog: pytest.LogCaptureFixture
) -> None:
    processor = SeerSpanProcessor(refused, sample_rate=1.0)
    application = Application(processor, TracerProvider(shutdown_on_exit=False))
    for _ in range(3):
        application.retrieve()
        assert processor.force_flush() is False
    application.provider.shutdown()
    messages = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]

    assert 3 == len(application.exported.get_finished_spans())
    assert 3 == processor.counts.dropped
    assert [
        "The evaluator takes no spans for now: ConnectionRefusedError",
        "3 spans could not be shipped before the end",
    ] == messages


def test_an_application_without_a_processor_says_the_same(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its spans go to a Collector, and from there to an evaluator."""
    provider = TracerProvider(shutdown_on_exit=False)
    collector = OTLPSpanExporter(f"{evaluator.url}/v1/traces")
    provider.add_span_processor(SimpleSpanProcessor(collector))
    with (
        request(task=QUESTION, sample_rate=1.0, tracer_provider=provider),
        retrieval(subquery=HOP, tracer_provider=provider) as r,
    ):
        r.context = ["Tram 9 runs to the harbour."]
    provider.shutdown()
    received = {span.name: attributes(span) for span in evaluator.spans}

    assert {
        "request": {},
        "retrieval": {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": HOP,
            "seer.task": QUESTION,
            "seer.subquery": HOP,
            "seer.sampled": True,
            "seer.context": '["Tram 9 runs to the harbour."]',
        },
    } == received


PREFORK = """
    import os, sys
    from opentelemetry import trace
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from seer_otel import SeerSpanProcessor, retrieval

    provider = TracerProvider()
    provider.add_span_processor(SeerSpanProcessor(sys.argv[1], sample_rate=1.0))
    trace.set_tracer_provider(provider)

    def retrieve(name):
        with retrieval(task="q", name=name) as r:
            r.context = ["p"]

    retrieve("before the fork")
    workers = []
    for name in ("worker 1", "worker 2"):
        pid = os.fork()
        if pid == 0:
            retrieve(name)
            sys.exit()
        workers.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers]
    retrieve("after the fork")
    sys.exit(max(codes))
"""


def test_forked_workers_ship_what_is_theirs(evaluator: Evaluator) -> None:
    """An application server loads the application, then forks; nothing is lost or sent twice."""
    run(PREFORK, evaluator.url)

    assert ["after the fork", "before the fork", "worker 1", "worker 2"] == sorted(evaluator.names)


TRACES = """
    import sys
    from opentelemetry import trace
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from seer_otel import SeerSpanProcessor, retrieval

    provider = TracerProvider()
    provider.add_span_processor(SeerSpanProcessor(sys.argv[1], sample_rate=0.5))
    for number in range(1, 1001):
        parent = trace.SpanContext(
            number << 64 | 0x5EED, number, is_remote=True, trace_flags=trace.TraceFlags(1)
        )
        with trace.use_span(trace.NonRecordingSpan(parent)):
            for _ in range(4):
                with retrieval(task="q", tracer_provider=provider) as r:
                    r.context = ["p"]
        if number % 100 == 0:
            provider.force_flush()
"""


def test_two_processes_agree_on_whole_traces(evaluator: Evaluator) -> None:
    for _ in range(2):
        run(TRACES, evaluator.url)
    arrived = Counter(span.trace_id.hex() for span in evaluator.spans)
    ids = [trace.format_trace_id(number << 64 | 0x5EED) for number in range(1, 1001)]

    assert {trace_id: 8 for trace_id in ids if sampling.sampled(trace_id, 0.5)} == arrived
    # 6 standard deviations of a binomial distribution.
    assert 500 - 6 * 16 < len(arrived) < 500 + 6 * 16


def test_an_application_that_ends_has_shipped(evaluator: Evaluator) -> None:
    script = """
        import sys
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
        from seer_otel import SeerSpanProcessor, retrieval

        provider = TracerProvider()
        provider.add_span_processor(SeerSpanProcessor(sys.argv[1], sample_rate=1.0))
        with retrieval(task="q", tracer_provider=provider) as r:
            r.context = ["p"]
    """
    run(script, evaluator.url)

    assert ["retrieval"] == evaluator.names
