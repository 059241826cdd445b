"""Finds retrieval spans as they end, decides which are judged, marks them, and ships them."""

from collections.abc import Iterable, Mapping

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import SpanContext, format_trace_id

from seer_otel import dialects, sampling, semconv
from seer_otel.dialects import values
from seer_otel.dialects.sdk import span_from_sdk
from seer_otel.instrument import scope, settings
from seer_otel.instrument.evaluator_client import EvaluatorClient
from seer_otel.instrument.marked_span import MarkedSpan
from seer_otel.instrument.notices import warn_once
from seer_otel.instrument.recording import RETRIEVAL
from seer_otel.instrument.resolving import Resolve, Resolving
from seer_otel.instrument.shipping import Counts, Shipper
from seer_otel.instrument.traces import OpenSpan, Traces


class SeerSpanProcessor(SpanProcessor):
    """
    Has the retrievals of an application judged, whatever instrumentation records them.

        provider = TracerProvider()
        provider.add_span_processor(SeerSpanProcessor("http://evaluator:24318"))
        trace.set_tracer_provider(provider)

    At the end of each span it asks whether that is a retrieval. One decision a trace says whether
    it is judged, the same in every process: what upstream or `request()` decided, else the trace
    id and a rate, that of the first retrieval to say one, or this processor's. It does not depend
    on the head sampler, which has let the span through. The retrievals of a sampled trace go to the
    evaluator as they are, with those of their ancestors that hold an input (there the question is
    found), copied in the background; the application's own export is not touched.

    It never stops or slows the application. What cannot be shipped is counted in `counts`, and a
    fault costs one line in the log. The order among other processors does not matter, but what an
    earlier one does to a span as it starts is seen, and what a later one does is not.

    Marks: a span that starts where a decision is known from outside (inside a `request()`, or
    downstream of one) gets `seer.sampled`, so that an evaluator which the spans themselves pass
    decides alike. Spans known as retrievals when they start get it always, and the task; those
    recognised only at their end get both on the copy.

    Args:
        endpoint: Base URL of the evaluator, to which `/v1/traces` is appended; else
            `SEER_ENDPOINT`, else `http://127.0.0.1:4318`.
        sample_rate: 0..1; else `SEER_SAMPLE_RATE`, else 0.1.
        send: False where the spans pass the evaluator anyway: then it only decides and marks. Else
            `SEER_SEND` (`off`), else True.
        api_key: Sent as `authorization: Bearer …`; else `SEER_API_KEY`.
        headers: More headers.
        resolve: From a list of ids to the texts of these documents, as a mapping or as a list in
            the same order, None for what is not known. For instrumentations that record ids alone.
            Called in the background, never on the application's path; slow is no harm to it, and
            whatever it raises costs the scores of that retrieval.
        tools: Names of tools whose calls return documents, and are judged as retrievals; else
            `SEER_TOOLS`, with commas between them.

    Raises:
        ConfigError: An argument cannot be used. A wrong variable is only logged.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        sample_rate: float | None = None,
        send: bool | None = None,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        resolve: Resolve | None = None,
        tools: Iterable[str] | None = None,
    ) -> None:
        told = settings.settle(
            endpoint=endpoint,
            sample_rate=sample_rate,
            send=send,
            api_key=api_key,
            headers=headers,
            tools=tools,
        )
        self._rate = told.sample_rate
        self._send = told.send
        self._traces = Traces()
        self._dialects = dialects.with_tools(told.tools)
        self._shipper = Shipper(
            EvaluatorClient(told.traces_url, told.headers).post,
            complete=Resolving(resolve, self._dialects) if resolve else None,
        )
        self._stopped = False
        scope.process_rate = self._rate

    @property
    def counts(self) -> Counts:
        """What became of the copies that were to be shipped from this process."""
        return self._shipper.counts

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Remember whose child a span is, and mark it where a decision is known."""
        if self._stopped:
            return
        try:
            self._start(span, scope.current(parent_context))
        except Exception as error:  # An application is never broken by this.
            warn_once("A span could not be marked: %s", type(error).__name__)

    def on_end(self, span: ReadableSpan) -> None:
        """Ship a span that is a sampled retrieval, or the input above one."""
        if self._stopped or span.context is None:
            return
        try:
            known = self._traces.ended(span.context)
            if self._send and span.context.trace_flags.sampled:
                self._end(span, span.context, known)
        except Exception as error:  # An application is never broken by this.
            warn_once("A span could not be read: %s", type(error).__name__)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Ship what waits. Returns whether all of it left within the time."""
        return self._shipper.flush(timeout_millis / 1000)

    def shutdown(self) -> None:
        """Ship what waits, for some seconds at most; the rest is dropped, counted and logged."""
        self._stopped = True
        if scope.process_rate == self._rate:
            scope.process_rate = None
        self._shipper.shut_down()

    def _start(self, span: Span, around: scope.Scope) -> None:
        context = span.get_span_context()
        self._traces.started(context, span.parent, around)
        attributes = span.attributes or {}
        if attributes.get(semconv.GEN_AI_OPERATION) == RETRIEVAL:
            said = values.flag(attributes.get(semconv.SAMPLED))
            rate = values.number(attributes.get(semconv.SAMPLE_RATE))
            span.set_attribute(semconv.SAMPLED, self._decide(context, around, said, rate))
            if around.task is not None and values.text(attributes.get(semconv.TASK)) is None:
                span.set_attribute(semconv.TASK, around.task)
        elif around.sampled is not None:
            span.set_attribute(semconv.SAMPLED, self._decide(context, around))

    def _end(self, span: ReadableSpan, context: SpanContext, known: OpenSpan | None) -> None:
        if self._traces.decision(context.trace_id) is False:
            return
        plain = span_from_sdk(span)
        reading = dialects.read(plain, self._dialects)
        if reading is None:
            above = known is not None and known.above_retrieval
            if above and dialects.readable_input(plain) is not None:
                self._shipper.put(span)
            return
        around = known.scope if known is not None else scope.Scope()
        if not self._decide(context, around, reading.sampled, reading.sample_rate):
            return
        self._traces.want_ancestors(span.parent)
        missing: dict[str, str | bool] = {}
        if reading.sampled is None:
            missing[semconv.SAMPLED] = True
        if reading.task is None and around.task is not None:
            missing[semconv.TASK] = around.task
        self._shipper.put(MarkedSpan(span, missing) if missing else span)

    def _decide(
        self,
        context: SpanContext,
        around: scope.Scope,
        said: bool | None = None,
        rate: float | None = None,
    ) -> bool:
        """Return the decision for a trace; the first one made stands."""
        standing = self._traces.decision(context.trace_id)
        if standing is not None:
            return standing
        sampled = sampling.decide(
            format_trace_id(context.trace_id),
            sampled=around.sampled if said is None else said,
            rate=settings.clamped(rate),
            default_rate=self._rate,
        )
        return self._traces.decide(context.trace_id, sampled)
