"""Secrets are planted everywhere, in the settings and in what peers say; no output shows any."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
import httpx
import pytest
import yaml

from seer_otel.testing import ChatReply, ChatStub
from tests.service.backend import SERVICES
from tests.service.conftest import EXPORT
from tests.service.spans import TRACE, request, retrieval, span
from tests.service.texts import texts

KEY: Final = "s3cret-key-of-clients"
SECRET: Final = "s3cret-planted"
CONTENT: Final = "the planted passage"
CONTENT_ID: Final = "the-planted-id"


@dataclass
class Gossip:
    """A next hop that refuses, and repeats all that it was shown."""

    port: int = 0
    attempts: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def export(self, body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        self.attempts += 1
        self.arrived.set()
        shown = " ".join(str(value) for _, value in context.invocation_metadata() or ())
        code = grpc.StatusCode.UNAUTHENTICATED
        if self.attempts > 2:
            code = grpc.StatusCode.INVALID_ARGUMENT
        await context.abort(code, f"not with {shown}\n2026-01-01 00:00:00 ERROR forged line")
        return body


@asynccontextmanager
async def gossip() -> AsyncIterator[Gossip]:
    hop = Gossip()
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    for service in SERVICES.values():
        handler = grpc.unary_unary_rpc_method_handler(hop.export)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {"Export": handler}),)
        )
    hop.port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield hop
    finally:
        await server.stop(None)


def settings(hop: Gossip, judge: ChatStub, resolver: str, folder: Path) -> dict[str, Any]:
    resolver = resolver.replace("http://", f"http://user:{SECRET}-7@")
    judge_url = judge.base_url.replace("http://", f"http://user:{SECRET}-4@")
    return {
        "grpc": "127.0.0.1:0",
        "http": "127.0.0.1:0",
        "forward": {
            "url": f"http://user:{SECRET}-1@127.0.0.1:{hop.port}?token={SECRET}-2",
            "headers": {"authorization": f"Bearer {SECRET}-3", "x-token": f"{SECRET}-3b"},
        },
        "judge": {
            "kind": "openai", "model": "m", "base_url": f"{judge_url}?key={SECRET}-5",
            "api_key": f"{SECRET}-6", "timeout": 2,
        },
        "resolver": {
            "url": f"{resolver}?token={SECRET}-8", "headers": {"x-key": f"{SECRET}-9"},
            "timeout": 1,
        },
        "api_keys": [KEY],
        "sample_rate": 1,
        "metric_keys": ["env"],
        "hold": 4,
        "shutdown": {"grace": 1},
        "data_dir": str(folder),
        "logs_endpoint": f"http://user:{SECRET}-10@127.0.0.1:9/v1/logs?token={SECRET}-11",
        "metrics_endpoint": f"http://user:{SECRET}-12@127.0.0.1:9/v1/metrics?token={SECRET}-13",
    }  # fmt: skip


async def asked_of(address: str, grpc_address: str) -> str:
    """Ask for everything there is, rightly and wrongly; return all that is said."""
    heard: list[str] = []
    key = {"authorization": f"Bearer {KEY}"}
    wrong = {"authorization": f"Bearer {KEY}-wrong"}
    ids = [{"id": CONTENT_ID}]
    spans = [
        span(1, "plain"),
        retrieval(2, context=[CONTENT]),
        retrieval(3, context=ids),
        retrieval(4, context=[CONTENT], input__value="x\nforged \x1b[31mline"),
    ]
    async with (
        grpc.aio.insecure_channel(grpc_address) as channel,
        httpx.AsyncClient(base_url=f"http://{address}", trust_env=False, timeout=20) as http,
    ):
        call = channel.unary_unary(EXPORT)
        await call(request(*spans), metadata=tuple(key.items()), timeout=10)
        for body, metadata in ((b"\x0a\xff", key), (request(span(9)), wrong)):
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await call(body, metadata=tuple(metadata.items()), timeout=10)
            heard.append(f"{error.value.details()} {error.value.trailing_metadata()}")
        event = {"task": "who?", "context": [CONTENT], "record_id": "r"}
        paths = ("/metrics", "/healthz", "/readyz", "/openapi.json", "/v1/records/r")
        for headers in (key, wrong, {}):
            as_json = {**headers, "content-type": "application/json"}
            answers = [
                *[await http.get(path, headers=headers) for path in paths],
                await http.post("/v1/evaluate", json=event, headers=headers),
                await http.post("/v1/log", json={}, headers=headers),
                await http.post("/v1/logs", content=b"{}", headers=as_json),
            ]
            heard += [f"{answer.status_code} {answer.headers} {answer.text}" for answer in answers]
        await asyncio.sleep(6)  # what comes late, of the hold and of the back-off
        metrics = await http.get("/metrics", headers=key)
        heard += [metrics.text, (await http.get("/readyz")).text]
        record = await http.get(f"/v1/records/{TRACE.hex()}-{2:016x}", headers=key)
        heard.append(record.text)
    assert "seer_spans_accepted" in metrics.text
    assert CONTENT not in metrics.text
    return "\n".join(heard)


async def run(file: Path) -> tuple[str, str]:
    """Run the service, ask for everything, stop it; return the answers and its log."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SEER_", "OTEL_"))}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "seer_otel", "serve", "--config", str(file),
        env=environment, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    lines: list[str] = []
    while not lines or not lines[-1].startswith("listening "):
        lines.append((await process.stderr.readline()).decode())
        assert lines[-1], "".join(lines)
    grpc_address, http_address = (part.partition("=")[2] for part in lines[-1].split()[1:])
    answers = await asked_of(http_address, grpc_address)
    process.send_signal(signal.SIGTERM)
    out, rest = await process.communicate()

    assert 0 == process.returncode
    return answers, "".join(lines) + rest.decode() + out.decode()


async def test_no_output_shows_a_secret_or_what_spans_hold(tmp_path: Path) -> None:
    judge = ChatStub(lambda _: ChatReply(status=401, body={"error": {"message": SECRET + "-6"}}))
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    with texts({}) as resolver:
        resolver.status = 500
        resolver.body = f"{SECRET}-7 {SECRET}-9".encode()
        async with gossip() as hop, judge:
            file = tmp_path / "seer.yaml"
            file.write_text(yaml.safe_dump(settings(hop, judge, resolver.url, folder)))
            answers, log = await run(file)

    for said in (answers, log):
        assert SECRET not in said
        assert KEY not in said
    assert CONTENT not in log
    assert CONTENT_ID not in log
    assert hop.attempts > 3
    for expected in (
        "forwarding to http://***@127.0.0.1",
        "does not take spans (UNAUTHENTICATED: not with",
        "the resolver gives no texts (HTTP 500)",
        "the judge refused the key (HTTP 401)",
        "now dead letters: INVALID_ARGUMENT",
        "ERROR",
    ):
        assert expected in log
    assert [] == [line for line in log.splitlines() if line.startswith("2026-01-01")]
    on_disk = [path for path in folder.rglob("*") if path.is_file()]
    assert on_disk
    for path in on_disk:
        assert SECRET.encode() not in path.read_bytes(), path
        assert KEY.encode() not in path.read_bytes(), path
        assert 0 == stat.S_IMODE(path.stat().st_mode) & 0o077, path
