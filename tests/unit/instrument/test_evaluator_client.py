"""Every answer of an evaluator, or its absence, is one of three things, and nothing is raised."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from seer_otel.instrument.evaluator_client import Answer, EvaluatorClient


class Evaluator(ThreadingHTTPServer):
    """Answers every request alike and keeps the last one."""

    status = 200
    answer = b""
    extra: tuple[tuple[str, str], ...] = ()
    path = ""
    body = b""
    seen: dict[str, str]


class Handler(BaseHTTPRequestHandler):
    server: Evaluator

    def do_POST(self) -> None:
        self.server.path = self.path
        self.server.seen = {name.lower(): value for name, value in self.headers.items()}
        self.server.body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(self.server.status)
        for name, value in (*self.server.extra, ("content-length", str(len(self.server.answer)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def evaluator() -> Iterator[Evaluator]:
    with Evaluator(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def client(evaluator: Evaluator, **headers: str) -> EvaluatorClient:
    return EvaluatorClient(f"http://127.0.0.1:{evaluator.server_port}/base/v1/traces", headers)


def test_what_is_sent(evaluator: Evaluator) -> None:
    assert Answer("taken", detail="status 200") == client(evaluator, tenant="a").post(b"spans")
    assert ("/base/v1/traces", b"spans", "a") == (
        evaluator.path,
        evaluator.body,
        evaluator.seen["tenant"],
    )


def test_a_proxy_of_the_environment_sees_nothing(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    assert "taken" == client(evaluator).post(b"spans").state


def test_spans_rejected_among_others_are_counted(evaluator: Evaluator) -> None:
    evaluator.answer = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=2)
    ).SerializeToString()

    assert Answer("taken", rejected=2, detail="status 200") == client(evaluator).post(b"spans")


def test_a_success_with_an_odd_body_is_a_success(evaluator: Evaluator) -> None:
    evaluator.answer = b"<html>"

    assert "taken" == client(evaluator).post(b"spans").state


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_not_now(evaluator: Evaluator, status: int) -> None:
    evaluator.status = status

    assert Answer("busy", detail=f"status {status}") == client(evaluator).post(b"spans")


@pytest.mark.parametrize(("value", "seconds"), [("7", 7.0), ("soon", 0.0), ("-1", 0.0)])
def test_when_to_come_back(evaluator: Evaluator, value: str, seconds: float) -> None:
    evaluator.status = 503
    evaluator.extra = (("retry-after", value),)

    assert seconds == client(evaluator).post(b"spans").retry_after_s


@pytest.mark.parametrize("status", [302, 400, 401, 404, 413, 415, 500])
def test_never(evaluator: Evaluator, status: int) -> None:
    evaluator.status = status
    evaluator.extra = (("location", "http://127.0.0.1:9/"),)

    assert Answer("refused", detail=f"status {status}") == client(evaluator).post(b"spans")


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = EvaluatorClient(f"http://127.0.0.1:{taken.getsockname()[1]}/v1/traces", {})

        assert Answer("busy", detail="ConnectionRefusedError") == client.post(b"spans")


def test_no_http_there(evaluator: Evaluator) -> None:
    tls = EvaluatorClient(f"https://127.0.0.1:{evaluator.server_port}/v1/traces", {})

    assert "busy" == tls.post(b"spans").state


def test_a_header_that_cannot_be_sent(evaluator: Evaluator) -> None:
    answer = client(evaluator, authorization="Bearer a\nb").post(b"spans")

    assert Answer("refused", detail="unusable header") == answer
