"""The next hop of the demo, in place of a Collector or Jaeger: it keeps the spans it is sent."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import grpc
import grpc.aio
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as service
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from seer_otel.dialects import Span
from seer_otel.dialects.otlp import spans


@dataclass
class Receiver(service.TraceServiceServicer):
    """What was received, and where."""

    url: str = ""
    spans: list[Span] = field(default_factory=list)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def Export(
        self, request: ExportTraceServiceRequest, context: object
    ) -> ExportTraceServiceResponse:
        """Keep the spans of a request."""
        self.spans += spans(request)
        self._arrived.set()
        return ExportTraceServiceResponse()

    async def until(self, complete: Callable[[], bool]) -> None:
        """Wait until something holds of what was received."""
        while not complete():
            self._arrived.clear()
            await self._arrived.wait()


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    """Receive OTLP over gRPC on a free port of loopback."""
    keeping = Receiver()
    server = grpc.aio.server()
    service.add_TraceServiceServicer_to_server(keeping, server)  # type: ignore[no-untyped-call]
    keeping.url = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield keeping
    finally:
        await server.stop(None)
