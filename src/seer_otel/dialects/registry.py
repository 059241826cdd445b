"""The dialects in use, and the one question to them: what does this span say?"""

from collections.abc import Iterable, Sequence
from typing import Final

from seer_otel import semconv
from seer_otel.dialects import (
    genai,
    haystack,
    langfuse,
    langsmith,
    mlflow,
    openinference,
    openlit,
    openllmetry,
    seer,
    spring_ai,
    trulens,
    vercel,
)
from seer_otel.dialects.reading import Dialect, Reading
from seer_otel.dialects.span import Span
from seer_otel.dialects.tool import ToolDialect

DIALECTS: Final[tuple[Dialect, ...]] = (
    seer,
    openinference,
    langfuse,
    mlflow,
    langsmith,
    trulens,
    haystack,
    openllmetry,
    openlit,
    spring_ai,
    vercel,
    genai,
)
"""
In the order in which they are asked.

Our own keys go before everybody's; a vendor's own marker before the GenAI operation, which some
vendors set misleadingly.
"""

MARKERS: Final = tuple(
    dict.fromkeys(marker for d in (*DIALECTS, ToolDialect(())) for marker in d.markers)
)
"""Byte strings: a span whose OTLP bytes contain none of them is no retrieval."""


def with_tools(names: Iterable[str]) -> tuple[Dialect, ...]:
    """Return the dialects, and that of the tools with these names where there are any."""
    named = frozenset(names)
    return (*DIALECTS, ToolDialect(named)) if named else DIALECTS


def read(span: Span, dialects: Sequence[Dialect] = DIALECTS) -> Reading | None:
    """
    Read a span in the first dialect that fits.

    Returns None where the span is no retrieval, and for spans that hold evaluations.
    """
    if _is_evaluation(span):
        return None
    readings = (dialect.read(span) for dialect in dialects)
    return next((reading for reading in readings if reading is not None), None)


def _is_evaluation(span: Span) -> bool:
    kind = span.attributes.get(semconv.OPENINFERENCE_KIND)
    return (
        (isinstance(kind, str) and kind.upper() == "EVALUATOR")
        or span.attributes.get(semconv.GEN_AI_OPERATION) == "evaluation"
        or (span.scope_name == semconv.SCOPE_NAME and span.name == semconv.EVALUATION_EVENT)
    )


def is_evaluated(span: Span) -> bool:
    """Whether a span carries a result of ours already. Judging it again would never end."""
    return semconv.EVALUATED in span.attributes or any(
        event.name == semconv.EVALUATION_EVENT for event in span.events
    )
