"""Why a retrieval span is not judged, in words, and what to do about it."""

from collections.abc import Mapping
from typing import Final

from seer_otel.dialects.reading import Reason

WHAT_TO_DO: Final[Mapping[Reason, str]] = {
    "span_failed": (
        "The retriever failed and brought no documents. There is nothing to judge; "
        "the span's error says what went wrong."
    ),
    "redacted": (
        "The texts were replaced by __REDACTED__ before the span left the application. "
        "Let them through where it is allowed: OPENINFERENCE_HIDE_INPUTS, "
        "OPENINFERENCE_HIDE_OUTPUTS and OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS hide them."
    ),
    "attributes_dropped": (
        "The span had more attributes or events than it may have, and documents are among those "
        "lost. Raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT (128 by default; a document takes about 4), "
        "and with vector stores OTEL_SPAN_EVENT_COUNT_LIMIT."
    ),
    "multiple_queries": (
        "The span holds the documents of several queries and does not say which are whose. "
        "Ask the store one query at a time, or record the retrieval around it."
    ),
    "truncated": (
        "The attribute with the documents was cut and no longer parses. Raise "
        "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, "
        "or whatever cuts attributes on the way here."
    ),
    "no_content": (
        "The span has no texts of documents. Switch the recording of content on "
        "(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY, "
        "HAYSTACK_CONTENT_TRACING_ENABLED=true), have a resolver find the texts by their ids, "
        "or write seer.context."
    ),
    "no_query": (
        "Neither the span nor one above it says what was asked. Write seer.task, "
        "or record the input of the request's root span."
    ),
}

NESTED: Final = "Part of a retrieval that is counted once, on another of its spans."
"""What the status `nested` means."""
