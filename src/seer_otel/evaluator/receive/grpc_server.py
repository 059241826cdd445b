"""OTLP over gRPC: the three export services, on raw bytes, and the health service."""

import logging
from collections.abc import Awaitable, Callable

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_health.v1.health_pb2 import HealthCheckResponse

from seer_otel.evaluator.intake import Intake, Signal
from seer_otel.evaluator.receive import guard
from seer_otel.evaluator.receive.address import listen
from seer_otel.evaluator.receive.answers import answer
from seer_otel.semconv import FORWARD_HEADER

log = logging.getLogger(__name__)

SERVICES: dict[Signal, str] = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
}


class GrpcServer:
    """The gRPC listener."""

    def __init__(self, address: str, intake: Intake, gate: guard.Gate, max_bytes: int) -> None:
        self._address = address
        self._intake = intake
        self._gate = gate
        self._health = HealthServicer()
        self._server = grpc.aio.server(
            options=[
                # Two servers on one port would share its traffic unseen.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", max_bytes),
                # Makes clients wait; a limit on RPCs would make them drop.
                ("grpc.max_concurrent_streams", 256),
            ]
        )
        for signal in intake.signals:
            handler = grpc.unary_unary_rpc_method_handler(self._export(signal))
            self._server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(SERVICES[signal], {"Export": handler}),)
            )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)

    async def start(self) -> str:
        """
        Listen, and return the real address.

        Raises:
            ConfigError: The port is taken or the address is not this machine's.
        """
        host = self._address.rpartition(":")[0]
        # gRPC says why only in a log of its own.
        listen(self._address, "--grpc").close()
        port = self._server.add_insecure_port(self._address)
        await self._server.start()
        await self._health.set("", HealthCheckResponse.SERVING)
        for signal in self._intake.signals:
            await self._health.set(SERVICES[signal], HealthCheckResponse.SERVING)
        return f"{host}:{port}"

    async def stop(self, grace_s: float) -> None:
        """Refuse what is new, finish what is under way."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_s)

    def _export(
        self, signal: Signal
    ) -> Callable[[bytes, grpc.aio.ServicerContext[bytes, bytes]], Awaitable[bytes]]:
        async def export(body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            metadata = dict(context.invocation_metadata() or ())
            try:
                self._gate.check(_text(metadata.get("authorization")))
                copies = _text(metadata.get(FORWARD_HEADER)) == "no"
                return await self._intake.take(signal, body, copies=copies)
            except Exception as error:
                refusal = answer(error)
                self._intake.refused(refusal.reason)
            await context.abort(refusal.code, refusal.message, refusal.trailers)
            raise AssertionError("abort does not return")

        return export


def _text(value: str | bytes | None) -> str | None:
    return value.decode("latin-1") if isinstance(value, bytes) else value
