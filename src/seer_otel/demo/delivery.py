"""Deliver one export request to an endpoint, whichever way it takes OTLP, and say what it said."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import grpc
import httpx
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as service
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from seer_otel.errors import ConfigError

_TIMEOUT_S: Final = 10.0
KEY: Final = "It asks for a key: set SEER_API_KEY to the one that it was started with."
_NO_OTLP: Final = "Something else listens there: give the address of an OTLP receiver."
_BUSY: Final = "It does not take spans for now: its log says why."

_HTTP_ADVICE: Final[Mapping[int, str]] = {
    **dict.fromkeys((401, 403), KEY),
    **dict.fromkeys((404, 405, 415), _NO_OTLP),
    **dict.fromkeys((429, 502, 503, 504), _BUSY),
}
_GRPC_ADVICE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("UNAUTHENTICATED", "PERMISSION_DENIED"), KEY),
    "UNIMPLEMENTED": _NO_OTLP,
    **dict.fromkeys(("UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"), _BUSY),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """How a step went."""

    ok: bool
    said: str
    advice: str = ""
    """What to do about it, where it is not ok."""
    over_http: bool = False


def parsed(url: str) -> SplitResult:
    """
    Parse the URL of an endpoint; `HOST:PORT` will do.

    Raises:
        ConfigError: It is none.
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{url!r} is no URL such as http://127.0.0.1:4318")
    return parts


def reach(url: SplitResult) -> Answer:
    """Open a connection to an endpoint, and close it again."""
    host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
    try:
        socket.create_connection((host, port), timeout=_TIMEOUT_S).close()
    except socket.gaierror:
        advice = "Is it spelt right? Inside a container its name is that of the service."
        return Answer(False, f"the name {host} is not known", advice)
    except OSError as error:
        advice = "Is it running, and is it this port? From inside a container, localhost is itself."
        return Answer(False, f"{host}:{port}: {error.strerror or error}", advice)
    return Answer(True, f"{host}:{port}")


def deliver(
    url: SplitResult, request: ExportTraceServiceRequest, headers: Mapping[str, str]
) -> Answer:
    """Export over HTTP; where no HTTP is spoken, over gRPC."""
    base = url.geturl().rstrip("/").removesuffix("/v1/traces")
    body = request.SerializeToString()
    try:
        response = httpx.post(
            f"{base}/v1/traces",
            content=body,
            headers={**headers, "content-type": "application/x-protobuf"},
            timeout=_TIMEOUT_S,
        )
    except (httpx.RemoteProtocolError, httpx.ReadError):
        return _over_grpc(url, request, headers)
    except httpx.HTTPError as error:
        return Answer(False, f"over HTTP: {type(error).__name__}", _BUSY, over_http=True)
    return _http_answer(response)


def _http_answer(response: httpx.Response) -> Answer:
    if response.status_code != httpx.codes.OK:
        said = f"HTTP {response.status_code} {_detail(response)}".strip()
        return Answer(False, said, _HTTP_ADVICE.get(response.status_code, ""), over_http=True)
    try:
        accepted = ExportTraceServiceResponse.FromString(response.content)
    except DecodeError:
        return Answer(False, "an answer that is no OTLP", _NO_OTLP, over_http=True)
    return _accepted(accepted, "OTLP/HTTP", over_http=True)


def _detail(response: httpx.Response) -> str:
    try:
        message: str = Status.FromString(response.content).message
    except (DecodeError, UnicodeDecodeError):
        return response.reason_phrase
    return message


def _over_grpc(
    url: SplitResult, request: ExportTraceServiceRequest, headers: Mapping[str, str]
) -> Answer:
    target = f"{url.hostname}:{url.port or (443 if url.scheme == 'https' else 80)}"
    channel: Any = (
        grpc.secure_channel(target, grpc.ssl_channel_credentials())
        if url.scheme == "https"
        else grpc.insecure_channel(target)
    )
    with channel:
        export = service.TraceServiceStub(channel).Export  # type: ignore[no-untyped-call]
        try:
            accepted = export(request, timeout=_TIMEOUT_S, metadata=tuple(headers.items()))
        except grpc.RpcError as error:
            code: str = error.code().name
            said = f"gRPC {code}: {error.details()}"
            return Answer(False, said, _GRPC_ADVICE.get(code, _NO_OTLP))
    return _accepted(accepted, "OTLP/gRPC", over_http=False)


def _accepted(response: ExportTraceServiceResponse, over: str, *, over_http: bool) -> Answer:
    partial = response.partial_success
    if partial.rejected_spans:
        said = f"over {over}, less {partial.rejected_spans} spans: {partial.error_message}"
        return Answer(False, said, "Its log says why it does not take them.", over_http)
    return Answer(True, f"over {over}", over_http=over_http)
