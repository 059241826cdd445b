"""The next hop over HTTP, the logs endpoint, and what the service says of itself."""

import asyncio
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from tests.service.conftest import Start
from tests.service.spans import TRACE, request, retrieval, span


class Recorder(BaseHTTPRequestHandler):
    """Keeps what is posted; answers with the statuses it was told, then with 200."""

    received: ClassVar[list[tuple[str, bytes]]] = []
    refusals: ClassVar[list[tuple[int, dict[str, str]]]] = []
    headers_seen: ClassVar[list[dict[str, str]]] = []
    changed: ClassVar[threading.Condition] = threading.Condition()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        status, headers = self.refusals.pop(0) if self.refusals else (200, {})
        with self.changed:  # before the answer: whoever has that may look
            self.headers_seen.append({k.lower(): v for k, v in self.headers.items()})
            if status == 200:
                self.received.append((self.path, body))
            self.changed.notify_all()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    @classmethod
    def wait(cls, path: str, number: int = 1) -> list[bytes]:
        """Wait for so many requests to a path."""

        def bodies() -> list[bytes]:
            return [body for p, body in cls.received if p == path]

        with cls.changed:
            cls.changed.wait_for(lambda: len(bodies()) >= number, timeout=15)
        return bodies()


@pytest.fixture
def recorder() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    Recorder.received, Recorder.refusals, Recorder.headers_seen = [], [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("suffix", "complete", "path"),
    [
        ("", False, "/v1/traces"),
        ("/base/", False, "/base/v1/traces"),
        ("/v1/traces", False, "/v1/traces"),
        ("/own", True, "/own"),
    ],
)
async def test_the_url_of_the_next_hop_is_a_base_or_complete(
    start: Start, recorder: str, suffix: str, complete: bool, path: str
) -> None:
    service = await start(
        forward__url=recorder + suffix, forward__complete=complete,
        forward__protocol="http/protobuf", forward__compression="gzip",
        forward__headers={"x-tenant": "a"},
    )  # fmt: skip
    body = request(span(1, "plain"))
    await service.send(body)

    assert [(path, body)] == Recorder.received
    assert "a" == Recorder.headers_seen[0]["x-tenant"]
    assert "application/x-protobuf" == Recorder.headers_seen[0]["content-type"]


@pytest.mark.parametrize("status", [429, 503, 401])
async def test_a_next_hop_that_is_busy_is_asked_again(
    start: Start, recorder: str, status: int
) -> None:
    service = await start(forward__url=recorder, forward__protocol="http/protobuf")
    Recorder.refusals.append((status, {"retry-after": "0"}))
    await service.send(request(span(1, "plain")))

    assert 1 == len(await asyncio.to_thread(Recorder.wait, "/v1/traces"))
    await service.stop()
    service.assert_accounted()


async def test_all_scores_go_to_the_logs_endpoint(start: Start, recorder: str) -> None:
    service = await start(logs_endpoint=f"{recorder}/v1/logs")
    await service.send(request(retrieval(1)))
    (body,) = await asyncio.to_thread(Recorder.wait, "/v1/logs")
    records = [
        record
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]

    assert {"gen_ai.evaluation.result"} == {record.event_name for record in records}
    assert {TRACE} == {record.trace_id for record in records}


async def test_metrics_of_its_own_go_to_the_metrics_endpoint(start: Start, recorder: str) -> None:
    service = await start(metrics_endpoint=f"{recorder}/v1/metrics")
    await service.send(request(retrieval(1)))
    await service.backend.until(lambda: bool(service.backend.spans))
    await service.stop()
    (body,) = await asyncio.to_thread(Recorder.wait, "/v1/metrics")
    names = {
        metric.name
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }

    assert {"seer.spans.accepted", "seer.spans.held", "seer.recall"} <= names


async def test_metrics_can_be_read_with_exemplars_that_lead_to_the_trace(start: Start) -> None:
    service = await start(metric_keys=["env"])
    await service.send(request(retrieval(1, seer__metadata='{"env": "prod"}')))
    await service.backend.until(lambda: bool(service.backend.spans))
    plain = await service.http.get("/metrics")
    rich = await service.http.get("/metrics", headers={"accept": "application/openmetrics-text"})

    assert 'seer_recall_count{env="prod",scope="task"} 1.0' in plain.text
    assert 'seer_retrievals_total{dialect="seer",evaluated="scored",reason=""} 1.0' in plain.text
    assert f'trace_id="{TRACE.hex()}"' in rich.text


async def test_with_forwarding_off_nothing_leaves_and_all_is_accounted_for(start: Start) -> None:
    service = await start(forward__url="off")
    await service.send(request(retrieval(1)))
    await service.stop()

    assert 0 == len(service.backend.spans)
    service.assert_accounted()


async def test_a_record_is_kept_of_each_verdict(start: Start) -> None:
    service = await start()
    await service.send(request(retrieval(1)))
    await service.backend.until(lambda: bool(service.backend.spans))
    record = await service.http.get(f"/v1/records/{TRACE.hex()}-{1:016x}")
    missing = await service.http.get("/v1/records/none")

    assert 1.0 == record.json()["verdict"]["evaluations"][0]["scores"]["recall"]
    assert 404 == missing.status_code
    assert 200 == (await service.http.get("/healthz")).status_code
    assert {"hold": "ok", "intake": "ok", "judge": "ok", "next_hop": "ok"} == (
        await service.http.get("/readyz")
    ).json()
