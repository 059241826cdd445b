"""
The service's own metrics, declared once as data.

They are read at `/metrics` (Prometheus, with exemplars in OpenMetrics) and sent over OTLP where an
endpoint is configured. Always: accepted = forwarded + held + dead_lettered + duplicate +
judged_only; what an earlier process left in the hold counts as accepted at the start.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import prometheus_client
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context
from prometheus_client.openmetrics import exposition as openmetrics

from seer_otel.judge.calls import Call


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its OTLP name (dots become underscores for Prometheus) and meaning."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Values of its one label that are shown before they are counted: else growth from nothing to
    one would look like none."""


ACCEPTED = Metric(
    "seer.spans.accepted", "counter", "{span}", "Spans, and logged events, taken over."
)
FORWARDED = Metric("seer.spans.forwarded", "counter", "{span}", "Spans that the next hop has.")
DEAD_LETTERED = Metric(
    "seer.spans.dead_lettered", "counter", "{span}", "Spans that the next hop will never take."
)
DUPLICATE = Metric("seer.spans.duplicate", "counter", "{span}", "Spans known already.")
JUDGED_ONLY = Metric(
    "seer.spans.judged_only",
    "counter",
    "{span}",
    "Copies; spans with forwarding off; events judged beside their span, or not sampled.",
)
HELD = Metric("seer.spans.held", "gauge", "{span}", "Accepted spans on disk, held or queued.")
HELD_BYTES = Metric("seer.hold.size", "gauge", "By", "Bytes on disk, held or queued.")
HOLD_LIMIT = Metric("seer.hold.limit", "gauge", "By", "Bytes above which requests are refused.")
OLDEST_AGE = Metric("seer.hold.oldest_age", "gauge", "s", "Age of the oldest held retrieval.")
UNREADABLE = Metric(
    "seer.spans.unreadable", "counter", "{span}", "Spans passed on that could not be decoded."
)
EVALUATED_BEFORE = Metric(
    "seer.spans.evaluated_before", "counter", "{span}", "Spans that came back with their results."
)
RETRIEVALS = Metric(
    "seer.retrievals",
    "counter",
    "{retrieval}",
    "Retrievals by outcome, and by reason where there is no score.",
    ("dialect", "evaluated", "reason"),
)
TRACES_KNOWN = Metric("seer.traces.known", "gauge", "{trace}", "Traces in view.")
TRACES_EVICTED = Metric(
    "seer.traces.evicted", "counter", "{trace}", "Traces forgotten early, for want of room."
)
LOGS_DROPPED = Metric(
    "seer.logs.dropped", "counter", "{request}", "Requests that the logs endpoint did not take."
)
CARRIERS = Metric("seer.carriers", "counter", "{span}", "Carrier spans made.")
REJECTED = Metric(
    "seer.spans.rejected", "counter", "{span}", "Spans in JSON that cannot be read; never accepted."
)
REFUSED = Metric(
    "seer.requests.refused",
    "counter",
    "{request}",
    "Refusals.",
    ("reason",),
    ("overloaded", "storage", "next_hop", "fault"),
)
REJECTED_SPANS = Metric(
    "seer.next_hop.rejected_spans", "counter", "{span}", "Spans rejected in a partial success."
)
NEXT_HOP_UP = Metric("seer.next_hop.up", "gauge", "1", "Whether the last attempt was taken.")
JUDGE_CALLS = Metric(
    "seer.judge.calls", "counter", "{call}", "Requests to the judge.", ("error.type",)
)
JUDGE_TOKENS = Metric("seer.judge.tokens", "counter", "{token}", "Tokens.", ("type",))
JUDGE_COST = Metric(
    "seer.judge.cost", "counter", "{currency}", "What the judge cost, where its price is known."
)
JUDGE_CACHED = Metric(
    "seer.judge.cached", "counter", "{retrieval}", "Retrievals judged from memory alone."
)
JUDGE_DURATION = Metric("seer.judge.duration", "histogram", "s", "Time to judge a retrieval.")
JUDGE_AGREEMENT = Metric(
    "seer.judge.agreement", "histogram", "1", "How far several runs agree.", ("scope",)
)
_MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "server.address")
GENAI_TOKENS = Metric(
    "gen_ai.client.token.usage",
    "histogram",
    "{token}",
    "Tokens of one request to the judge.",
    (*_MODEL, "gen_ai.token.type"),
)
GENAI_DURATION = Metric(
    "gen_ai.client.operation.duration",
    "histogram",
    "s",
    "Duration of one request to the judge.",
    (*_MODEL, "error.type"),
)
RECALL = Metric("seer.recall", "histogram", "1", "Recall of judged retrievals.", ("scope",))
PRECISION = Metric("seer.precision", "histogram", "1", "Precision.", ("scope",))
F1 = Metric("seer.f1", "histogram", "1", "F1.", ("scope",))
NDCG = Metric("seer.ndcg", "histogram", "1", "nDCG.", ("scope",))

