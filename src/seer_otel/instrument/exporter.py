"""Has retrievals judged where a configuration can name exporters only, and no processors."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanContext, format_trace_id

from seer_otel import dialects, sampling, semconv
from seer_otel.dialects.sdk import span_from_sdk
from seer_otel.instrument import settings
from seer_otel.instrument.evaluator_client import EvaluatorClient
from seer_otel.instrument.marked_span import MarkedSpan
from seer_otel.instrument.notices import warn_once
from seer_otel.instrument.shipping import Shipper
from seer_otel.instrument.traces import Traces

ANCESTORS: Final = 10_000
"""Spans above judged retrievals that are waited for at once."""

in_use = False
"""Whether this process has an exporter: a processor would ship everything a second time."""


class SeerSpanExporter(SpanExporter):
    """
    Ships the sampled retrievals of an application, and the inputs above them, to be judged.

    What `SeerSpanProcessor` does, as far as it can be done when spans have ended: the question of a
    `request()` is not written on the retrievals of other instrumentations. It is the exporter
    `seer` of `OTEL_TRACES_EXPORTER` and of configuration files.

    Args:
        endpoint: Base URL of the evaluator, to which `/v1/traces` is appended; else
            `SEER_ENDPOINT`, else `http://127.0.0.1:4318`.
        sample_rate: 0..1; else `SEER_SAMPLE_RATE`, else 0.1.
        api_key: Sent as `authorization: Bearer …`; else `SEER_API_KEY`.
        headers: More headers.
        tools: Names of tools whose calls return documents; else `SEER_TOOLS`.

    Raises:
        ConfigError: An argument cannot be used. A wrong variable is only logged.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        sample_rate: float | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        tools: Iterable[str] | None = None,
    ) -> None:
        told = settings.settle(
            endpoint=endpoint,
            sample_rate=sample_rate,
            send=None,
            api_key=api_key,
            headers=headers,
            tools=tools,
        )
        global in_use
        in_use = True
        self._rate = told.sample_rate
        self._send = told.send
        self._dialects = dialects.with_tools(told.tools)
        self._traces = Traces()
        self._above: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._shipper = Shipper(EvaluatorClient(told.traces_url, told.headers).post)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take ended spans, those inside before those around them. It never fails."""
        for span in spans:
            try:
                if self._send and span.context is not None:
                    self._take(span, span.context)
            except Exception as error:  # An application is never broken by this.
                warn_once("A span could not be read: %s", type(error).__name__)
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Ship what waits. Returns whether all of it left within the time."""
        return self._shipper.flush(timeout_millis / 1000)

    def shutdown(self) -> None:
        """Ship what waits, for some seconds at most; the rest is dropped, counted and logged."""
        self._shipper.shut_down()

    def _take(self, span: ReadableSpan, context: SpanContext) -> None:
        plain = span_from_sdk(span)
        reading = dialects.read(plain, self._dialects)
        if reading is None:
            if self._is_above(context):
                self._want(span.parent)
                if dialects.readable_input(plain) is not None:
                    self._shipper.put(span)
            return
        if not self._decide(context, reading.sampled, reading.sample_rate):
            return
        self._want(span.parent)
        is_marked = reading.sampled is not None
        self._shipper.put(span if is_marked else MarkedSpan(span, {semconv.SAMPLED: True}))

    def _decide(self, context: SpanContext, said: bool | None, rate: float | None) -> bool:
        """Return the decision for a trace; the first one made stands."""
        standing = self._traces.decision(context.trace_id)
        if standing is not None:
            return standing
        sampled = sampling.decide(
            format_trace_id(context.trace_id),
            sampled=said,
            rate=rate,
            default_rate=self._rate,
        )
        return self._traces.decide(context.trace_id, sampled)

    def _want(self, parent: SpanContext | None) -> None:
        """Have the span above shipped when it ends, if it has an input."""
        if parent is not None and not parent.is_remote:
            self._above[parent.trace_id, parent.span_id] = None
            if len(self._above) > ANCESTORS:
                self._above.popitem(last=False)

    def _is_above(self, context: SpanContext) -> bool:
        if (context.trace_id, context.span_id) not in self._above:
            return False
        del self._above[context.trace_id, context.span_id]
        return True
