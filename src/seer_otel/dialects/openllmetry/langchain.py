"""OpenLLMetry's spans of LangChain retrievers."""

from seer_otel import semconv
from seer_otel.dialects import passages
from seer_otel.dialects.openllmetry.step import Found, asked, came_out
from seer_otel.dialects.passages import EMPTY
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import json_object, number


def find(span: Span) -> Found | None:
    """Find a retriever's run; its operation is one of OpenLLMetry's own."""
    if span.attributes.get(semconv.GEN_AI_OPERATION) != "vector_db_retrieve":
        return None
    output = came_out(span)
    fields = json_object(output)
    if "documents" not in fields and number(fields.get("count")) == 0:
        return Found(asked(span), EMPTY)
    return Found(asked(span), passages.in_attribute(output, *passages.LANGCHAIN_KEYS))