METRICS = (
    ACCEPTED, FORWARDED, DEAD_LETTERED, DUPLICATE, JUDGED_ONLY, HELD, HELD_BYTES, HOLD_LIMIT,
    OLDEST_AGE, UNREADABLE, EVALUATED_BEFORE, RETRIEVALS, TRACES_KNOWN, TRACES_EVICTED, CARRIERS,
    LOGS_DROPPED, REFUSED, REJECTED, REJECTED_SPANS, NEXT_HOP_UP,
    JUDGE_CALLS, JUDGE_TOKENS, JUDGE_COST, JUDGE_CACHED, JUDGE_DURATION, JUDGE_AGREEMENT,
    GENAI_TOKENS, GENAI_DURATION, RECALL, PRECISION, F1, NDCG,
)  # fmt: skip

SHARES = (RECALL, PRECISION, F1, NDCG)
SHARE_BUCKETS = tuple(i / 10 for i in range(11))
DURATION_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
GENAI_BUCKETS = {
    GENAI_TOKENS: tuple(float(4**i) for i in range(14)),
    GENAI_DURATION: tuple(0.01 * 2**i for i in range(14)),
}
"""As the GenAI conventions advise."""
VALUES_PER_KEY = 50
"""Distinct values of a metadata key; further ones are counted as `other`."""


