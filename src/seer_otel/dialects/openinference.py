"""OpenInference: retrievers and rerankers of LangChain, LlamaIndex, Haystack and many others."""

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.passages import ABSENT, DROPPED, EMPTY, Documents
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import is_redacted

name = "openinference"
markers: tuple[bytes, ...] = (
    semconv.OPENINFERENCE_KIND.encode(),
)  # the kind itself comes in any case
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "OpenInference: LangChain, LlamaIndex, Haystack and others",
        "Neither `OPENINFERENCE_HIDE_INPUTS` nor `OPENINFERENCE_HIDE_OUTPUTS` nor "
        "`OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS`. A document takes 4 attributes, of 128: above "
        "30 documents, or 15 of a reranker, raise `OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT`.",
        "Scores with LangChain; the query of Haystack's retrievers by vector and of some rankers.",
    ),
)


def read(span: Span) -> Reading | None:
    """Read a RETRIEVER or a RERANKER; a reranker's output is the retrieval, not its candidates."""
    kind = span.attributes.get(semconv.OPENINFERENCE_KIND)
    match kind.upper() if isinstance(kind, str) else None:
        case "RETRIEVER":
            asked = question(span, "input.value", semconv.GEN_AI_QUERY)
            found = _documents(span, "retrieval.documents", mirror=semconv.GEN_AI_DOCUMENTS)
        case "RERANKER":
            asked = question(span, "reranker.query", "input.value")
            found = _documents(span, "reranker.output_documents", mirror=None)
        case _:
            return None
    return compose(span, name, asked, passages.ranked(found))


def _documents(span: Span, key: str, mirror: str | None) -> Documents:
    """
    Read the documents, however they are encoded; the same ones in two encodings are read once.

    One attribute with all of them is whole or absent. Flattened keys are the convention, though,
    so a span that lost attributes may have lost any of those, and the mirror is made from what
    was left.
    """
    attributes = span.attributes
    output = attributes.get("output.value")
    whole = passages.in_attribute(attributes.get(key))
    flat = passages.flattened(attributes, key, dropped=span.dropped_attributes)
    if whole.kind == "listed" or (whole.kind != "absent" and flat.kind == "absent"):
        return passages.with_ids(whole, output)
    if flat.kind != "absent":
        return passages.with_ids(flat, output)
    if passages.is_empty_result(output):
        return EMPTY
    if span.dropped_attributes and not span.failed:
        return DROPPED
    mirrored = passages.in_attribute(attributes.get(mirror)) if mirror else ABSENT
    if mirrored.kind == "absent" and is_redacted(output):
        return Documents("hidden")
    return passages.with_ids(mirrored, output)
