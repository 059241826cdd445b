"""What one dialect reads from one span, before the rest of its trace is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from seer_otel.dialects.span import Span
from seer_otel.retrieval import GroundTruth, Passage

OwnState = Literal["retrieval", "empty", "not_evaluable"]
"""`retrieval` and `empty` (a real empty result) are judged."""

Reason = Literal[
    "span_failed",
    "redacted",
    "attributes_dropped",
    "multiple_queries",
    "truncated",
    "no_content",
    "no_query",
]


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What one dialect read from one retrieval span.

    `no_query` is never the reading's own reason: whether a task serves instead is known only with
    the trace (see `dialects.trace`).
    """

    dialect: str
    state: OwnState
    reason: Reason | None = None
    """Set exactly where `state` is `not_evaluable`."""
    query: str | None = None
    """The span's own query; None where it has none that can be read."""
    query_redacted: bool = False
    context: tuple[Passage, ...] = ()
    """Every item in the order given. Empty where `attributes_dropped` or `truncated`."""
    list_is_ranked: bool = True
    task: str | None = None
    """`seer.task` on the span itself."""
    conversation_id: str | None = None
    is_final_context: bool = False
    sampled: bool | None = None
    """`seer.sampled` on the span."""
    sample_rate: float | None = None
    """`seer.sample_rate` on the span."""
    ground_truth: GroundTruth | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """`seer.metadata` on the span."""
    surroundings: Mapping[str, Any] = field(default_factory=dict)
    """Filter keys that the resource and other conventions give; `metadata` goes before them."""
    expected_outcome: str | None = None
    passages_dropped: int = 0


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """One instrumentation that writes a dialect, for the page that tells its users what to do."""

    name: str
    """As its users know it. Markdown, like the rest."""
    needs: str
    """What to switch on, or not to exceed, for its retrievals to be judged."""
    lost: str = "–"
    """What it never records, or cuts, and what serves instead."""


class Dialect(Protocol):
    """
    One way of recording a retrieval: a module that has these four names.

    Adding a dialect is adding its module to `dialects.DIALECTS`.
    """

    name: str
    markers: tuple[bytes, ...]
    """Byte strings of which every span of this dialect contains at least one, encoded as OTLP."""
    instrumentations: tuple[Instrumentation, ...]
    """Who writes it."""

    def read(self, span: Span) -> Reading | None:
        """
        Read one span.

        Returns None where the span is no retrieval of this dialect. Never raises for what a span
        holds.
        """
        ...
