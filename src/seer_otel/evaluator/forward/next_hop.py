"""
The next hop: where requests go, over gRPC or HTTP, as bytes.

One attempt a call; when and whether to try again is the caller's business. What the next hop says
becomes one of three things: taken (with what it rejected), busy, refused.
"""

import asyncio
import email.utils
import gzip
import time
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import urlsplit

import grpc
import grpc.aio
import httpx
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from seer_otel.config import Forward
from seer_otel.errors import NextHopBusy, NextHopRefused
from seer_otel.evaluator.forward import trust

Signal = Literal["traces", "metrics", "logs"]

SERVICES: dict[Signal, str] = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}
"""Full gRPC method names of OTLP."""

RETRYABLE_CODES = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
        # A key that is refused may be mended; spans are not given up for it.
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
"""Codes after which the same bytes may be taken later (the OTLP table, and what can be mended)."""

RETRYABLE_STATUSES = frozenset({401, 403, 404, 408, 429, 502, 503, 504, *range(300, 400)})
"""The same over HTTP; a redirection is not followed, and can be mended."""

LONGER = 8
"""How many times the configured time an answer is waited for at most."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The next hop has it."""

    response: bytes = b""
    """Its OTLP response message, in protobuf."""

    @property
    def rejected_spans(self) -> int:
        """How many spans it took and threw away (partial success)."""
        try:
            response = ExportTraceServiceResponse.FromString(self.response)
        except DecodeError:
            return 0
        return max(0, int(response.partial_success.rejected_spans))


class Patience:
    """
    How long to wait for the answer to spans.

    Longer, where one did not come in time: else a next hop that takes them, and says so too late,
    would be sent the same spans again and again.
    """

    def __init__(self, first_s: float) -> None:
        self._most_s = LONGER * first_s
        self.seconds = first_s

    def ran_out(self) -> None:
        """Take note that an answer did not come in time."""
        self.seconds = min(2 * self.seconds, self._most_s)


class NextHop(Protocol):
    """Where requests go."""

    @property
    def address(self) -> str:
        """Host and port, for messages."""
        ...

    @property
    def patience_s(self) -> float:
        """Seconds that one attempt may take."""
        ...

    async def send(self, body: bytes, signal: Signal = "traces") -> Taken:
        """
        Make one attempt.

        Raises:
            NextHopBusy: It may be taken later.
            NextHopRefused: It will never be taken.
        """
        ...

    async def aclose(self) -> None:
        """Close the connection."""
        ...


def connect(config: Forward) -> NextHop:
    """Make the client for the configured next hop; nothing is dialled yet."""
    assert config.url is not None
    return GrpcNextHop(config) if config.protocol == "grpc" else HttpNextHop(config)


