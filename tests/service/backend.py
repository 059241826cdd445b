"""A next hop that keeps what it is sent, over gRPC, and misbehaves on demand."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
import grpc.aio
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

SERVICES = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
}


@dataclass
class Backend:
    """What a next hop received, and how it answers."""

    port: int = 0
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    """Signal and body of each request that was taken."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of the same requests."""
    answer: Callable[[ExportTraceServiceRequest], grpc.StatusCode | None] | None = None
    """The status to refuse a traces request with, where it says one."""
    response: bytes = b""
    gate: asyncio.Event | None = None
    """Where set: answers wait for it."""
    attempts: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def traces(self) -> list[ExportTraceServiceRequest]:
        return [
            ExportTraceServiceRequest.FromString(body)
            for signal, body in self.requests
            if signal == "traces"
        ]

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def counts(self) -> Counter[bytes]:
        return Counter(span.span_id for span in self.spans)

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    async def until(self, condition: Callable[[], bool], timeout_s: float = 15.0) -> None:
        """Wait until something holds of what was received."""
        async with asyncio.timeout(timeout_s):
            while not condition():
                self.arrived.clear()
                await self.arrived.wait()

    async def export(
        self, signal: str, body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]
    ) -> bytes:
        self.attempts += 1
        if self.gate is not None:
            await self.gate.wait()
        if signal == "traces" and self.answer is not None:
            refusal = self.answer(ExportTraceServiceRequest.FromString(body))
            if refusal is not None:
                self.arrived.set()
                await context.abort(refusal, "as told")
        self.requests.append((signal, body))
        self.headers.append({k: str(v) for k, v in context.invocation_metadata() or ()})
        self.arrived.set()
        return self.response


@asynccontextmanager
async def backend(port: int = 0) -> AsyncIterator[Backend]:
    """Run a next hop on a port of loopback."""
    recording = Backend()
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])

    def handler(signal: str) -> grpc.RpcMethodHandler:
        async def export(body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            return await recording.export(signal, body, context)

        return grpc.unary_unary_rpc_method_handler(export)

    for signal, service in SERVICES.items():
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {"Export": handler(signal)}),)
        )
    recording.port = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield recording
    finally:
        await server.stop(None)
