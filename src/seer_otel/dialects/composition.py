"""From what a dialect found on a span to its reading: the span's own state, and `seer.*` keys."""

from collections.abc import Mapping
from typing import Any, Final

from seer_otel import semconv
from seer_otel.dialects.inputs import conversation_id
from seer_otel.dialects.passages import Documents
from seer_otel.dialects.question import Question
from seer_otel.dialects.reading import OwnState, Reading, Reason
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import flag, identifier, json_object, number, text
from seer_otel.retrieval import GroundTruth

_RESOURCE_FILTERS: Final = (
    ("env", "deployment.environment.name"),
    ("env", "deployment.environment"),
    ("release", "service.version"),
)


def compose(
    span: Span,
    dialect: str,
    question: Question,
    documents: Documents,
    *,
    list_is_ranked: bool = True,
    blank_is_empty: bool = False,
    several_queries: bool = False,
    passages_dropped: int = 0,
) -> Reading:
    """
    Put a reading together.

    Args:
        span: The span that was read.
        dialect: The dialect's name.
        question: The span's own query.
        documents: The span's documents.
        list_is_ranked: Whether the convention says that documents are in rank order.
        blank_is_empty: Whether documents with blank texts only are an empty result. Elsewhere a
            blank text may be what is left where the recording of content is switched off.
        several_queries: Whether the documents answer more than one query, and no telling which.
        passages_dropped: How many documents the source says that it left out.
    """
    state, reason = _own_state(
        span, documents, several_queries=several_queries, blank_is_empty=blank_is_empty
    )
    attributes = span.attributes
    rate = number(attributes.get(semconv.SAMPLE_RATE))
    return Reading(
        dialect=dialect,
        state=state,
        reason=reason,
        query=question.text,
        query_redacted=question.redacted,
        context=documents.passages,
        list_is_ranked=list_is_ranked,
        task=text(attributes.get(semconv.TASK)),
        conversation_id=conversation_id(span),
        is_final_context=flag(attributes.get(semconv.IS_FINAL_CONTEXT)) is True,
        sampled=flag(attributes.get(semconv.SAMPLED)),
        sample_rate=rate if rate is not None and 0 <= rate <= 1 else None,
        ground_truth=ground_truth(attributes.get(semconv.GROUND_TRUTH)),
        metadata=json_object(attributes.get(semconv.METADATA)),
        surroundings=_surroundings(span),
        expected_outcome=text(attributes.get(semconv.EXPECTED_OUTCOME)),
        passages_dropped=passages_dropped + documents.left_out,
    )


def _own_state(
    span: Span, documents: Documents, *, several_queries: bool, blank_is_empty: bool
) -> tuple[OwnState, Reason | None]:
    """Return the first that holds; what the query adds is known with the trace only."""
    kind = documents.kind
    blank = [passage.text is not None for passage in documents.passages if not passage.readable]
    readable = len(documents.passages) - len(blank)
    if span.failed and kind in ("absent", "empty"):
        return "not_evaluable", "span_failed"
    if kind == "hidden":
        return "not_evaluable", "redacted"
    if kind == "dropped":
        return "not_evaluable", "attributes_dropped"
    if several_queries:
        return "not_evaluable", "multiple_queries"
    if kind == "cut":
        return "not_evaluable", "truncated"
    if kind == "empty" or (blank_is_empty and blank and not readable and all(blank)):
        return "empty", None
    if not readable:
        return "not_evaluable", "no_content"
    return "retrieval", None


def ground_truth(value: object) -> GroundTruth | None:
    """Read labels, `{gold_doc_ids?, answer?}`; None where there are none."""
    labels = json_object(value)
    gold = labels.get("gold_doc_ids")
    ids = [identifier(item) for item in gold] if isinstance(gold, list | tuple) else []
    answer = text(labels.get("answer"))
    if gold is None and answer is None:
        return None
    return GroundTruth(tuple(item for item in ids if item is not None), answer)


def _surroundings(span: Span) -> Mapping[str, Any]:
    """Return the filter keys that a span has without our metadata."""
    found = {
        name: value
        for name, key in reversed(_RESOURCE_FILTERS)
        if (value := text(span.resource.get(key))) is not None
    }
    return {**found, **json_object(span.attributes.get("metadata"))}
