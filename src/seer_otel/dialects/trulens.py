"""TruLens: functions instrumented as retrievals."""

from typing import Final

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.passages import EMPTY, Documents
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Attributes, Span
from seer_otel.dialects.values import number

name = "trulens"
markers: tuple[bytes, ...] = (b"ai.observability.span_type",)
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "TruLens",
        "`span_type=SpanAttributes.SpanType.RETRIEVAL`, with `QUERY_TEXT` and "
        "`RETRIEVED_CONTEXTS` among the attributes.",
        "Ids and scores.",
    ),
)

_QUERY: Final = "ai.observability.retrieval.query_text"
_CONTEXTS: Final = "ai.observability.retrieval.retrieved_contexts"
_COUNT: Final = "ai.observability.retrieval.num_contexts"


def read(span: Span) -> Reading | None:
    """Read a retrieval; query and contexts are mirrored in GenAI attributes."""
    if span.attributes.get("ai.observability.span_type") != "retrieval":
        return None
    asked = question(span, _QUERY, semconv.GEN_AI_QUERY)
    return compose(span, name, asked, passages.ranked(_documents(span.attributes)))


def _documents(attributes: Attributes) -> Documents:
    """Read the contexts; an empty list of them is not written, only its count."""
    for key in (_CONTEXTS, semconv.GEN_AI_DOCUMENTS):
        found = passages.returned(attributes.get(key))
        if found.kind != "absent":
            return found
    return EMPTY if number(attributes.get(_COUNT)) == 0 else found
