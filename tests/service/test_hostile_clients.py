"""Clients that mean harm cost a bounded time and size, and nobody else an answer."""

import asyncio
import gzip
import json
import resource
import socket
import struct
from contextlib import ExitStack
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest

from seer_otel.evaluator.receive import grpc_server, http_protocol
from seer_otel.evaluator.telemetry import metrics
from tests.service.conftest import EXPORT, Service, Start
from tests.service.spans import request, retrieval, span

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
LIMIT = 1024 * 1024
POST = b"POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\n"


class Raw:
    """A connection on which anything can be said."""

    def __init__(self, address: str | None) -> None:
        host, _, port = (address or "").rpartition(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setblocking(False)

    async def say(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def hear(self) -> bytes:
        """What is said until the end of the connection."""
        heard = b""
        async with asyncio.timeout(20):
            try:
                while part := await asyncio.get_running_loop().sock_recv(self.socket, 65536):
                    heard += part
            except ConnectionError:
                pass
        return heard

    async def ended(self) -> bool:
        """Whether the other end has closed."""
        await self.hear()
        return True

    def close(self) -> None:
        self.socket.close()


async def is_well(service: Service) -> bool:
    before = len(service.backend.spans)
    number = 900 + before
    await service.send(request(span(number)))
    answer = await service.http.post(
        "/v1/traces", content=request(span(number + 1)), headers=PROTOBUF
    )
    return answer.status_code == 200 and len(service.backend.spans) == before + 2


def memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# What becomes large when it is unpacked.


def bomb(size: int) -> bytes:
    return gzip.compress(b"\0" * size)


async def test_a_bomb_over_grpc_is_unpacked_no_further_than_the_limit(start: Start) -> None:
    service = await start(limits__request_bytes=LIMIT)
    packed = bomb(512 * LIMIT)
    before = memory()
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.channel.unary_unary(EXPORT)(packed, timeout=10)  # as gRPC would send it

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == error.value.code()
    assert [] == list(error.value.trailing_metadata() or ())[1:]  # no time to try again
    assert memory() - before < 64 * LIMIT
    assert await is_well(service)


async def test_gzip_of_grpc_is_unpacked_here(start: Start) -> None:
    service = await start(limits__request_bytes=LIMIT)
    body = request(*(span(number, "x" * 100) for number in range(1, 200)))
    await service.channel.unary_unary(EXPORT)(body, compression=grpc.Compression.Gzip, timeout=10)
    refusals = {}
    for name, broken in {
        "cut": gzip.compress(body)[:-9],
        "broken": b"\x1f\x8bnonsense",
        "too large": bomb(LIMIT + 1),
    }.items():
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await service.channel.unary_unary(EXPORT)(broken, timeout=10)
        refusals[name] = error.value.code()

    assert [body] == [each for _, each in service.backend.requests]
    assert {
        "cut": grpc.StatusCode.INVALID_ARGUMENT,
        "broken": grpc.StatusCode.INVALID_ARGUMENT,
        "too large": grpc.StatusCode.RESOURCE_EXHAUSTED,
    } == refusals


@pytest.mark.parametrize("members", [1, 1000], ids=["one member", "many members"])
async def test_a_bomb_over_http_is_unpacked_no_further_than_the_limit(
    start: Start, members: int
) -> None:
    service = await start(limits__request_bytes=LIMIT)
    packed = bomb(512 * LIMIT // members) * members
    before = memory()
    answer = await service.http.post(
        "/v1/traces", content=packed, headers={**PROTOBUF, "content-encoding": "gzip"}
    )

    assert 413 == answer.status_code
    assert memory() - before < 64 * LIMIT
    assert await is_well(service)


async def test_a_body_that_says_it_is_too_large_is_not_read(start: Start) -> None:
    service = await start(limits__request_bytes=LIMIT)
    raw = Raw(service.listening.http)
    await raw.say(POST + b"connection: close\r\ncontent-length: %d\r\n\r\n" % (10**15))
    heard = await raw.hear()
    raw.close()

    assert heard.startswith(b"HTTP/1.1 413 ")


# What never ends.


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of a fraction of a second."""
    bounds = http_protocol.Bounds

    def short(connections: int, **told: Any) -> http_protocol.Bounds:
        return bounds(connections, head_s=0.3, body_s=0.3, **told)

    monkeypatch.setattr("seer_otel.evaluator.receive.http_server.Bounds", short)
    monkeypatch.setattr(grpc_server, "BODY_S", 0.3)
    monkeypatch.setattr(grpc_server, "HANDSHAKE_MS", 300)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"P",
        b"POST /v1/traces HTTP/1.1\r\nhost: local",
        POST + b"content-length: 100\r\n\r\n",
        POST + b"content-length: 100\r\n\r\n12345",
        POST + b"transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n",
    ],
    ids=["nothing", "a byte", "half a head", "no body", "half a body", "half of the chunks"],
)
async def test_who_does_not_end_a_request_is_let_go(start: Start, said: bytes) -> None:
    service = await start()
    raw = Raw(service.listening.http)
    await raw.say(said)

    assert b"" == await raw.hear()
    raw.close()
    assert await is_well(service)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("before", [b"", POST + b"content-length: 0\r\n\r\n"])
@pytest.mark.parametrize("drop", [b"\r\n", b"P"], ids=["blank lines", "a method without end"])
async def test_who_says_a_little_now_and_then_is_let_go_too(
    start: Start, before: bytes, drop: bytes
) -> None:
    service = await start()
    raw = Raw(service.listening.http)
    await raw.say(before)

    async def drip() -> None:
        while True:
            await raw.say(drop)
            await asyncio.sleep(0.05)

    dripping = asyncio.create_task(drip())

    assert await raw.ended()
    dripping.cancel()
    await asyncio.gather(dripping, return_exceptions=True)
    raw.close()
    assert await is_well(service)


@pytest.mark.usefixtures("hurried")
async def test_who_does_not_send_the_message_of_a_call_is_answered(start: Start) -> None:
    service = await start()
    call = service.channel.stream_unary(EXPORT)()
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call

    assert grpc.StatusCode.UNAVAILABLE == error.value.code()
    assert await is_well(service)


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("said", [b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
async def test_who_does_not_begin_with_grpc_is_let_go(start: Start, said: bytes) -> None:
    service = await start()
    raw = Raw(service.listening.grpc)
    await raw.say(said)

    assert await raw.ended()
    raw.close()
    assert await is_well(service)


# What is too many.


async def test_more_connections_than_may_be_are_closed_at_once(start: Start) -> None:
    service = await start(limits__connections=5)
    with ExitStack() as stack:
        for _ in range(5):
            stack.callback(Raw(service.listening.http).close)
        sixth = Raw(service.listening.http)
        stack.callback(sixth.close)

        assert b"" == await sixth.hear()
        assert 1 == service.total(metrics.REFUSED)
    async with asyncio.timeout(10):
        while (await tried(service)) != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def tried(service: Service) -> int | None:
    try:
        return (await service.http.get("/healthz")).status_code
    except httpx.TransportError:
        return None


async def test_more_grpc_connections_than_may_be_are_closed_at_once(start: Start) -> None:
    service = await start(limits__connections=3)
    with ExitStack() as stack:
        raws = [Raw(service.listening.grpc) for _ in range(6)]
        for raw in raws:
            stack.callback(raw.close)
        ended = [asyncio.create_task(raw.ended()) for raw in raws]
        async with asyncio.timeout(10):
            while sum(task.done() for task in ended) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)


@pytest.mark.parametrize(
    "head",
    [
        POST + b"".join(b"x-%d: y\r\n" % n for n in range(200)) + b"\r\n",
        POST + b"x: " + b"y" * 40_000 + b"\r\n\r\n",
        POST + b"x: " + b"y" * 1_000_000,
        b"GET /" + b"y" * 40_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\n0\r\n"
        + b"".join(b"x-%d: y\r\n" % n for n in range(200)) + b"\r\n",
    ],
    ids=["many headers", "a large one", "one without end", "a large path", "many trailers"],
)  # fmt: skip
async def test_a_flood_of_headers_is_refused(start: Start, head: bytes) -> None:
    service = await start()
    raw = Raw(service.listening.http)
    heard = asyncio.create_task(raw.hear())
    await raw.say(head)

    assert (await heard).startswith(b"HTTP/1.1 431 ")
    raw.close()
    assert 1 == service.total(metrics.REFUSED)
    assert await is_well(service)


async def test_a_flood_of_metadata_is_refused(start: Start) -> None:
    service = await start()
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.send(request(span(1)), **{f"x-{n}": "y" * 1000 for n in range(50)})

    assert grpc.StatusCode.RESOURCE_EXHAUSTED == error.value.code()
    assert await is_well(service)


@pytest.mark.parametrize(
    "said",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nx: y\0z\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        POST + b"content-length: 5\r\ncontent-length: 6\r\n\r\n",
        POST + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"content-length: -5\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused_in_so_many_words(start: Start, said: bytes) -> None:
    service = await start()
    raw = Raw(service.listening.http)
    await raw.say(said)
    heard = await raw.hear()
    raw.close()

    assert heard.startswith(b"HTTP/1.1 400 ")
    assert {"message": "this is no HTTP request"} == json.loads(heard.partition(b"\r\n\r\n")[2])
    assert await is_well(service)


async def test_two_requests_on_one_connection_are_two(start: Start) -> None:
    """What a proxy would take for a part of the first request is not answered as a second."""
    service = await start()
    body = request(span(1))
    raw = Raw(service.listening.http)
    length = b"content-length: %d\r\n" % len(body)
    await raw.say(POST + length + b"\r\n" + body)
    await service.backend.until(lambda: len(service.backend.spans) == 1)
    await raw.say(POST + b"connection: close\r\n" + length + b"\r\n" + request(span(2)))
    heard = await raw.hear()
    raw.close()

    assert 2 == heard.count(b"HTTP/1.1 200 ")


# What is nested, twisted, or many in one.


SPAN = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{%s}]}]}]}'
DEEP = b'{"a":' * 50_000 + b"1" + b"}" * 50_000


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/metrics", "/v1/log"])
@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        b"[" * 1_000_000,
        b'{"resourceSpans":' + DEEP + b"}",
        b'{"task":"a","context":[],"metadata":' + DEEP + b"}",
        SPAN % (b'"startTimeUnixNano":' + b"9" * 5000),
        b'{"task":' + b"9" * 5000 + b"}",
        SPAN % (b'"traceId":"' + b"a" * 100_000 + b'"'),
        b"\xff\xfe{}",
        b'{"task": "\\ud800", "context": ["\\ud800"], "record_id": "\\u0000"}',
        b"NaN",
    ],
    ids=["deep", "open", "deep otlp", "deep event", "long number", "long number in an event",
         "long id", "no utf-8", "half a pair", "not a number"],
)  # fmt: skip
async def test_json_that_is_made_to_hurt_is_refused_for_good(
    start: Start, path: str, body: bytes
) -> None:
    service = await start()
    answer = await service.http.post(path, content=body, headers=JSON)

    assert answer.status_code in (200, 400, 422), answer.text
    assert await is_well(service)


def nested(depth: int) -> bytes:
    """A span with an attribute value of arrays in arrays."""
    value = b"\x0a\x01x"
    for _ in range(depth):
        inner = b"\x0a" + varint(len(value)) + value  # ArrayValue.values
        value = b"\x2a" + varint(len(inner)) + inner  # AnyValue.array_value
    pair = b"\x0a\x0cseer.context\x12" + varint(len(value)) + value
    return span(1).SerializeToString() + b"\x4a" + varint(len(pair)) + pair


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def enclosed(raw: bytes) -> bytes:
    scope = b"\x12" + varint(len(raw)) + raw
    resource_spans = b"\x12" + varint(len(scope)) + scope
    return b"\x0a" + varint(len(resource_spans)) + resource_spans


@pytest.mark.parametrize("depth", [40, 200, 20_000])
async def test_a_value_nested_too_deeply_passes_as_it_came(start: Start, depth: int) -> None:
    service = await start()
    body = enclosed(nested(depth))
    await service.send(body)
    await service.backend.until(lambda: bool(service.backend.requests))

    assert service.backend.requests[0][1].startswith(b"\x0a")
    assert nested(depth) in service.backend.requests[0][1]
    await service.stop()
    service.assert_accounted()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/records/..%2f..%2f..%2fetc%2fpasswd",
        "/v1/records/../../etc/passwd",
        "/v1/records/%00",
        "/v1/records/%ff%fe",
        "/v1/records/a'%20OR%201=1--",
        "/v1/records/" + "a" * 10_000,
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/v1/records/%0d%0aset-cookie:%20a=b",
        "/v1/traces%0d%0ax:y",
    ],
)
async def test_a_path_leads_to_records_or_nowhere(start: Start, path: str) -> None:
    service = await start()
    raw = Raw(service.listening.http)
    target = path.encode()
    await raw.say(b"GET " + target + b" HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    heard = await raw.hear()
    raw.close()

    assert heard.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 405 "))
    assert b"root:" not in heard
    assert b"\r\nset-cookie" not in heard


async def test_values_of_spans_and_events_become_no_headers(start: Start) -> None:
    service = await start(forward__headers={"x-tenant": "own"})
    evil = "a\r\nx-injected: yes\r\n\r\nGET / HTTP/1.1"
    await service.send(request(retrieval(1, task=evil, seer__metadata=json.dumps({"env": evil}))))
    answer = await service.http.post(
        "/v1/log", json={"task": evil, "context": [evil], "metadata": {evil: evil}}
    )
    refused = await service.http.post("/v1/log", json={evil: evil})
    await service.backend.until(lambda: len(service.backend.spans) == 2)

    assert (200, 422) == (answer.status_code, refused.status_code)
    assert "x-injected" not in [*answer.headers, *refused.headers]


async def test_metadata_of_a_call_goes_no_further(start: Start) -> None:
    service = await start()
    seen: list[Any] = []
    export = service.backend.export

    async def record(signal: str, body: bytes, context: Any) -> bytes:
        seen.extend(context.invocation_metadata())
        return await export(signal, body, context)

    service.backend.export = record  # type: ignore[method-assign]
    await service.send(request(span(1)), authorization="Bearer of-the-client", cookie="c")

    assert 1 == len(service.backend.spans)
    assert "of-the-client" not in str(seen)
    assert "cookie" not in dict(seen)


async def test_lengths_that_lie_in_protobuf_are_refused(start: Start) -> None:
    service = await start()
    for lie in (b"\x0a\xff\xff\xff\xff\x7f", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x0b"):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await service.send(lie)
        assert grpc.StatusCode.INVALID_ARGUMENT == error.value.code()
    with pytest.raises(grpc.aio.AioRpcError):
        await service.send(struct.pack("<Q", 2**63) * 100)
    assert await is_well(service)
