"""What one span contributes to its trace."""

from collections.abc import Sequence
from dataclasses import dataclass

from seer_otel.dialects.inputs import conversation_id, input_question
from seer_otel.dialects.reading import Dialect, Reading
from seer_otel.dialects.registry import DIALECTS, read
from seer_otel.dialects.span import Span


@dataclass(frozen=True, slots=True)
class Node:
    """One span of a trace. With its ids alone, it is a link between others."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    start_ns: int = 0
    end_ns: int = 0
    name: str = ""
    input: str | None = None
    """What the span was asked, by any convention."""
    input_redacted: bool = False
    """Whether it was asked something that was hidden."""
    conversation_id: str | None = None
    reading: Reading | None = None
    """Set exactly where the span is a retrieval."""
    record_id: str | None = None
    """
    Set where this is a logged event in the trace's place of a span. It is nested in nothing: who
    logs a retrieval wants it judged.
    """
    about: str | None = None
    """Id of the span that an event was logged in. Its own id is then nobody else's."""

    @property
    def target_id(self) -> str:
        """Id of the span that its results are about."""
        return self.about or self.span_id


def node(span: Span, dialects: Sequence[Dialect] = DIALECTS) -> Node:
    """Keep of a span what its trace needs to know."""
    reading = read(span, dialects)
    asked = input_question(span)
    return Node(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_span_id,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        input=asked.text or (reading.query if reading else None),
        input_redacted=asked.redacted,
        conversation_id=conversation_id(span),
        reading=reading,
    )
