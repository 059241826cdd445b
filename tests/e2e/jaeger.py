"""What Jaeger has stored, asked through its HTTP API."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from .processes import wait_until

SpanKey = tuple[str, str]
"""Trace id and span id, in small hex digits."""


@dataclass(frozen=True)
class StoredEvent:
    """A span event as it is stored."""

    name: str
    time_ns: int
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class StoredSpan:
    """A span as it is stored."""

    key: SpanKey
    parent_span_id: str
    name: str
    scope: str
    service: str
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Any]
    events: tuple[StoredEvent, ...]
    links: tuple[SpanKey, ...]

    def results(self, name: str = "seer.evaluation") -> list[Mapping[str, Any]]:
        """Return the attributes of its events of this name."""
        return [event.attributes for event in self.events if event.name == name]

    @property
    def is_carrier(self) -> bool:
        """Whether the evaluator made it."""
        return self.scope == "seer_otel" and self.name == "seer.evaluation"


class Jaeger:
    """A running Jaeger."""

    def __init__(self, *, query: str, otlp_grpc: str, otlp_http: str) -> None:
        """Take its addresses, each `host:port`."""
        self.query = query
        self.otlp_grpc = otlp_grpc
        self.otlp_http = otlp_http

    def trace(self, trace_id: str) -> list[StoredSpan]:
        """Return every stored copy of every span of a trace; empty where the trace is unknown."""
        answer = httpx.get(
            f"http://{self.query}/api/v3/traces/{trace_id}",
            params={"raw_traces": "true"},
            timeout=10.0,
        )
        if answer.status_code == httpx.codes.NOT_FOUND:
            return []
        answer.raise_for_status()
        return [
            _span(span, scope, resource)
            for resource in answer.json()["result"].get("resourceSpans", ())
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def traces(self, trace_ids: Collection[str]) -> list[StoredSpan]:
        """Return every stored copy of every span of these traces."""
        return [span for trace_id in sorted(trace_ids) for span in self.trace(trace_id)]

    def await_spans(
        self,
        keys: Collection[SpanKey],
        within_s: float = 40.0,
        explain: Callable[[], str] = str,
    ) -> list[StoredSpan]:
        """
        Wait until all of these spans are stored, then return the traces that they are in.

        Raises:
            AssertionError: Some are missing; says how many, and what `explain` returns.
        """
        trace_ids = {trace_id for trace_id, _ in keys}
        stored: list[StoredSpan] = []

        def complete() -> bool:
            stored[:] = self.traces(trace_ids)
            return {span.key for span in stored} >= set(keys)

        wait_until(
            complete,
            within_s,
            lambda: f"{len(stored)} spans stored, {len(keys)} awaited\n{explain()}",
        )
        return stored

    def search(self, service: str, tags: str) -> set[str]:
        """Return the ids of the traces of a service with a span that has these tags (JSON)."""
        answer = httpx.get(
            f"http://{self.query}/api/traces",
            params={"service": service, "tags": tags, "limit": 100},
            timeout=10.0,
        )
        answer.raise_for_status()
        return {trace["traceID"] for trace in answer.json()["data"]}


def copies(spans: Collection[StoredSpan]) -> Counter[SpanKey]:
    """Count how often each span is stored; carriers are no spans of the application."""
    return Counter(span.key for span in spans if not span.is_carrier)


def _span(
    span: Mapping[str, Any], scope: Mapping[str, Any], resource: Mapping[str, Any]
) -> StoredSpan:
    return StoredSpan(
        key=(span["traceId"], span["spanId"]),
        parent_span_id=span.get("parentSpanId", ""),
        name=span["name"],
        scope=scope.get("scope", {}).get("name", ""),
        service=str(_attributes(resource["resource"]).get("service.name", "")),
        start_ns=int(span["startTimeUnixNano"]),
        end_ns=int(span["endTimeUnixNano"]),
        attributes=_attributes(span),
        events=tuple(
            StoredEvent(event["name"], int(event["timeUnixNano"]), _attributes(event))
            for event in span.get("events", ())
        ),
        links=tuple((link["traceId"], link["spanId"]) for link in span.get("links", ())),
    )


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return {pair["key"]: _value(pair["value"]) for pair in holder.get("attributes", ())}


def _value(value: Mapping[str, Any]) -> Any:
    match value:
        case {"intValue": number}:
            return int(number)
        case {"doubleValue": number}:
            return float(number)
        case {"arrayValue": array}:
            return [_value(item) for item in array.get("values", ())]
        case {"kvlistValue": pairs}:
            return {pair["key"]: _value(pair["value"]) for pair in pairs.get("values", ())}
        case _:
            return next(iter(value.values()), None)
