"""Spring AI: the queries of its vector stores, whose documents stay in the application."""

from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.passages import ABSENT
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span

name = "spring_ai"
markers: tuple[bytes, ...] = (b"spring.ai.kind",)
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "Spring AI",
        "`seer.context` on the span, from an observation filter of the application.",
        "The documents: they go to the log at most "
        "(`spring.ai.vectorstore.observations.log-query-response`).",
    ),
)


def read(span: Span) -> Reading | None:
    """Read a query of a vector store; adding and deleting are none."""
    attributes = span.attributes
    if attributes.get("spring.ai.kind") != "vector_store":
        return None
    if attributes.get("db.operation.name") != "query":
        return None
    return compose(span, name, question(span, "db.vector.query.content"), ABSENT)
