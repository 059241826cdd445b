"""MLflow and Databricks: spans of the types RETRIEVER and RERANKER."""

from typing import Final

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span

name = "mlflow"
markers: tuple[bytes, ...] = (b"mlflow.spanType", b"RETRIEVER", b"RERANKER")
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "MLflow, Databricks",
        "`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` set to the evaluator: MLflow keeps a tracer provider "
        "of its own, which no processor of the application's sees.",
        "Conversations.",
    ),
    Instrumentation(
        "MLflow with `MLFLOW_ENABLE_OTEL_GENAI_SEMCONV`",
        "`MLFLOW_ENABLE_OTEL_GENAI_SEMCONV=false`, or `seer.context`.",
        "Queries and documents.",
    ),
)

_TYPE: Final = "mlflow.spanType"
_SCOPE: Final = "mlflow.tracing.provider"


def read(span: Span) -> Reading | None:
    """Read a retriever or a reranker; a reranker's output is the retrieval, not its candidates."""
    if _type(span) not in ("RETRIEVER", "RERANKER"):
        return None
    output = span.attributes.get("mlflow.spanOutputs")
    found = passages.returned(output, *passages.LANGCHAIN_KEYS)
    return compose(span, name, question(span, "mlflow.spanInputs"), passages.ranked(found))


def _type(span: Span) -> str | None:
    """
    Return the type of a span of MLflow.

    It is JSON, its quotes included. In the mode that writes GenAI attributes it is the operation,
    which other instrumentations would not spell so; inputs and outputs are lost there.
    """
    kind = span.attributes.get(_TYPE)
    if kind is None and span.scope_name == _SCOPE:
        kind = span.attributes.get(semconv.GEN_AI_OPERATION)
    return kind.strip('"') if isinstance(kind, str) else None
