"""OpenTelemetry GenAI semantic conventions: retrieval spans of any instrumentation."""

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.passages import EMPTY
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import number

name = "genai"
markers: tuple[bytes, ...] = (
    b"retrieval",
)  # the value of the operation; its key is on every GenAI span
_CAPTURE = "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY` or `SPAN_AND_EVENT`"
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "OpenTelemetry GenAI: LangChain, LlamaIndex, from 1.2b0",
        f"{_CAPTURE}, and a resolver for the texts, or `seer.context`.",
        "The texts: ids and scores alone are recorded.",
    ),
    Instrumentation("OpenTelemetry GenAI: LangChain, 1.1b0", f"{_CAPTURE}.", "Scores."),
    Instrumentation(
        "Any other that follows the convention, such as LoongSuite",
        "`gen_ai.retrieval.documents` with a text in each item (`content` or `text`).",
    ),
)


def read(span: Span) -> Reading | None:
    """Read a span whose operation is `retrieval`."""
    if span.attributes.get(semconv.GEN_AI_OPERATION) != "retrieval":
        return None
    found = passages.in_attribute(span.attributes.get(semconv.GEN_AI_DOCUMENTS))
    if found.kind == "absent" and _counted_none(span):
        found = EMPTY
    return compose(span, name, question(span, semconv.GEN_AI_QUERY), passages.ranked(found))


def _counted_none(span: Span) -> bool:
    return number(span.attributes.get("gen_ai.retrieval.document_count")) == 0
