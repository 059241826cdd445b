"""
OTLP over gRPC: the three export services, on raw bytes, and the health service.

On the wire the calls are unary. Here they are streams of one message, which are refused before any
of it is read, and have a time to come in. gRPC does not unpack them: it would make of them whatever
they make.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from seer_otel.errors import Overloaded, Undecodable
from seer_otel.evaluator.intake import Intake, Signal
from seer_otel.evaluator.receive import guard
from seer_otel.evaluator.receive.address import listen
from seer_otel.evaluator.receive.answers import answer
from seer_otel.evaluator.receive.doors import Doors
from seer_otel.semconv import FORWARD_HEADER

log = logging.getLogger(__name__)

SERVICES: dict[Signal, str] = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
}
HEALTH: Final = "grpc.health.v1.Health"

HANDSHAKE_MS: Final = 10_000
IDLE_MS: Final = 600_000
"""A connection without a call; clients make another when they need it."""
BODY_S: Final = 60.0
"""Seconds for a message: 64 MiB at 9 Mbit/s."""
_GZIP_OR_NONE: Final = 0b101

Messages = AsyncIterator[bytes]
Handle = Callable[[Messages, grpc.aio.ServicerContext[bytes, bytes]], Awaitable[bytes]]


class GrpcServer:
    """The gRPC listener."""

    def __init__(self, address: str, intake: Intake, doors: Doors) -> None:
        self._address = address
        self._intake = intake
        self._doors = doors
        self._serving = False
        self._server = grpc.aio.server(options=_options(doors))
        for signal in intake.signals:
            self._serve(SERVICES[signal], "Export", self._export(signal))
        self._serve(HEALTH, "Check", self._check)

    def _serve(self, service: str, method: str, handle: Handle) -> None:
        handler = grpc.stream_unary_rpc_method_handler(handle)
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {method: handler}),)
        )

    async def start(self) -> str:
        """
        Listen, and return the real address.

        Raises:
            ConfigError: The port is taken or the address is not this machine's.
        """
        host = self._address.rpartition(":")[0]
        # gRPC says why only in a log of its own.
        listen(self._address, "--grpc").close()
        certificates = self._doors.certificates
        port = (
            self._server.add_secure_port(self._address, certificates.for_grpc())
            if certificates is not None
            else self._server.add_insecure_port(self._address)
        )
        await self._server.start()
        self._serving = True
        return f"{host}:{port}"

    async def attend(self) -> None:
        """Return when it listens no longer."""
        # Cancelled itself, it would let nobody wait for the end any more.
        await asyncio.shield(self._server.wait_for_termination())

    async def stop(self, grace_s: float) -> None:
        """Refuse what is new, finish what is under way."""
        self._serving = False
        await self._server.stop(grace_s)

    def _export(self, signal: Signal) -> Handle:
        async def export(
            messages: Messages, context: grpc.aio.ServicerContext[bytes, bytes]
        ) -> bytes:
            metadata = dict(context.invocation_metadata() or ())
            try:
                self._doors.gate.check(_text(metadata.get("authorization")))
                body = await guard.unpacked(await _message(messages), self._doors.max_bytes)
                copies = _text(metadata.get(FORWARD_HEADER)) == "no"
                return await self._intake.take(signal, body, copies=copies)
            except Exception as error:
                refusal = answer(error)
                self._intake.refused(refusal.reason)
            await context.abort(refusal.code, refusal.message, refusal.trailers)
            raise AssertionError("abort does not return")

        return export

    async def _check(
        self, messages: Messages, context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> bytes:
        """Say whether a service takes requests. It needs no key, and tells nothing else."""
        try:
            service = HealthCheckRequest.FromString(await _message(messages)).service
        except (DecodeError, Overloaded, Undecodable):
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this is no health check")
        if service not in ("", *(SERVICES[signal] for signal in self._intake.signals)):
            await context.abort(grpc.StatusCode.NOT_FOUND, "there is no such service")
        status = HealthCheckResponse.SERVING if self._serving else HealthCheckResponse.NOT_SERVING
        return bytes(HealthCheckResponse(status=status).SerializeToString())


async def _message(messages: Messages) -> bytes:
    """
    Read the one message of a call.

    Raises:
        Overloaded: It does not come in.
        Undecodable: There is none.
    """
    try:
        async with asyncio.timeout(BODY_S):
            return await anext(messages)
    except TimeoutError:
        raise Overloaded(f"the request did not come in within {BODY_S:g} s", 1.0) from None
    except StopAsyncIteration:
        raise Undecodable("the request has no message") from None


def _options(doors: Doors) -> list[tuple[str, int]]:
    return [
        # Two servers on one port would share its traffic unseen.
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", doors.max_bytes),
        ("grpc.per_message_decompression", 0),
        ("grpc.compression_enabled_algorithms_bitset", _GZIP_OR_NONE),
        # Makes clients wait; a limit on RPCs would make them drop.
        ("grpc.max_concurrent_streams", 256),
        ("grpc.max_allowed_incoming_connections", doors.max_connections),
        ("grpc.max_metadata_size", 16 * 1024),
        ("grpc.absolute_max_metadata_size", 32 * 1024),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
        ("grpc.http2.settings_timeout", HANDSHAKE_MS),
        ("grpc.max_connection_idle_ms", IDLE_MS),
        # Finds out who is gone without a word.
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
    ]


def _text(value: str | bytes | None) -> str | None:
    return value.decode("latin-1") if isinstance(value, bytes) else value
