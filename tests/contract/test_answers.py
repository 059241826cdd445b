"""The table of answers, over gRPC and HTTP: clients drop data for almost every other code."""

import asyncio
import gzip
import json
import threading
from collections.abc import Mapping
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpExporter,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from seer_otel.dialects import otlp
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from tests.service.conftest import Service, Start
from tests.service.spans import request, retrieval, span

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
BODY = request(span(1, "plain"))
LARGE = 1024 * 1024


async def refused(service: Service, body: bytes, **headers: str) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.send(body, **headers)
    return error.value


def details(error: grpc.aio.AioRpcError) -> Mapping[str, bytes]:
    return {k: v for k, v in error.trailing_metadata() or () if isinstance(v, bytes)}


@pytest.mark.parametrize(
    ("headers", "body", "content_type"),
    [
        (PROTOBUF, BODY, "application/x-protobuf"),
        ({"content-type": "application/x-protobuf; charset=utf-8"}, BODY, "application/x-protobuf"),
        ({**PROTOBUF, "content-encoding": "gzip"}, gzip.compress(BODY), "application/x-protobuf"),
        (
            {**PROTOBUF, "content-encoding": "gzip"},
            gzip.compress(BODY[:40]) + gzip.compress(BODY[40:]),
            "application/x-protobuf",
        ),
        (JSON, otlp.to_json(ExportTraceServiceRequest.FromString(BODY)), "application/json"),
    ],
    ids=["protobuf", "media type with a parameter", "gzip", "gzip in two members", "json"],
)
async def test_http_takes_every_form_of_a_request(
    start: Start, headers: dict[str, str], body: bytes | str, content_type: str
) -> None:
    service = await start()
    answer = await service.http.post("/v1/traces", content=body, headers=headers)

    assert (200, content_type) == (answer.status_code, answer.headers["content-type"])
    assert answer.content in (b"", b"{}")
    assert ["plain"] == [s.name for s in service.backend.spans]


async def test_an_empty_request_is_a_success(start: Start) -> None:
    service = await start()
    await service.send(b"")
    answer = await service.http.post("/v1/traces", content=b"{}", headers=JSON)

    assert 200 == answer.status_code
    assert [] == service.backend.requests


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (PROTOBUF, b"\x0a\xff", 400),
        (JSON, b'{"resourceSpans": 3', 400),
        (JSON, b"[" * 100_000, 400),
        ({**PROTOBUF, "content-encoding": "gzip"}, b"no gzip", 400),
        ({**PROTOBUF, "content-encoding": "gzip"}, gzip.compress(BODY)[:-9], 400),
        ({**PROTOBUF, "content-encoding": "gzip"}, gzip.compress(b"\0" * (LARGE + 1)), 413),
        (PROTOBUF, b"\0" * (LARGE + 1), 413),
        ({"content-type": "text/plain"}, BODY, 415),
        ({**PROTOBUF, "content-encoding": "br"}, BODY, 415),
    ],
    ids=["no protobuf", "no json", "deep json", "no gzip", "cut gzip", "bomb", "too large",
         "media type", "encoding"],
)  # fmt: skip
async def test_what_can_never_be_taken_is_refused_for_good(
    start: Start, headers: dict[str, str], body: bytes, status: int
) -> None:
    service = await start(limits__request_bytes=LARGE)
    answer = await service.http.post("/v1/traces", content=body, headers=headers)

    assert status == answer.status_code
    assert "retry-after" not in answer.headers
    assert 1 == service.total(metrics.REFUSED)


async def test_another_method_is_not_allowed(start: Start) -> None:
    service = await start()

    assert 405 == (await service.http.get("/v1/traces")).status_code


async def test_an_http_error_is_a_status_in_the_encoding_of_the_request(start: Start) -> None:
    service = await start()
    binary = await service.http.post("/v1/traces", content=b"\x0a\xff", headers=PROTOBUF)
    text = await service.http.post("/v1/traces", content=b"nonsense", headers=JSON)

    assert grpc.StatusCode.INVALID_ARGUMENT.value[0] == (
        status_pb2.Status.FromString(binary.content).code
    )
    assert "this is no JSON" in text.json()["message"]


async def test_grpc_refuses_what_cannot_be_decoded(start: Start) -> None:
    service = await start()
    error = await refused(service, b"\x0a\xff")
    status = status_pb2.Status.FromString(details(error)["grpc-status-details-bin"])

    assert grpc.StatusCode.INVALID_ARGUMENT == error.code()
    assert status.details[0].Is(error_details_pb2.BadRequest.DESCRIPTOR)


async def test_grpc_refuses_what_is_too_large_without_a_delay(start: Start) -> None:
    service = await start(limits__request_bytes=LARGE)
    error = await refused(service, request(span(1, "x" * LARGE)))

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == error.code()
    assert {} == details(error)


async def test_a_full_hold_says_when_to_try_again_in_both_trailers(start: Start) -> None:
    service = await start(hold__max_bytes=1024)
    service.judge.delay_s = 60
    await service.send(request(retrieval(1, context=["x" * 2_000])))
    error = await refused(service, BODY)
    trailers = details(error)
    status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    delay = error_details_pb2.RetryInfo.FromString(trailers["google.rpc.retryinfo-bin"])
    answer = await service.http.post("/v1/traces", content=BODY, headers=PROTOBUF)

    assert grpc.StatusCode.UNAVAILABLE == error.code()
    assert status.details[0].Is(error_details_pb2.RetryInfo.DESCRIPTOR)
    assert 2 == delay.retry_delay.seconds
    assert (503, "2") == (answer.status_code, answer.headers["retry-after"])


