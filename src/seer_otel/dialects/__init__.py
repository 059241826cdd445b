"""From a span to a retrieval, one module an instrumentation; from a verdict to the wire."""

from seer_otel.dialects.inputs import INPUT_MARKERS, conversation_id, readable_input
from seer_otel.dialects.reading import Dialect, Reading
from seer_otel.dialects.registry import DIALECTS, MARKERS, is_evaluated, read, with_tools
from seer_otel.dialects.span import Span, SpanEvent

__all__ = [
    "DIALECTS",
    "INPUT_MARKERS",
    "MARKERS",
    "Dialect",
    "Reading",
    "Span",
    "SpanEvent",
    "conversation_id",
    "is_evaluated",
    "read",
    "readable_input",
    "with_tools",
]
