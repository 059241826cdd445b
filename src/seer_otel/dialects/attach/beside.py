"""Results beside a span that has left: a carrier span under it, and log records about it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from seer_otel import semconv
from seer_otel.dialects.attach import inline, wire
from seer_otel.dialects.attach.results import results
from seer_otel.dialects.attach.values import Value, key_values
from seer_otel.verdict import Verdict

_TRACE_FLAGS: Final = 0xFF
"""The W3C flags among a span's flags; the bits above say whether its parent was remote."""


@dataclass(frozen=True, slots=True)
class Target:
    """The span that results are about."""

    trace_id: str
    """32 hex digits."""
    span_id: str
    """16 hex digits."""
    start_ns: int
    end_ns: int
    flags: int = 0
    """`Span.flags`; its low 8 bits are the trace flags, of which the lowest says sampled."""
    trace_state: str = ""
    record_id: str | None = None
    """Of the event that was logged in the span, where the results are that event's."""

    @property
    def at_ns(self) -> int:
        """The time of its results: its end; its start where a broken clock put the end before."""
        return max(self.start_ns, self.end_ns)


def carrier(
    target: Target,
    *,
    verdict: Verdict | None,
    attributes: Mapping[str, Value] = {},
    thresholds: Mapping[str, float] = {},
    resource: bytes,
    resource_schema_url: bytes = b"",
) -> bytes:
    """
    Return a serialized `ExportTraceServiceRequest` with one span that carries results.

    The span is a child of the target, with one link to it, of no duration at the target's end, so
    that an evaluation lengthens no trace. The same verdict makes the same span, id included.

    Args:
        target: The span that the results are about.
        verdict: Its events and attributes are written; None where there is only a reason.
        attributes: Written besides, as what `unevaluated` returns.
        thresholds: By score; see `events`.
        resource: The target's serialized `Resource`; kept byte for byte.
        resource_schema_url: The schema URL of that resource.
    """
    trace_id, target_id = bytes.fromhex(target.trace_id), bytes.fromhex(target.span_id)
    flags = target.flags & _TRACE_FLAGS
    written: dict[str, Value] = {
        semconv.OPENINFERENCE_KIND: "EVALUATOR",
        semconv.GEN_AI_OPERATION: "evaluation",
    }
    if target.record_id is not None:
        written[semconv.RECORD_ID] = target.record_id
    events: list[Span.Event] = []
    if verdict is not None:
        written |= inline.attributes(verdict)
        events = inline.events(verdict, at_ns=target.at_ns, thresholds=thresholds)
    link = Span.Link(
        trace_id=trace_id, span_id=target_id, trace_state=target.trace_state, flags=flags
    )
    span = Span(
        trace_id=trace_id,
        span_id=_carrier_id(target, verdict),
        trace_state=target.trace_state,
        parent_span_id=target_id,
        flags=flags,
        name=semconv.EVALUATION_EVENT,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=target.at_ns,
        end_time_unix_nano=target.at_ns,
        attributes=key_values({**written, **attributes}),
        events=events,
        links=[link],
    )
    scoped = ScopeSpans(scope=InstrumentationScope(name=semconv.SCOPE_NAME), spans=[span])
    return _request(
        resource, ResourceSpans(scope_spans=[scoped]).SerializeToString(), resource_schema_url
    )


def log_records(
    verdict: Verdict,
    target: Target,
    *,
    thresholds: Mapping[str, float] = {},
    resource: bytes,
    resource_schema_url: bytes = b"",
) -> bytes:
    """
    Return a serialized `ExportLogsServiceRequest`: one `gen_ai.evaluation.result` a score.

    Every score of every scope, a failure of each scope included, each with the ids of the target.
    Empty where there is neither.
    """
    records = [
        LogRecord(
            time_unix_nano=target.at_ns,
            observed_time_unix_nano=_nanoseconds(evaluation.provenance.evaluated_at),
            event_name=semconv.GEN_AI_EVALUATION_EVENT,
            trace_id=bytes.fromhex(target.trace_id),
            span_id=bytes.fromhex(target.span_id),
            flags=target.flags & _TRACE_FLAGS,
            attributes=key_values(
                {
                    **result,
                    semconv.JUDGE_NAME: evaluation.provenance.judge,
                    semconv.JUDGE_REVISION: evaluation.provenance.revision,
                }
            ),
        )
        for evaluation in verdict.evaluations
        for _, result in results(evaluation, thresholds)
    ]
    if not records:
        return b""
    scoped = ScopeLogs(scope=InstrumentationScope(name=semconv.SCOPE_NAME), log_records=records)
    return _request(
        resource, ResourceLogs(scope_logs=[scoped]).SerializeToString(), resource_schema_url
    )


def _carrier_id(target: Target, verdict: Verdict | None) -> bytes:
    """
    Return a span id that the same results always get, and other results of the target never.

    The queries are part of it: a task that comes late is judged under the same scope as the one
    it replaces.
    """
    scopes = [
        (e.scope, e.provenance.revision, e.judgement.query if e.judgement else None)
        for e in (verdict.evaluations if verdict is not None else ())
    ]
    event = [] if target.record_id is None else [target.record_id]
    identity = json.dumps([target.trace_id.lower(), target.span_id.lower(), scopes, *event])
    return hashlib.sha256(identity.encode()).digest()[:8]


def _request(resource: bytes, scoped: bytes, schema_url: bytes) -> bytes:
    """
    Wrap scoped spans or logs into an export request, the resource's bytes as they are.

    Traces and logs number these fields alike: resource 1, schema_url 3, and 1 in the request.
    """
    return _field(1, _field(1, resource) + scoped + (_field(3, schema_url) if schema_url else b""))


def _field(number: int, payload: bytes) -> bytes:
    return bytes([number << 3 | 2]) + wire.encoded(len(payload)) + payload


def _nanoseconds(rfc3339: str) -> int:
    moment = datetime.fromisoformat(rfc3339)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000
