"""From a verdict to the bytes that leave: inline on the held span, or beside it on a carrier."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2
from pydantic import TypeAdapter

from seer_otel.dialects import attach
from seer_otel.dialects.attach import Payload, Target
from seer_otel.dialects.trace import Node
from seer_otel.evaluator.envelope import Enclosed, Envelope
from seer_otel.evaluator.hold.entries import Outgoing
from seer_otel.retrieval import Retrieval
from seer_otel.semconv import RECORD_ID
from seer_otel.verdict import Outcome, Record, Verdict

RECORD: TypeAdapter[Record] = TypeAdapter(Record)


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes results, with the thresholds that label them."""

    thresholds: Mapping[str, float]
    payload: Payload = "keep"
    """What becomes of the documents on spans that go on."""

    def inline(
        self, request: bytes, verdict: Verdict | None, attributes: Mapping[str, str]
    ) -> Outgoing:
        """Append results to the one span of a request; without a verdict, only attributes."""
        envelope = Envelope.open(request)
        ((place, span),) = envelope.spans()
        events = []
        written: dict[str, Any] = dict(attributes)
        if verdict is not None:
            at_ns = target_of(request)[0].at_ns
            events = attach.events(verdict, at_ns=at_ns, thresholds=self.thresholds)
            written = {**attach.attributes(verdict), **written}
        onward = attach.shrink(span, self.payload)
        envelope.replace(place, attach.append(onward, attributes=written, events=events))
        return Outgoing(envelope.to_bytes(), 1, "retrieval")

    def beside(
        self, request: bytes, verdict: Verdict | None, attributes: Mapping[str, str]
    ) -> Outgoing:
        """Make the carrier span for the one span of a request."""
        target, enclosed = target_of(request)
        carrier = attach.carrier(
            target,
            verdict=verdict,
            attributes=attributes,
            thresholds=self.thresholds,
            resource=enclosed.resource,
            resource_schema_url=enclosed.resource_schema_url,
        )
        return Outgoing(carrier, 1, "carrier")

    def logs(self, request: bytes, verdict: Verdict) -> bytes:
        """Make the log records of a verdict: an export request of the logs signal."""
        target, enclosed = target_of(request)
        return attach.log_records(
            verdict,
            target,
            thresholds=self.thresholds,
            resource=enclosed.resource,
            resource_schema_url=enclosed.resource_schema_url,
        )


def target_of(request: bytes) -> tuple[Target, Enclosed]:
    """Return what a carrier must know of the one span of a request."""
    envelope = Envelope.open(request)
    ((place, raw),) = envelope.spans()
    span = trace_pb2.Span.FromString(raw)
    target = Target(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        flags=span.flags,
        trace_state=span.trace_state,
        record_id=next((a.value.string_value for a in _record_ids(span)), "") or None,
    )
    return target, envelope.enclosed(place)


def skeleton(request: bytes) -> bytes:
    """Return a request with the same span, less all that a carrier does not need."""
    envelope = Envelope.open(request)
    ((place, raw),) = envelope.spans()
    span = trace_pb2.Span.FromString(raw)
    bare = trace_pb2.Span(
        trace_id=span.trace_id,
        span_id=span.span_id,
        start_time_unix_nano=span.start_time_unix_nano,
        end_time_unix_nano=span.end_time_unix_nano,
        flags=span.flags,
        trace_state=span.trace_state,
        attributes=_record_ids(span),
    )
    envelope.replace(place, bare.SerializeToString())
    return envelope.to_bytes()


def _record_ids(span: trace_pb2.Span) -> list[KeyValue]:
    """Return the attribute that only spans made of events have."""
    return [attribute for attribute in span.attributes if attribute.key == RECORD_ID]


def record(retrieval: Retrieval, verdict: Verdict) -> Record:
    """Return what is kept of a verdict."""
    first = verdict.evaluations[0]
    return Record(
        record_id=retrieval.record_id or "",
        evaluated=first.status,
        reason=first.reason,
        trace_id=retrieval.trace_id,
        span_id=retrieval.span_id,
        task=retrieval.task,
        subquery=None if retrieval.subquery == retrieval.task else retrieval.subquery,
        conversation_id=retrieval.conversation_id,
        dialect=retrieval.dialect,
        verdict=verdict,
    )


def unjudged(node: Node, evaluated: Outcome, reason: str) -> Record:
    """Return what is kept of an event that leaves without a verdict."""
    return Record(
        record_id=node.record_id or "",
        evaluated=evaluated,
        reason=reason,
        trace_id=node.trace_id,
        span_id=node.target_id,
        dialect=node.reading.dialect if node.reading else None,
    )


def kept(record: Record) -> tuple[str, str]:
    """Return a record's id and its JSON."""
    return record.record_id, RECORD.dump_json(record).decode()
