"""The dialects in use, and the one question to them: what does this span say?"""

from typing import Final

from seer_otel import semconv
from seer_otel.dialects import genai, openinference, seer
from seer_otel.dialects.reading import Dialect, Reading
from seer_otel.dialects.span import Span

DIALECTS: Final[tuple[Dialect, ...]] = (seer, openinference, genai)
"""
In the order in which they are asked.

Our own keys go before everybody's; a vendor's own marker before the GenAI operation, which some
vendors set misleadingly.
"""

MARKERS: Final = tuple(dict.fromkeys(marker for d in DIALECTS for marker in d.markers))
"""Byte strings: a span whose OTLP bytes contain none of them is no retrieval."""


def read(span: Span) -> Reading | None:
    """
    Read a span in the first dialect that fits.

    Returns None where the span is no retrieval, and for spans that hold evaluations.
    """
    if _is_evaluation(span):
        return None
    readings = (dialect.read(span) for dialect in DIALECTS)
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
