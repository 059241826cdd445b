"""From a verdict to the bytes that leave: inline on the held span, or beside it on a carrier."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.trace.v1 import trace_pb2
from pydantic import TypeAdapter

from seer_otel.dialects import attach
from seer_otel.dialects.attach import Target
from seer_otel.evaluator.envelope import Enclosed, Envelope
from seer_otel.evaluator.hold.store import Key, Outgoing
from seer_otel.retrieval import Retrieval
from seer_otel.verdict import Verdict

_VERDICT: TypeAdapter[Verdict] = TypeAdapter(Verdict)
_RECORD: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes results, with the thresholds that label them."""

    thresholds: Mapping[str, float]

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
        envelope.replace(place, attach.append(span, attributes=written, events=events))
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
    )
    envelope.replace(place, bare.SerializeToString())
    return envelope.to_bytes()


def record(key: Key, retrieval: Retrieval, verdict: Verdict) -> str:
    """Return the JSON that is kept of a verdict; passages are not copied."""
    content = {
        "record_id": key.record_id,
        "trace_id": key.trace_id.hex(),
        "span_id": key.span_id.hex(),
        "task": retrieval.task,
        "subquery": retrieval.subquery,
        "conversation_id": retrieval.conversation_id,
        "dialect": retrieval.dialect,
        "verdict": _VERDICT.dump_python(verdict, mode="json"),
    }
    return _RECORD.dump_json(content).decode()
