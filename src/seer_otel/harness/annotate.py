"""Write results onto the spans of files, as the evaluator would."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, TracesData

from seer_otel import semconv
from seer_otel.dialects import attach, otlp
from seer_otel.dialects.attach.values import Value
from seer_otel.harness.evaluate import Outcome
from seer_otel.retrieval import Passage, Retrieval

_OURS: Final = (semconv.EVALUATED, semconv.VERDICT, semconv.SKIP_REASON)
"""Attributes of an earlier run; those of its scores begin with `EVAL_PREFIX`."""


def annotated(
    traces: TracesData, outcomes: Iterable[Outcome], thresholds: Mapping[str, float]
) -> TracesData:
    """
    Return the spans with their results, in place of those of an earlier run.

    An event logged inside a span gets a carrier under it; another becomes a span of its own.

    Args:
        traces: The spans as they were read.
        outcomes: What came of the retrievals among them, and of events.
        thresholds: By score; one at or above it is labelled `pass`.
    """
    written = TracesData()
    written.CopyFrom(traces)
    by_span: dict[tuple[bytes, bytes], Outcome] = {}
    for outcome in outcomes:
        retrieval = outcome.candidate.retrieval
        if outcome.candidate.from_event:
            written.MergeFrom(_of_event(outcome, thresholds))
        elif retrieval.trace_id and retrieval.span_id:
            key = bytes.fromhex(retrieval.trace_id), bytes.fromhex(retrieval.span_id)
            by_span[key] = outcome
    for resource_spans in written.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                if (span.trace_id, span.span_id) in by_span:
                    _write(span, by_span[span.trace_id, span.span_id], thresholds)
    return written


def write(traces: TracesData, path: Path) -> None:
    """Write traces as OTLP/JSON."""
    path.write_text(otlp.to_json(traces) + "\n", encoding="utf-8")


def _write(span: Span, outcome: Outcome, thresholds: Mapping[str, float]) -> None:
    attributes = [a for a in span.attributes if not _is_ours(a.key)]
    events = [event for event in span.events if not _is_result(event)]
    del span.attributes[:], span.events[:]
    span.attributes.extend(attributes)
    span.events.extend(events)
    span.ParseFromString(_appended(span, outcome, thresholds))


def _is_ours(attribute: str) -> bool:
    return attribute in _OURS or attribute.startswith(f"{semconv.EVAL_PREFIX}.")


def _is_result(event: Span.Event) -> bool:
    if event.name != semconv.GEN_AI_EVALUATION_EVENT:
        return event.name == semconv.EVALUATION_EVENT
    named = [a for a in event.attributes if a.key == semconv.GEN_AI_EVALUATION_NAME]
    return any(a.value.string_value.startswith("seer.") for a in named)


def _appended(span: Span, outcome: Outcome, thresholds: Mapping[str, float]) -> bytes:
    events: Sequence[Span.Event] = ()
    if outcome.verdict is not None:
        at_ns = max(span.start_time_unix_nano, span.end_time_unix_nano)
        events = attach.events(outcome.verdict, at_ns=at_ns, thresholds=thresholds)
    return attach.append(span.SerializeToString(), attributes=_attributes(outcome), events=events)


def _attributes(outcome: Outcome) -> Mapping[str, Value]:
    if outcome.verdict is not None:
        return attach.attributes(outcome.verdict)
    return attach.unevaluated("skipped", outcome.candidate.skip_reason or "")


def _of_event(outcome: Outcome, thresholds: Mapping[str, float]) -> TracesData:
    retrieval = outcome.candidate.retrieval
    if retrieval.trace_id and retrieval.span_id:
        return TracesData.FromString(
            attach.carrier(
                attach.Target(
                    retrieval.trace_id, retrieval.span_id, retrieval.start_ns, retrieval.end_ns
                ),
                verdict=outcome.verdict,
                attributes=_attributes(outcome) if outcome.verdict is None else {},
                thresholds=thresholds,
                resource=b"",
            )
        )
    span = _span(retrieval)
    span.ParseFromString(_appended(span, outcome, thresholds))
    scoped = ScopeSpans(scope=InstrumentationScope(name=semconv.SCOPE_NAME), spans=[span])
    return TracesData(resource_spans=[ResourceSpans(scope_spans=[scoped])])


def _span(retrieval: Retrieval) -> Span:
    """Make the span that an event stands for; ids that it lacks follow from its record id."""
    digest = hashlib.sha256((retrieval.record_id or "").encode()).digest()
    texts = {
        semconv.GEN_AI_OPERATION: "retrieval",
        semconv.TASK: retrieval.task,
        semconv.SUBQUERY: retrieval.subquery,
        semconv.CONTEXT: json.dumps([_item(p) for p in retrieval.context], ensure_ascii=False),
    }
    values = {key: AnyValue(string_value=text) for key, text in texts.items() if text is not None}
    if retrieval.is_final_context:
        values[semconv.IS_FINAL_CONTEXT] = AnyValue(bool_value=True)
    return Span(
        trace_id=bytes.fromhex(retrieval.trace_id) if retrieval.trace_id else digest[:16],
        span_id=digest[16:24],
        parent_span_id=bytes.fromhex(retrieval.parent_span_id or ""),
        name=retrieval.span_name or "retrieval",
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=retrieval.start_ns,
        end_time_unix_nano=retrieval.end_ns,
        attributes=[KeyValue(key=key, value=value) for key, value in values.items()],
    )


def _item(passage: Passage) -> dict[str, object]:
    fields = ("text", "id", "source", "score", "distance", "rerank_score", "rank")
    return {name: value for name in fields if (value := getattr(passage, name)) is not None}
