"""Encrypted on the way in and on the way out, with certificates on either side."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
import trustme
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcExporter,
)
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpExporter,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from seer_otel.errors import ConfigError
from tests.service.backend import SERVICES, Backend
from tests.service.conftest import EXPORT, Service, Start
from tests.service.spans import request, span
from tests.service.test_over_http import Recorder

PROTOBUF = {"content-type": "application/x-protobuf"}


@dataclass(frozen=True)
class Files:
    """A CA, a certificate of it, and its key, as files."""

    ca: Path
    certificate: Path
    key: Path

    @property
    def pair(self) -> dict[str, str]:
        return {"certificate": str(self.certificate), "key": str(self.key)}

    @property
    def pem(self) -> tuple[bytes, bytes]:
        return self.key.read_bytes(), self.certificate.read_bytes()

    @property
    def ca_pem(self) -> bytes:
        return self.ca.read_bytes()


def issue(folder: Path, *names: str, ca: trustme.CA | None = None) -> Files:
    """Make a certificate; of a CA of its own, unless told otherwise."""
    folder.mkdir(exist_ok=True)
    files = Files(folder / "ca.pem", folder / "certificate.pem", folder / "key.pem")
    ca = ca or trustme.CA()
    leaf = ca.issue_cert(*names or ("localhost", "127.0.0.1"))
    ca.cert_pem.write_to_path(files.ca)
    files.certificate.unlink(missing_ok=True)
    for blob in leaf.cert_chain_pems:
        blob.write_to_path(files.certificate, append=True)
    leaf.private_key_pem.write_to_path(files.key)
    return files


@pytest.fixture
def server(tmp_path: Path) -> Files:
    return issue(tmp_path / "server")


@pytest.fixture
def client(tmp_path: Path) -> Files:
    return issue(tmp_path / "client", "client.example")


def credentials(ca: Path, shown: Files | None) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(ca.read_bytes(), *(shown.pem if shown else (None, None)))


async def over_grpc(service: Service, ca: Path, shown: Files | None = None, **headers: str) -> Any:
    address = service.listening.grpc or ""
    async with grpc.aio.secure_channel(address, credentials(ca, shown)) as channel:
        metadata = tuple(headers.items())
        call = channel.unary_unary(EXPORT)
        try:
            return await call(request(span(1, "plain")), metadata=metadata, timeout=5)
        except grpc.aio.AioRpcError as error:
            return error.code()


async def over_http(service: Service, ca: Path, shown: Files | None = None, **headers: str) -> Any:
    context = ssl.create_default_context(cafile=ca)
    if shown is not None:
        context.load_cert_chain(shown.certificate, shown.key)
    url = f"https://{service.listening.http}/v1/traces"
    async with httpx.AsyncClient(verify=context, trust_env=False) as http:
        try:
            answer = await http.post(
                url, content=request(span(2, "plain")), headers={**PROTOBUF, **headers}
            )
        except httpx.TransportError:
            return None
        return answer.status_code


async def test_both_listeners_are_encrypted_and_shown_to_be_ours(
    start: Start, server: Files, tmp_path: Path
) -> None:
    service = await start(tls=server.pair)
    stranger = issue(tmp_path / "stranger")

    assert b"" == await over_grpc(service, server.ca)
    assert 200 == await over_http(service, server.ca)
    assert grpc.StatusCode.UNAVAILABLE == await over_grpc(service, stranger.ca)
    assert await over_http(service, stranger.ca) is None
    with pytest.raises(grpc.aio.AioRpcError):
        await service.send(request(span(3, "in the clear")))
    with pytest.raises(httpx.TransportError):
        await service.http.get("/healthz")
    assert {1} == set(service.backend.counts.values())


async def test_clients_must_show_a_certificate_where_that_is_asked_for(
    start: Start, server: Files, client: Files, tmp_path: Path
) -> None:
    service = await start(tls={**server.pair, "client_ca": str(client.ca)})
    stranger = issue(tmp_path / "stranger")

    for shown in (None, stranger):
        assert grpc.StatusCode.UNAVAILABLE == await over_grpc(service, server.ca, shown)
        assert await over_http(service, server.ca, shown) is None
    assert b"" == await over_grpc(service, server.ca, client)
    assert 200 == await over_http(service, server.ca, client)


async def test_keys_are_asked_for_besides(start: Start, server: Files) -> None:
    service = await start(tls=server.pair, api_keys=["first", "second"])

    assert grpc.StatusCode.UNAUTHENTICATED == await over_grpc(service, server.ca)
    assert 401 == await over_http(service, server.ca)
    assert b"" == await over_grpc(service, server.ca, authorization="Bearer first")
    assert 200 == await over_http(service, server.ca, authorization="Bearer second")


async def test_a_certificate_that_changes_is_shown_to_the_next_who_comes(
    start: Start, server: Files, client: Files, tmp_path: Path
) -> None:
    service = await start(tls={**server.pair, "client_ca": str(client.ca)})
    before = Files(tmp_path / "before.pem", client.certificate, client.key)
    before.ca.write_bytes(server.ca.read_bytes())
    issue(tmp_path / "server")
    other = issue(tmp_path / "other", "client.example")
    client.ca.write_bytes(other.ca.read_bytes())
    for path in (server.certificate, server.key, client.ca):
        os.utime(path, ns=(1, 1))

    assert b"" == await over_grpc(service, server.ca, other)
    assert 200 == await over_http(service, server.ca, other)
    assert await over_http(service, before.ca, other) is None
    assert await over_http(service, server.ca, client) is None
    assert grpc.StatusCode.UNAVAILABLE == await over_grpc(service, before.ca, other)


async def test_a_certificate_that_breaks_leaves_the_one_from_before(
    start: Start, server: Files, caplog: pytest.LogCaptureFixture
) -> None:
    service = await start(tls=server.pair)
    server.key.write_text("no key")
    os.utime(server.key, ns=(1, 1))

    assert [200, 200] == [await over_http(service, server.ca) for _ in range(2)]
    assert b"" == await over_grpc(service, server.ca)
    assert 1 == len([r for r in caplog.records if "from before stays" in r.getMessage()])


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"key": "missing.pem"}, "missing.pem: No such file or directory"),
        ({"key": "other"}, "cannot be used"),
        ({"certificate": "text"}, "cannot be used"),
        ({"key": "encrypted"}, "cannot be used"),
        ({"client_ca": "text"}, "cannot be used"),
    ],
)
async def test_certificates_that_cannot_be_used_stop_the_start(
    start: Start, server: Files, tmp_path: Path, broken: dict[str, str], says: str
) -> None:
    (tmp_path / "text").write_text("no certificate")
    (tmp_path / "other").write_bytes(issue(tmp_path / "another").key.read_bytes())
    (tmp_path / "encrypted").write_text(
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
    )
    told = {name: str(tmp_path / file) for name, file in broken.items()}

    with pytest.raises(ConfigError, match=says):
        await start(tls={**server.pair, **told})


# The next hop.


@asynccontextmanager
async def encrypted_backend(server: Files, client: Files | None) -> AsyncIterator[Backend]:
    recording = Backend()
    grpc_server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])

    async def export(body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        return await recording.export("traces", body, context)

    handler = grpc.unary_unary_rpc_method_handler(export)
    grpc_server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(SERVICES["traces"], {"Export": handler}),)
    )
    asked = grpc.ssl_server_credentials(
        [server.pem], client.ca_pem if client else None, require_client_auth=client is not None
    )
    recording.port = grpc_server.add_secure_port("127.0.0.1:0", asked)
    await grpc_server.start()
    try:
        yield recording
    finally:
        await grpc_server.stop(None)


@contextmanager
def encrypted_recorder(server: Files, client_ca: Path | None) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.certificate, server.key)
    if client_ca is not None:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    http = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    http.handle_error = lambda *_: None  # type: ignore[method-assign]  # what is refused is meant to be
    http.socket = context.wrap_socket(http.socket, server_side=True)
    Recorder.received, Recorder.refusals, Recorder.headers_seen = [], [], []
    thread = Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"https://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def forward(server: Files, client: Files | None, **more: str) -> dict[str, str]:
    shown = {
        "forward__client_certificate": str(client.certificate),
        "forward__client_key": str(client.key),
    } if client else {}  # fmt: skip
    return {"forward__certificate": str(server.ca), **shown, **more}


@pytest.mark.parametrize("mutual", [False, True])
async def test_spans_go_on_to_a_next_hop_over_grpc_with_tls(
    start: Start, server: Files, client: Files, mutual: bool
) -> None:
    async with encrypted_backend(server, client if mutual else None) as backend:
        url = f"https://127.0.0.1:{backend.port}"
        told = forward(server, client if mutual else None, forward__url=url)
        service = await start(**told)
        await service.send(request(span(1, "plain")))
        await service.stop()

        assert ["plain"] == [each.name for each in backend.spans]


@pytest.mark.parametrize("mutual", [False, True])
async def test_spans_go_on_to_a_next_hop_over_http_with_tls(
    start: Start, server: Files, client: Files, mutual: bool
) -> None:
    with encrypted_recorder(server, client.ca if mutual else None) as url:
        told = forward(
            server, client if mutual else None,
            forward__url=url, forward__protocol="http/protobuf",
        )  # fmt: skip
        service = await start(**told)
        body = request(span(1, "plain"))
        await service.send(body)
        await service.stop()

        assert [("/v1/traces", body)] == Recorder.received


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_a_next_hop_that_nobody_vouches_for_gets_nothing(
    start: Start, server: Files, tmp_path: Path, protocol: str
) -> None:
    stranger = issue(tmp_path / "stranger")
    async with encrypted_backend(stranger, None) as backend:
        with encrypted_recorder(stranger, None) as url:
            told = forward(
                server, None,
                forward__url=f"https://127.0.0.1:{backend.port}" if protocol == "grpc" else url,
                forward__protocol=protocol, shutdown__grace="0.2",
            )  # fmt: skip
            service = await start(**told)
            await service.send(request(span(1, "plain")))

            assert ([], []) == (backend.requests, Recorder.received)
            assert 1 == service.evaluator.store.statistics.queued_spans
            await service.stop()


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_a_certificate_for_the_next_hop_that_cannot_be_used_stops_the_start(
    start: Start, server: Files, client: Files, tmp_path: Path, protocol: str
) -> None:
    told = {"forward__url": "https://127.0.0.1:1", "forward__protocol": protocol}
    mixed = Files(client.ca, client.certificate, server.key)
    nowhere = Files(tmp_path / "nowhere.pem", client.certificate, client.key)

    with pytest.raises(ConfigError, match="cannot be used"):
        await start(**told, **forward(server, mixed))
    with pytest.raises(ConfigError, match=r"nowhere\.pem: No such file"):
        await start(**told, **forward(nowhere, None))


@pytest.mark.parametrize("transport", ["grpc", "http"])
async def test_the_real_sdk_exporter_comes_in_with_a_certificate_and_a_key(
    start: Start,
    server: Files,
    client: Files,
    transport: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
    ):  # requests heeds them first
        monkeypatch.delenv(name, raising=False)
    service = await start(tls={**server.pair, "client_ca": str(client.ca)}, api_keys="k")
    headers = {"authorization": "Bearer k"}

    def exporter() -> SpanExporter:
        if transport == "http":
            return HttpExporter(
                f"https://{service.listening.http}/v1/traces", headers=headers,
                certificate_file=str(server.ca), client_key_file=str(client.key),
                client_certificate_file=str(client.certificate),
            )  # fmt: skip
        return GrpcExporter(
            f"https://{service.listening.grpc}", headers=headers,
            credentials=credentials(server.ca, client),
        )  # fmt: skip

    def export() -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter()))
        with provider.get_tracer("app").start_as_current_span("from the sdk"):
            pass
        provider.shutdown()

    await asyncio.to_thread(export)

    assert ["from the sdk"] == [each.name for each in service.backend.spans]
