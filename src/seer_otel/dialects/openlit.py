"""OpenLIT: retrievers of LangChain, cut to a few documents, and queries of Chroma without any."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.passages import ABSENT, EMPTY, Documents
from seer_otel.dialects.question import Question, unwrap
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import integer, parse_literal

name = "openlit"
markers: tuple[bytes, ...] = (b"retrieval", b"vectordb")
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "OpenLIT: LangChain",
        "`capture_message_content`, on by default; `max_content_length` above the longest passage, "
        "or unset.",
        "All documents but the first three, and scores; ids are those of files. What is there is "
        "judged, and `seer.passages.dropped` says how many are not.",
    ),
    Instrumentation(
        "OpenLIT: Chroma", "`seer.context`, or a retriever around the store.", "The documents."
    ),
)

_CUT_MARK: Final = "..."
_VECTORS: Final = re.compile(r"embeddings=([0-9]{1,9})\b")


def read(span: Span) -> Reading | None:
    """Read a retriever's run, or a query of a vector store; a get by ids is none."""
    operation = span.attributes.get(semconv.GEN_AI_OPERATION)
    if operation == "retrieval" and span.scope_name.startswith("openlit."):
        return _retriever(span)
    if operation == "vectordb":
        return _store(span)
    return None


def _retriever(span: Span) -> Reading:
    found = passages.in_attribute(span.attributes.get(semconv.GEN_AI_DOCUMENTS))
    count = integer(span.attributes.get("gen_ai.retrieval.document_count"))
    if found.kind == "absent" and count == 0:
        found = EMPTY
    known = len(found.passages) + found.left_out
    return compose(
        span,
        name,
        question(span, semconv.GEN_AI_QUERY),
        passages.ranked(_marked(found)),
        passages_dropped=max(0, (count or 0) - known) if known else 0,
    )


def _marked(documents: Documents) -> Documents:
    """Mark the texts that were cut on the way onto the span."""
    marked = (
        replace(passage, truncated=passage.readable and (passage.text or "").endswith(_CUT_MARK))
        for passage in documents.passages
    )
    return replace(documents, passages=tuple(marked))


def _store(span: Span) -> Reading | None:
    """Read a query of Chroma: what was asked is recorded, what was found is not."""
    asked = span.attributes.get("db.query.text")
    if not isinstance(asked, str):
        return None
    if asked.startswith("texts="):
        texts = _texts(asked.removeprefix("texts="))
        several, query = len(texts) > 1, unwrap(texts)
    elif asked.startswith("embeddings="):
        vectors = _VECTORS.match(asked)
        several, query = vectors is not None and int(vectors[1]) > 1, Question()
    else:
        return None
    return compose(span, name, query, ABSENT, several_queries=several)


def _texts(source: str) -> Sequence[object]:
    """Read the texts of a query: Python's notation of a list, or one text as it is."""
    try:
        texts = parse_literal(source)
    except ValueError:
        texts = [] if source.startswith("[") else source
    return texts if isinstance(texts, list | tuple) else [source]
