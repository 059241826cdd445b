"""Quality signals for the retrieval steps of RAG and agent applications, inside OpenTelemetry."""

__version__ = "0.1.0"
