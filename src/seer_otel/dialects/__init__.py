"""From a span to a retrieval, one module an instrumentation; from a verdict to the wire."""

from seer_otel.dialects.inputs import INPUT_MARKERS, conversation_id, readable_input
from seer_otel.dialects.reader import READER, Reader
from seer_otel.dialects.reading import Dialect, Reading
from seer_otel.dialects.redaction import Redaction, redaction_of
from seer_otel.dialects.registry import DIALECTS, MARKERS, is_evaluated, read, with_tools
from seer_otel.dialects.span import Span, SpanEvent

__all__ = [
    "DIALECTS",
    "INPUT_MARKERS",
    "MARKERS",
    "READER",
    "Dialect",
    "Reader",
    "Reading",
    "Redaction",
    "Span",
    "SpanEvent",
    "conversation_id",
    "is_evaluated",
    "read",
    "readable_input",
    "redaction_of",
    "with_tools",
]
