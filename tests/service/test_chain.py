"""The check of a running chain says where it stops, and what to do."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from seer_otel.demo import chain
from seer_otel.demo.application import questions
from seer_otel.dialects import otlp
from seer_otel.errors import JudgeRefused
from seer_otel.testing import ScriptedJudge
from tests.service.backend import Backend
from tests.service.conftest import Start

QUESTION = questions()[0]
SCRIPT: Mapping[str, list[tuple[str, list[str]]]] = {
    QUESTION.question: [("the performer", [])],
    QUESTION.follow_up: [("his nationality", [])],
}


async def check(
    endpoint: str,
    evaluator: str | None = None,
    jaeger: str | None = None,
    environment: Mapping[str, str] = {},
    patience_s: float = 20.0,
) -> bool:
    return await asyncio.to_thread(
        chain.check, endpoint, evaluator, jaeger, environment=environment, patience_s=patience_s
    )


@contextmanager
def answering(answer: Callable[[str], str | None]) -> Iterator[str]:
    """An HTTP server that answers GET with a text for a path; 404 where there is none."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = answer(self.path)
            self.send_response(404 if text is None else 200)
            self.end_headers()
            self.wfile.write((text or "").encode())

        def do_POST(self) -> None:
            self.send_response(405)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def storing(backend: Backend) -> Callable[[str], str | None]:
    """What Jaeger answers behind this backend."""

    def answer(path: str) -> str | None:
        if not backend.traces:
            return None
        traces = TracesData()
        for request in backend.traces:
            traces.MergeFrom(TracesData.FromString(request.SerializeToString()))
        return f'{{"result": {otlp.to_json(traces)}}}'

    return answer


async def test_a_whole_chain_is_seen_to_its_end(
    start: Start, next_hop: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await start(ScriptedJudge(SCRIPT), sample_rate=0.0, hold__settle=0.1)
    with answering(storing(next_hop)) as jaeger:
        assert await check(f"http://{service.listening.http}", jaeger=jaeger)

    said = capsys.readouterr().out
    assert [line[:10].rstrip() for line in said.splitlines()] == [
        "✓ reachabl", "✓ accepted", "✓ judged", "✓ stored"
    ]  # fmt: skip
    assert "by scripted/test; first hop: recall 0.00, second hop: recall 0.00" in said


async def test_an_endpoint_may_speak_grpc(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    service = await start(ScriptedJudge(SCRIPT), hold__settle=0.1)

    assert await check(service.listening.grpc or "", f"http://{service.listening.http}")
    said = capsys.readouterr().out
    assert "✓ accepted   over OTLP/gRPC" in said
    assert "✓ judged" in said


async def test_what_cannot_be_seen_is_said(
    next_hop: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await check(next_hop.url)
    said = capsys.readouterr().out
    assert "– not seen whether it was judged: --evaluator" in said
    assert "– not seen whether it was stored: look for trace " in said


async def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    assert not await check(f"http://127.0.0.1:{port}")
    said = capsys.readouterr().out
    assert f"✗ reachable  127.0.0.1:{port}: Connection refused\n  Is it running" in said


async def test_something_else_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(lambda _: None) as url:
        assert not await check(url)

    assert "✗ accepted   HTTP 405" in (said := capsys.readouterr().out)
    assert "give the address of an OTLP receiver" in said


async def test_a_key_is_asked_for(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    service = await start(ScriptedJudge(SCRIPT), api_keys="open sesame", hold__settle=0.1)
    http, own = service.listening.grpc or "", f"http://{service.listening.http}"
    environment = {"SEER_API_KEY": "open sesame"}

    assert not await check(own)
    assert "✗ accepted   HTTP 401" in (said := capsys.readouterr().out)
    assert "SEER_API_KEY" in said
    assert not await check(http)
    assert "✗ accepted   gRPC UNAUTHENTICATED" in capsys.readouterr().out
    assert await check(own, environment=environment)
    assert await check(http, own, environment=environment)


async def test_a_refusing_next_hop(next_hop: Backend, capsys: pytest.CaptureFixture[str]) -> None:
    next_hop.answer = lambda _: grpc.StatusCode.RESOURCE_EXHAUSTED

    assert not await check(next_hop.url)
    assert "✗ accepted   gRPC RESOURCE_EXHAUSTED: as told\n" in capsys.readouterr().out


async def test_a_partial_success_is_none(
    next_hop: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    partial = ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
    next_hop.response = ExportTraceServiceResponse(partial_success=partial).SerializeToString()

    assert not await check(next_hop.url)
    assert "✗ accepted   over OTLP/gRPC, less 2 spans: too old" in capsys.readouterr().out


async def test_a_judge_that_fails(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    refused = JudgeRefused("the judge refused the key (HTTP 401)", "401")
    judge = ScriptedJudge({QUESTION.question: refused, QUESTION.follow_up: refused})
    service = await start(judge, hold__settle=0.1)

    assert not await check(f"http://{service.listening.http}")
    assert "✗ judged     the judge failed: judge_refused (401)" in capsys.readouterr().out


async def test_a_chain_that_passes_the_evaluator_by(
    start: Start, next_hop: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    service = await start(ScriptedJudge(SCRIPT))
    evaluator = f"http://{service.listening.http}"
    with answering(storing(next_hop)) as jaeger:
        assert not await check(next_hop.url, evaluator, jaeger, patience_s=0.1)

    said = capsys.readouterr().out
    assert "✗ judged     0 of 3 in 0.1 s\n  Does the Collector send retrievals to it?" in said
    assert "✗ stored     without scores" in said


async def test_a_trace_that_does_not_arrive(
    next_hop: Backend, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(lambda _: None) as jaeger:
        assert not await check(next_hop.url, jaeger=jaeger, patience_s=0.1)

    assert "✗ stored     Jaeger has no trace " in capsys.readouterr().out
