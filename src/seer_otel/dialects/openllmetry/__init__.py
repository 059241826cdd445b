"""OpenLLMetry (Traceloop): LangChain, LlamaIndex, Haystack 2, and six vector stores."""

from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.openllmetry import haystack, langchain, llama_index, stores
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span

name = "openllmetry"
markers: tuple[bytes, ...] = (
    b"traceloop.entity.output",
    b"gen_ai.task.output",
    b"vector_db_retrieve",
    *stores.SYSTEMS,
)
_CONTENT = "`TRACELOOP_TRACE_CONTENT` unset, or `true`"
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "OpenLLMetry: LangChain",
        f"{_CONTENT}; `use_legacy_attributes` as it is by default.",
        "Ids and scores.",
    ),
    Instrumentation("OpenLLMetry: LlamaIndex", f"{_CONTENT}.", "Failures: no span comes of them."),
    Instrumentation(
        "OpenLLMetry: Haystack 2",
        f"{_CONTENT}; the retriever at the end of its pipeline. Elsewhere Haystack's own tracing "
        "serves.",
        "Failures: they cannot be told from those of any other pipeline.",
    ),
    Instrumentation(
        "OpenLLMetry: Chroma",
        "One query at a time, and no more than 128 results, or a higher "
        "`OTEL_SPAN_EVENT_COUNT_LIMIT`.",
        "The query: the task serves. 0.47 records the first result alone.",
    ),
    Instrumentation(
        "OpenLLMetry: Pinecone, Milvus",
        "As Chroma; and the texts among the fields that come back (`include_metadata`, "
        "`output_fields`), as `content`, `page_content`, `text` or `document`.",
        "The query: the task serves.",
    ),
    Instrumentation(
        "OpenLLMetry: Qdrant, Weaviate, LanceDB",
        "`seer.context`, or a retriever around the store.",
        "Query and documents.",
    ),
)


def read(span: Span) -> Reading | None:
    """Read a retriever's run, a reranking, a pipeline that ends in documents, or a search."""
    parts = (part.find(span) for part in (langchain, llama_index, haystack, stores))
    found = next((found for found in parts if found is not None), None)
    if found is None:
        return None
    return compose(
        span,
        name,
        found.question,
        passages.ranked(found.documents),
        several_queries=found.several_queries,
    )
