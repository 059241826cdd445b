"""What the limits of an SDK took away from a span, and which limit would have kept it."""

import re
from typing import Final

from seer_otel.dialects.span import Span

_DOCUMENT: Final = re.compile(
    r"(?:retrieval\.documents|reranker\.output_documents)\.([0-9]{1,9})\.document\.(.+)", re.DOTALL
)


def evicted(span: Span) -> str | None:
    """
    Say what a span lost, in numbers, and what to set; None where nothing shows that it did.

    Of documents that are spread over keys those without a text are counted as evicted; how many
    more stood beyond the last one, nothing on the span can tell.
    """
    if span.dropped_events:
        events = len(span.events) + span.dropped_events
        return (
            f"{events} events, {span.dropped_events} evicted: "
            f"set OTEL_SPAN_EVENT_COUNT_LIMIT to {events} or more."
        )
    found = [match for key in span.attributes if (match := _DOCUMENT.fullmatch(key))]
    if not found:
        return None
    documents = max(int(match[1]) for match in found) + 1
    whole = len({match[1] for match in found if match[2] == "content"})
    lost = f"{documents} documents, {documents - whole} evicted"
    if not span.dropped_attributes:
        return f"{lost}: raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT."
    attributes = len(span.attributes) + span.dropped_attributes
    return (
        f"{lost}, with {span.dropped_attributes} attributes: "
        f"set OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT to {attributes} or more."
    )
