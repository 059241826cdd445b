"""One span as a dialect reads it, whatever it came from: protobuf, OTLP JSON, or the SDK."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

DEPTH: Final = 50
"""
How deep values may nest; what is deeper reads as None.

Parsers of protobuf stop at about the same depth.
"""

Attributes = Mapping[str, Any]
"""Plain Python values: str, bool, int, float, bytes, None, list, dict[str, …], nested at will."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """One event of a span."""

    name: str
    time_ns: int
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Span:
    """One ended span, read-only."""

    trace_id: str
    """32 hex digits, small letters."""
    span_id: str
    """16 hex digits, small letters."""
    parent_span_id: str | None
    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    events: tuple[SpanEvent, ...] = ()
    status_code: int = 0
    """OTLP: 0 unset, 1 ok, 2 error."""
    dropped_attributes: int = 0
    dropped_events: int = 0
    scope_name: str = ""
    scope_version: str = ""
    resource: Attributes = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the span's status is an error."""
        return self.status_code == 2
