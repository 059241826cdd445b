"""The evaluator calls whom the configuration names; nothing on a span, nor a peer, adds to that."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from seer_otel.testing import ChatReply, ChatStub
from tests.dialects.test_hostile import KEYS
from tests.service.conftest import Start
from tests.service.spans import TASK, attributes, request, retrieval, span
from tests.service.test_over_http import Recorder, recorder  # noqa: F401
from tests.service.texts import texts

PROTOBUF = {"content-type": "application/x-protobuf"}
WATCHED = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen")

_watched: list[tuple[str, Any]] | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched is not None and event in (
        "socket.connect",
        "socket.getaddrinfo",
        "subprocess.Popen",
    ):
        _watched.append((event, arguments[1] if event == "socket.connect" else arguments[0]))


sys.addaudithook(_watch)


@pytest.fixture
def dialled() -> Iterator[list[tuple[str, Any]]]:
    """Every address that Python connects to, looks up, or program that it starts."""
    global _watched
    _watched = []
    yield _watched
    _watched = None


@dataclass
class Trap:
    """Where nobody has any business."""

    url: str = ""
    visitors: int = 0


@asynccontextmanager
async def trap() -> AsyncIterator[Trap]:
    found = Trap()

    def visited(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.visitors += 1
        writer.close()

    server = await asyncio.start_server(visited, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield found
    finally:
        server.close()
        await server.wait_closed()


def judged(_: dict[str, Any]) -> ChatReply:
    return ChatReply(json.dumps({"requirements": []}))


def attribute(key: str, value: str) -> dict[str, Any]:
    return {key.replace(".", "__"): value}


async def test_nothing_on_a_span_makes_the_evaluator_call_anywhere(
    start: Start, dialled: list[tuple[str, Any]]
) -> None:
    async with trap() as bait, ChatStub(judged) as chat:
        with texts({}) as resolver:
            service = await start(
                judge__model="m",
                judge__base_url=chat.base_url,
                resolver__url=resolver.url,
                hold__settle=0.1,
                hold__task_wait=0.2,
            )
            url = f"{bait.url}/latest/meta-data"
            lures = [
                url,
                json.dumps([{"id": url, "text": url, "source": url, "url": url}]),
                json.dumps({"documents": [{"id": url}], "resolver": {"url": url}, "$ref": url}),
                f'<!DOCTYPE a [<!ENTITY b SYSTEM "{url}">]><a>&b;</a>',
                f"__import__('os').system('curl {url}')",
                f"${{jndi:ldap:{url}}} {{{{ {url} }}}}",
            ]
            spans = [
                span(n, "retrieval", trace=bytes([n] * 16), **attribute(key, lures[n % len(lures)]))
                for n, key in enumerate(KEYS, start=10)
            ]
            spans.append(retrieval(2, context=[{"id": url}]))
            spans.append(
                retrieval(
                    1, task=url, context=[url, {"text": url, "id": url, "source": url}],
                    seer__metadata=json.dumps({"judge": url, "base_url": url, "env": url}),
                    judge__base_url=url, forward__url=url, otel__exporter__otlp__endpoint=url,
                )
            )  # fmt: skip
            await service.send(
                request(*spans, service=url),
                **{"seer-forward-url": url, "x-forwarded-host": url, "forwarded": f"host={url}"},
            )
            event = {"task": url, "context": [url], "metadata": {"webhook": url}}
            await service.http.post("/v1/log", json=event, headers={"referer": url})
            await service.http.post("/v1/evaluate", json=event)
            await service.backend.until(
                lambda: len(service.backend.named("retrieval")) == len(spans) + 1
            )
            await service.stop()

    assert 0 == bait.visitors
    assert chat.requests
    assert resolver.asked
    ports = {chat.base_url.split(":")[2].split("/")[0], resolver.url.split(":")[2].split("/")[0]}
    ports.add((service.listening.http or "").rpartition(":")[2])  # the test's own client
    assert set() == {
        what for kind, what in dialled if kind == "socket.connect" and str(what[1]) not in ports
    }
    assert {"127.0.0.1"} == {what for kind, what in dialled if kind == "socket.getaddrinfo"}
    started = {what for kind, what in dialled if kind == "subprocess.Popen"}
    assert started <= {"uname"}  # the OpenAI client tells the system's name in a header


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_takes_neither_prompt_nor_ids_nor_spans_elsewhere(
    start: Start,
    status: int,
    recorder: str,  # noqa: F811
) -> None:
    asked: asyncio.Queue[bytes] = asyncio.Queue()
    async with trap() as bait:

        async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.put_nowait(await reader.readline())
            await reader.readuntil(b"\r\n\r\n")
            writer.write(
                f"HTTP/1.1 {status} Found\r\nlocation: {bait.url}/v1/chat/completions\r\n"
                "content-length: 0\r\nconnection: close\r\n\r\n".encode()
            )
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(redirect, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        Recorder.refusals.append((status, {"location": f"{bait.url}/v1/traces"}))
        service = await start(
            judge__model="m", judge__base_url=f"{url}/v1", judge__api_key="k",
            resolver__url=f"{url}/ids", forward__url=recorder, forward__protocol="http/protobuf",
            hold__settle=0.1, hold__task_wait=0.2,
        )  # fmt: skip
        await service.send(
            request(
                retrieval(1), retrieval(2, context=[{"id": "d1"}]), span(3, "plain"),
            )
        )  # fmt: skip
        lines = {await asked.get() for _ in range(2)}
        await service.stop()
        server.close()
        await server.wait_closed()

    assert 0 == bait.visitors
    assert {b"POST /ids HTTP/1.1\r\n", b"POST /v1/chat/completions HTTP/1.1\r\n"} == lines
    assert {"/v1/traces"} == {path for path, _ in Recorder.received}


async def test_a_proxy_of_the_environment_gets_neither_ids_nor_spans(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trap() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "grpc_proxy"):
            monkeypatch.setenv(name, proxy.url)
        with texts({"d1": "x"}) as resolver:
            service = await start(resolver__url=resolver.url)
            body = request(retrieval(1, task=TASK, context=[{"id": "d1"}]))
            await service.http.post("/v1/traces", content=body, headers=PROTOBUF)
            await service.backend.until(lambda: len(service.backend.spans) == 1)

    assert [["d1"]] == resolver.asked
    assert 0 == proxy.visitors
    assert attributes(service.backend.spans[0])["seer.evaluated"]


async def test_a_page_that_is_looked_up_is_looked_up_here(start: Start) -> None:
    service = await start()
    async with trap() as bait, httpx.AsyncClient(trust_env=False) as stranger:
        answer = await stranger.get(
            f"http://{service.listening.http}/v1/records/{bait.url}", headers={"host": "localhost"}
        )

        assert 404 == answer.status_code
        assert 0 == bait.visitors
