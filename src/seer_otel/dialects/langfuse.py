"""Langfuse: observations of the type `retriever`, by callback handler, decorator or hand."""

from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span

name = "langfuse"
markers: tuple[bytes, ...] = (b"langfuse.observation.type",)
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "Langfuse",
        'Nothing; observations made by hand need `as_type="retriever"`. A mask must leave the '
        "documents readable.",
        "Scores with LangChain; the session of a retriever that is called on its own.",
    ),
)


def read(span: Span) -> Reading | None:
    """Read a retriever observation: its output is whatever the retriever returned."""
    if span.attributes.get("langfuse.observation.type") != "retriever":
        return None
    output = span.attributes.get("langfuse.observation.output")
    found = passages.returned(output, *passages.LANGCHAIN_KEYS)
    return compose(span, name, question(span, "langfuse.observation.input"), passages.ranked(found))
