"""A retrieval event, from what an application holds to the JSON that the evaluator takes."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final, Required, TypedDict

from opentelemetry import trace

from seer_otel.dialects import passages as documents
from seer_otel.dialects import record_ids
from seer_otel.dialects.values import text
from seer_otel.instrument import passages, scope, settings
from seer_otel.retrieval import GroundTruth, Passage

_PASSAGE: Final = ("text", "id", "source", "score", "distance", "rerank_score", "rank", "metadata")


class EventFields(TypedDict, total=False):
    """What may be said of one retrieval. It needs a context, and a task or a subquery."""

    context: Required[object]
    """
    What was retrieved: strings, dicts, pairs of document and score, or documents of LangChain,
    LlamaIndex and Haystack, as for `retrieval()`. An empty list says that nothing was found.
    """
    task: str | None
    """The user's question; that of the enclosing `request()` unless given."""
    subquery: str | None
    """What this hop was to answer, where that is not the task itself."""
    is_final_context: bool
    """Whether the answer is written from this context."""
    metadata: Mapping[str, object] | None
    """For filters and comparisons: `env`, `user_id`, `model`, `index`, anything."""
    ground_truth: GroundTruth | Mapping[str, object] | None
    """Labels, `gold_doc_ids` and `answer`. The judge never sees them."""
    conversation_id: str | None
    expected_outcome: str | None
    use_otel_trace: bool
    """Whether to take the ids of the current OpenTelemetry span, where it is recorded. True."""
    trace_id: str | int | None
    """Hexadecimal digits, or the number itself. Without one the event is a trace of its own."""
    span_id: str | int | None
    """The span that the results go under."""
    parent_span_id: str | int | None
    span_name: str | None
    created_at: datetime | str | float | None
    """When it happened; now, unless given."""
    sample_rate: float | None
    """0..1; the evaluator's rate unless given. The decision of a `request()` goes before that."""
    record_id: str | None
    """Made unless given. The same id again is the same event."""


def is_wanted(sample_rate: float | None) -> bool:
    """Return whether an event may be judged; not where the request it belongs to is not sampled."""
    return settings.clamped(sample_rate) is not None or scope.current().sampled is not False


def encoded(
    *,
    context: object,
    task: str | None = None,
    subquery: str | None = None,
    is_final_context: bool = False,
    metadata: Mapping[str, object] | None = None,
    ground_truth: GroundTruth | Mapping[str, object] | None = None,
    conversation_id: str | None = None,
    expected_outcome: str | None = None,
    use_otel_trace: bool = True,
    trace_id: str | int | None = None,
    span_id: str | int | None = None,
    parent_span_id: str | int | None = None,
    span_name: str | None = None,
    created_at: datetime | str | float | None = None,
    sample_rate: float | None = None,
    record_id: str | None = None,
) -> bytes:
    """Write an event as JSON, as things are here and now; see `EventFields`."""
    around = scope.current()
    rate = settings.clamped(sample_rate)
    if rate is None and around.sampled is not None:
        rate = float(around.sampled)
    current = trace.get_current_span().get_span_context()
    if trace_id is None and use_otel_trace and current.is_valid and current.trace_flags.sampled:
        trace_id, span_id = current.trace_id, current.span_id
    fields: dict[str, object] = {
        "record_id": record_id or record_ids.new(),
        "task": text(task) or around.task,
        "subquery": text(subquery),
        "context": _context(context),
        "is_final_context": is_final_context or None,
        "metadata": metadata or None,
        "ground_truth": _labels(ground_truth),
        "conversation_id": conversation_id,
        "expected_outcome": expected_outcome,
        "trace_id": _hex(trace_id, 32),
        "span_id": _hex(span_id, 16),
        "parent_span_id": _hex(parent_span_id, 16),
        "span_name": span_name,
        "created_at": _time(created_at),
        "sample_rate": rate,
    }
    present = {name: value for name, value in fields.items() if value is not None}
    return passages.as_json(present).encode()


def _context(context: object) -> list[object]:
    items = passages.read(passages.listed(context))
    return [_passage(passage) for passage in documents.listed(items, "text").passages]


def _passage(passage: Passage) -> object:
    said = {name: getattr(passage, name) for name in _PASSAGE}
    known = {name: value for name, value in said.items() if value or value == 0}
    return passage.text if known.keys() == {"text"} else {"text": passage.text, **known}


def _labels(ground_truth: GroundTruth | Mapping[str, object] | None) -> Mapping[str, Any] | None:
    return asdict(ground_truth) if isinstance(ground_truth, GroundTruth) else ground_truth


def _hex(identity: str | int | None, digits: int) -> str | None:
    return format(identity, f"0{digits}x") if isinstance(identity, int) else identity


def _time(at: datetime | str | float | None) -> str | float:
    if isinstance(at, str | int | float):
        return at
    return (at or datetime.now(UTC)).astimezone(UTC).isoformat()