async def test_what_stops_says_that_another_will_be_there_soon(start: Start) -> None:
    service = await start()
    service.evaluator.intake.stopping = True
    error = await refused(service, BODY)
    answer = await service.http.post("/v1/traces", content=BODY, headers=PROTOBUF)
    delay = error_details_pb2.RetryInfo.FromString(details(error)["google.rpc.retryinfo-bin"])

    assert (grpc.StatusCode.UNAVAILABLE, 1) == (error.code(), delay.retry_delay.seconds)
    assert (503, "1") == (answer.status_code, answer.headers["retry-after"])
    assert [] == service.backend.requests


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), RuntimeError("bug")])
async def test_our_own_faults_are_temporary(
    start: Start, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    service = await start()

    async def fail(*_: Any) -> None:
        raise fault

    monkeypatch.setattr(Store, "hold", fail)
    error = await refused(service, request(retrieval(1)))
    answer = await service.http.post("/v1/traces", content=request(retrieval(2)), headers=PROTOBUF)

    assert (grpc.StatusCode.UNAVAILABLE, 503) == (error.code(), answer.status_code)
    assert "google.rpc.retryinfo-bin" in details(error)


async def test_a_key_is_asked_for_where_one_is_set(start: Start) -> None:
    service = await start(api_keys="s3cret")
    error = await refused(service, BODY)
    answer = await service.http.post("/v1/traces", content=BODY, headers=PROTOBUF)
    await service.send(BODY, authorization="Bearer s3cret")

    assert (grpc.StatusCode.UNAUTHENTICATED, 401) == (error.code(), answer.status_code)
    assert "s3cret" not in error.details() + answer.text
    assert 1 == len(service.backend.spans)


async def test_one_bad_span_costs_no_neighbour(start: Start) -> None:
    service = await start()
    good, bad = span(1, "good"), span(2, "input.value")
    raw = request(good, bad).replace(b"input.value", b"input.valu\xff")
    await service.send(raw)
    nameless = request(span(3, "no ids").__class__(name="no ids", trace_id=b"short"), good)
    await service.send(nameless)

    assert [raw, nameless] == [body for _, body in service.backend.requests]


async def test_one_bad_span_in_json_is_rejected_alone(start: Start) -> None:
    service = await start()
    ids = [{"traceId": "ab" * 16, "spanId": f"{n:016x}"} for n in range(1, 4)]
    good, bad, other = ({**each, "name": f"s{n}"} for n, each in enumerate(ids))
    bad["startTimeUnixNano"] = "soon"
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [good, bad, other]}]}]}
    answer = await service.http.post("/v1/traces", content=json.dumps(body), headers=JSON)
    partial = answer.json()["partialSuccess"]

    assert 200 == answer.status_code
    assert "1" == partial["rejectedSpans"]
    assert "startTimeUnixNano" in partial["errorMessage"]
    assert ["s0", "s2"] == [s.name for s in service.backend.spans]
    assert 1 == service.total(metrics.REJECTED)
    service.assert_accounted()


async def test_metrics_and_logs_pass_through_with_the_next_hops_answer(start: Start) -> None:
    service = await start()
    body = ExportMetricsServiceRequest()
    body.resource_metrics.add().scope_metrics.add().metrics.add(name="m")
    export = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
    await service.channel.unary_unary(export)(body.SerializeToString())
    log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": "ab" * 16}]}]}]}
    answer = await service.http.post("/v1/logs", content=json.dumps(log), headers=JSON)

    assert ("metrics", body.SerializeToString()) == service.backend.requests[0]
    assert 200 == answer.status_code
    assert bytes.fromhex("ab" * 16) in service.backend.requests[1][1]


async def test_signals_that_are_not_wanted_are_refused(start: Start) -> None:
    service = await start(signals="traces")
    answer = await service.http.post("/v1/logs", content=b"{}", headers=JSON)

    assert 404 == answer.status_code


@pytest.mark.parametrize("transport", ["grpc", "http"])
async def test_the_real_sdk_exporter_is_held_back_and_then_served(
    start: Start, transport: str
) -> None:
    service = await start(hold__max_bytes=1024)
    service.judge.delay_s = 60
    await service.send(request(retrieval(1, context=["x" * 2_000])))
    refusals = service.total(metrics.REFUSED)
    exporter: SpanExporter = (
        GrpcExporter(f"http://{service.listening.grpc}", insecure=True)
        if transport == "grpc"
        else HttpExporter(f"http://{service.listening.http}/v1/traces")
    )

    def export() -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        with provider.get_tracer("app").start_as_current_span("from the sdk"):
            pass
        provider.shutdown()

    thread = threading.Thread(target=export)
    thread.start()
    async with asyncio.timeout(10):
        while service.total(metrics.REFUSED) == refusals:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    service.evaluator.store.statistics.held_bytes = 0
    await service.backend.until(lambda: bool(service.backend.named("from the sdk")))
    await asyncio.to_thread(thread.join)

    assert 1 == len(service.backend.named("from the sdk"))
