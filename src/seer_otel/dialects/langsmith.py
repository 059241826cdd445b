"""LangSmith over OpenTelemetry: runs of the type `retriever`, of LangChain or traced functions."""

from typing import Final

from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.inputs import question
from seer_otel.dialects.passages import Documents
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import json_object

name = "langsmith"
markers: tuple[bytes, ...] = (b"langsmith.span.kind",)
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "LangSmith over OpenTelemetry",
        "`LANGSMITH_OTEL_ENABLED=true`, and neither `LANGSMITH_HIDE_INPUTS` nor "
        '`LANGSMITH_HIDE_OUTPUTS`; traced functions need `run_type="retriever"`.',
        "Scores with LangChain.",
    ),
)

_OUTPUTS: Final = ("documents", "output", "outputs")
"""
Where a run keeps what it returned.

LangChain's retrievers under the first; traced functions under the second in Python, and under the
third in JavaScript.
"""


def read(span: Span) -> Reading | None:
    """Read a retriever run. Its GenAI operation says `embeddings`, and is passed over."""
    if span.attributes.get("langsmith.span.kind") != "retriever":
        return None
    found = _documents(span.attributes.get("gen_ai.completion"))
    return compose(span, name, question(span, "gen_ai.prompt"), passages.ranked(found))


def _documents(completion: object) -> Documents:
    outputs = json_object(completion)
    returned = next((outputs[key] for key in _OUTPUTS if key in outputs), completion)
    return passages.returned(returned, *passages.LANGCHAIN_KEYS)
