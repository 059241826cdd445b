"""Our own dialect: what `seer_otel.instrument` writes, and applications in any language may."""

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span

name = "seer"
markers: tuple[bytes, ...] = (semconv.CONTEXT.encode(), b"retrieval")
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation("seer-otel, or `seer.*` written by hand in any language", "`seer.context`"),
)


def read(span: Span) -> Reading | None:
    """Read a span that holds a context, or is a retrieval that says it is ours."""
    if not _fits(span):
        return None
    return compose(
        span,
        name,
        question(span, semconv.SUBQUERY, semconv.GEN_AI_QUERY),
        passages.in_attribute(span.attributes.get(semconv.CONTEXT), "text"),
        list_is_ranked=False,
        blank_is_empty=True,
    )


def _fits(span: Span) -> bool:
    if semconv.CONTEXT in span.attributes:
        return True
    is_ours = semconv.SUBQUERY in span.attributes or span.scope_name == semconv.SCOPE_NAME
    return is_ours and span.attributes.get(semconv.GEN_AI_OPERATION) == "retrieval"