class Telemetry:
    """Where the service counts."""

    def __init__(self, *, keys: tuple[str, ...] = (), reader: MetricReader | None = None) -> None:
        self._keys = keys
        self._values: dict[str, set[str]] = {key: set() for key in keys}
        self._totals: dict[str, float] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        self.registry = prometheus_client.CollectorRegistry()
        self._provider = MeterProvider(
            metric_readers=[reader] if reader else [],
            resource=Resource.create({"service.name": "seer-otel"}),
            views=[
                View(
                    instrument_name=metric.name,
                    aggregation=ExplicitBucketHistogramAggregation(_buckets(metric)),
                )
                for metric in METRICS
                if metric.kind == "histogram"
            ],
            shutdown_on_exit=False,
        )
        meter = self._provider.get_meter("seer_otel")
        self._otel: dict[str, Any] = {}
        self._prometheus: dict[str, Any] = {}
        for metric in METRICS:
            self._declare(metric, meter)

    def _declare(self, metric: Metric, meter: Any) -> None:
        name = metric.name.replace(".", "_")
        labels = self._labels(metric)
        if metric.kind == "counter":
            self._otel[metric.name] = meter.create_counter(metric.name, metric.unit, metric.meaning)
            self._prometheus[metric.name] = prometheus_client.Counter(
                name, metric.meaning, labels, registry=self.registry
            )
            for value in metric.known:
                self._prometheus[metric.name].labels(value)
        elif metric.kind == "histogram":
            self._otel[metric.name] = meter.create_histogram(
                metric.name, metric.unit, metric.meaning
            )
            self._prometheus[metric.name] = prometheus_client.Histogram(
                name, metric.meaning, labels, registry=self.registry, buckets=_buckets(metric)
            )
        else:
            gauge = prometheus_client.Gauge(name, metric.meaning, registry=self.registry)
            gauge.set_function(lambda: self._gauge(metric))
            meter.create_observable_gauge(
                metric.name,
                [lambda _: [Observation(self._gauge(metric))]],
                metric.unit,
                metric.meaning,
            )

    def _labels(self, metric: Metric) -> list[str]:
        return list(_underscored(dict.fromkeys(metric.labels, ""))) + (
            list(self._keys) if metric in SHARES else []
        )

    def _gauge(self, metric: Metric) -> float:
        return self._gauges.get(metric.name, lambda: 0.0)()

    def watch(self, metric: Metric, read: Callable[[], float]) -> None:
        """Say where a gauge is read."""
        self._gauges[metric.name] = read

    def count(self, metric: Metric, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        if amount == 0:
            return
        self._totals[metric.name] = self._totals.get(metric.name, 0) + amount
        self._otel[metric.name].add(amount, _given(labels))
        counter = self._prometheus[metric.name]
        (counter.labels(**_underscored(labels)) if labels else counter).inc(amount)

    def total(self, metric: Metric) -> float:
        """Return a counter's sum over its labels, or a gauge's value."""
        if metric.kind == "gauge":
            return self._gauge(metric)
        return self._totals.get(metric.name, 0)

    def by_labels(self, metric: Metric) -> list[dict[str, str | float]]:
        """Return a counter label by label, each set of labels with its `count`."""
        return [
            {**{k: v for k, v in sample.labels.items() if v}, "count": sample.value}
            for family in self._prometheus[metric.name].collect()
            for sample in family.samples
            if sample.name.endswith("_total") and sample.value
        ]

    def record(
        self,
        metric: Metric,
        value: float,
        *,
        trace_id: str | None = None,
        span_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **labels: str,
    ) -> None:
        """Add an observation; with ids, an exemplar that leads to the trace."""
        if metric in SHARES:
            labels |= {key: self._bounded(key, (metadata or {}).get(key)) for key in self._keys}
        histogram = self._prometheus[metric.name]
        exemplar = {"trace_id": trace_id, "span_id": span_id} if trace_id and span_id else None
        child = histogram.labels(**_underscored(labels)) if labels else histogram
        child.observe(value, exemplar)
        context = None
        if trace_id and span_id:
            target = SpanContext(int(trace_id, 16), int(span_id, 16), True, TraceFlags(1))
            context = set_span_in_context(NonRecordingSpan(target))
        self._otel[metric.name].record(value, _given(labels), context=context)

    def called(self, call: Call) -> None:
        """Count one request to the judge: by our own names, and by the GenAI conventions'."""
        error: dict[str, Any] = {"error.type": call.error_type or ""}
        model: dict[str, Any] = dict(
            zip(_MODEL, ("chat", "openai", call.model, call.server), strict=True)
        )
        self.count(JUDGE_CALLS, **error)
        self.count(JUDGE_COST, call.usage.cost or 0)
        self.record(GENAI_DURATION, call.duration_s, **model, **error)
        tokens = {"input": call.usage.input_tokens, "output": call.usage.output_tokens}
        for kind, amount in tokens.items():
            if amount is not None:
                told: dict[str, Any] = {**model, "gen_ai.token.type": kind}
                self.count(JUDGE_TOKENS, amount, type=kind)
                self.record(GENAI_TOKENS, amount, **told)

    def _bounded(self, key: str, value: object) -> str:
        text = "" if value is None else str(value)[:100]
        known = self._values[key]
        if text not in known:
            if len(known) >= VALUES_PER_KEY:
                return "other"
            known.add(text)
        return text

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return the text for `/metrics` and its content type."""
        if "application/openmetrics-text" in accept:
            text: bytes = openmetrics.generate_latest(self.registry)  # type: ignore[no-untyped-call]
            return text, openmetrics.CONTENT_TYPE_LATEST
        return (
            prometheus_client.generate_latest(self.registry),
            prometheus_client.CONTENT_TYPE_LATEST,
        )

    def shutdown(self) -> None:
        """Send what was not sent yet."""
        self._provider.shutdown(timeout_millis=2_000)


def _given(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that have a value: OTLP has no need of the others, as Prometheus has."""
    return {name: value for name, value in labels.items() if value}


def _underscored(labels: Mapping[str, str]) -> dict[str, str]:
    return {name.replace(".", "_"): value for name, value in labels.items()}


def _buckets(metric: Metric) -> tuple[float, ...]:
    if metric.unit == "1":
        return SHARE_BUCKETS
    return GENAI_BUCKETS.get(metric, DURATION_BUCKETS)
