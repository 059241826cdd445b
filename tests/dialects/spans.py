"""One span of any dialect, and its reading."""

from collections.abc import Sequence
from typing import Any

from seer_otel import dialects
from seer_otel.dialects import DIALECTS, Dialect, Reading, Span


def span(attributes: dict[str, Any], **fields: Any) -> Span:
    """A span with these attributes."""
    return Span(
        **{
            "trace_id": "7e" * 16,
            "span_id": "01" * 8,
            "parent_span_id": None,
            "name": "lookup",
            "start_ns": 1,
            "end_ns": 2,
            **fields,
        },
        attributes=attributes,
    )


def reading(
    attributes: dict[str, Any], within: Sequence[Dialect] = DIALECTS, **fields: Any
) -> Reading:
    """The reading of a span that is a retrieval."""
    found = dialects.read(span(attributes, **fields), within)
    assert found is not None
    return found


def texts(found: Reading) -> list[str | None]:
    """The texts of a reading's context."""
    return [passage.text for passage in found.context]
