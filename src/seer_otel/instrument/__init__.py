"""In the application: finds retrieval spans, decides, and ships them in the background."""

from seer_otel.instrument.client import AsyncSeerClient, SeerClient
from seer_otel.instrument.decorator import retriever
from seer_otel.instrument.processor import SeerSpanProcessor
from seer_otel.instrument.recording import Recording, retrieval
from seer_otel.instrument.scope import Request, request
from seer_otel.instrument.shipping import Counts

__all__ = [
    "AsyncSeerClient",
    "Counts",
    "Recording",
    "Request",
    "SeerClient",
    "SeerSpanProcessor",
    "request",
    "retrieval",
    "retriever",
]
