"""Haystack's own tracing: the retrievers and rankers of a pipeline."""

from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span

name = "haystack"
markers: tuple[bytes, ...] = (b"haystack.component.type",)
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "Haystack's own tracing: built in (2.x), `opentelemetry-haystack` (3.x)",
        "`HAYSTACK_CONTENT_TRACING_ENABLED=true`.",
        "The query of retrievers by vector and of some rankers: the task serves.",
    ),
)


def read(span: Span) -> Reading | None:
    """
    Read the run of a retriever or a ranker.

    Other components put out documents too, splitters and joiners among them: an indexing pipeline
    retrieves nothing.
    """
    component = span.attributes.get("haystack.component.type")
    if span.name != "haystack.component.run" or not isinstance(component, str):
        return None
    if not component.endswith(("Retriever", "Ranker")):
        return None
    found = passages.in_attribute(span.attributes.get("haystack.component.output"), "content")
    asked = question(span, "haystack.component.input")
    return compose(span, name, asked, passages.ranked(found))
