"""Quality signals for the retrieval steps of RAG and agent applications, inside OpenTelemetry."""

from seer_otel.instrument import (
    AsyncSeerClient,
    SeerClient,
    SeerSpanProcessor,
    request,
    retrieval,
    retriever,
)

__version__ = "0.1.0"

__all__ = [
    "AsyncSeerClient",
    "SeerClient",
    "SeerSpanProcessor",
    "__version__",
    "request",
    "retrieval",
    "retriever",
]