def address_of(url: str) -> tuple[str, int, bool]:
    """Split a URL into host, port and whether it wants TLS."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    secure = parts.scheme == "https"
    return parts.hostname or "", parts.port or (443 if secure else 80), secure


class GrpcNextHop:
    """OTLP over gRPC."""

    def __init__(self, config: Forward) -> None:
        self._config = config
        host, port, secure = address_of(config.url or "")
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._timeout = config.timeout
        self._patience = Patience(config.timeout)
        self._metadata = tuple((k, v.get_secret_value()) for k, v in config.headers.items())
        compression = (
            grpc.Compression.Gzip
            if config.compression == "gzip"
            else grpc.Compression.NoCompression
        )
        options = [
            ("grpc.max_send_message_length", -1),
            ("grpc.max_receive_message_length", 64 * 1024 * 1024),
            # An hour-long back-off would outlast the outage.
            ("grpc.max_reconnect_backoff_ms", 5_000),
            ("grpc.enable_http_proxy", 0),
        ]
        if secure:
            self._channel = grpc.aio.secure_channel(
                self._address, trust.for_grpc(config), options, compression
            )
        else:
            self._channel = grpc.aio.insecure_channel(self._address, options, compression)
        self._calls = {s: self._channel.unary_unary(m) for s, m in SERVICES.items()}

    @property
    def address(self) -> str:
        """Host and port, for messages."""
        return self._address

    @property
    def patience_s(self) -> float:
        """Seconds that one attempt may take."""
        return self._patience.seconds

    async def send(self, body: bytes, signal: Signal = "traces") -> Taken:
        """Make one attempt."""
        spans = signal == "traces"
        timeout = self._patience.seconds if spans else self._timeout
        try:
            response = await self._calls[signal](body, timeout=timeout, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            if spans and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                self._patience.ran_out()
            said = trust.without_secrets(error.details() or "", self._config)
            raise _from_code(error, said) from None
        return Taken(response)

    async def aclose(self) -> None:
        """Close the channel."""
        await self._channel.close()


def _from_code(error: grpc.aio.AioRpcError, said: str) -> NextHopBusy | NextHopRefused:
    message = f"{error.code().name}: {said}"[:200]
    delay = _retry_delay(error)
    exhausted = error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    if error.code() in RETRYABLE_CODES or (exhausted and delay is not None):
        return NextHopBusy(message, delay or 0.0)
    return NextHopRefused(message)


def _retry_delay(error: grpc.aio.AioRpcError) -> float | None:
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin" or not isinstance(value, bytes):
            continue
        try:
            details = status_pb2.Status.FromString(value).details
        except DecodeError:
            return None
        for detail in details:
            info = error_details_pb2.RetryInfo()
            if detail.Is(info.DESCRIPTOR) and detail.Unpack(info):
                return float(info.retry_delay.ToMilliseconds()) / 1000
    return None


class HttpNextHop:
    """OTLP over HTTP, protobuf."""

    def __init__(self, config: Forward) -> None:
        self._config = config
        url = config.url or ""
        self._url = (url if "://" in url else f"http://{url}").rstrip("/")
        self._complete = config.complete or self._url.endswith("/v1/traces")
        host, port, _ = address_of(self._url)
        self._address = f"{host}:{port}"
        self._gzip = config.compression == "gzip"
        self._timeout = config.timeout
        self._patience = Patience(config.timeout)
        self._client = httpx.AsyncClient(
            timeout=None,  # the attempt has one
            trust_env=False,
            verify=trust.for_http(config),
            headers={
                **{k: v.get_secret_value() for k, v in config.headers.items()},
                "content-type": "application/x-protobuf",
                **({"content-encoding": "gzip"} if self._gzip else {}),
            },
        )

    @property
    def address(self) -> str:
        """Host and port, for messages."""
        return self._address

    @property
    def patience_s(self) -> float:
        """Seconds that one attempt may take."""
        return self._patience.seconds

    async def send(self, body: bytes, signal: Signal = "traces") -> Taken:
        """Make one attempt."""
        if self._gzip:
            body = await asyncio.to_thread(gzip.compress, body, 6)
        spans = signal == "traces"
        timeout = self._patience.seconds if spans else self._timeout
        try:
            async with asyncio.timeout(timeout):
                response = await self._client.post(self._path(signal), content=body)
        except TimeoutError:
            if spans:
                self._patience.ran_out()
            raise NextHopBusy(f"no answer within {timeout:g} s", 0.0) from None
        except httpx.HTTPError as error:
            said = trust.without_secrets(str(error), self._config)
            raise NextHopBusy(f"{type(error).__name__}: {said}"[:200], 0.0) from None
        if response.is_success:
            return Taken(response.content)
        message = f"HTTP {response.status_code}"
        if response.status_code in RETRYABLE_STATUSES:
            raise NextHopBusy(message, _retry_after(response.headers.get("retry-after")))
        raise NextHopRefused(message)

    def _path(self, signal: Signal) -> str:
        if not self._complete:
            return f"{self._url}/v1/{signal}"
        return self._url if signal == "traces" else self._url.replace("/v1/traces", f"/v1/{signal}")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _retry_after(value: str | None) -> float:
    """Read seconds or an HTTP date; 0 where there is none."""
    if value is None:
        return 0.0
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0
