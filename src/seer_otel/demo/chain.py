"""Send one trace through a chain that is running, and say where it stopped, if it did."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from rich.console import Console
from rich.text import Text

from seer_otel import semconv
from seer_otel.demo.application import answer, questions
from seer_otel.demo.delivery import KEY, Answer, deliver, parsed, reach
from seer_otel.demo.search import Index
from seer_otel.dialects import Span, otlp
from seer_otel.harness.shown import shown

_PATIENCE_S: Final = 60.0
"""For verdicts, and for spans to be stored: a retrieval is held for 30 s, unless told otherwise."""

_BRIEFLY_S: Final = 5.0
"""To look further along the chain, once something went wrong."""

_PAUSE_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Sent:
    """The trace that is sent."""

    request: ExportTraceServiceRequest
    trace_id: str
    retrievals: Mapping[str, str]
    """Span id to name."""


def check(
    endpoint: str,
    evaluator: str | None = None,
    jaeger: str | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    patience_s: float = _PATIENCE_S,
) -> bool:
    """
    Send one trace, follow it as far as it can be seen, and print a line for each step.

    Args:
        endpoint: Takes OTLP: a Collector, or the evaluator.
        evaluator: URL of the evaluator's HTTP port, where it is not the endpoint.
        jaeger: URL of Jaeger's pages.
        environment: `SEER_API_KEY` is sent along.
        patience_s: For the evaluator to judge, and again for Jaeger to have the results.

    Returns:
        Whether every step went well.

    Raises:
        ConfigError: What should be a URL is none.
    """
    urls = {"evaluator": evaluator, "jaeger": jaeger}
    base = {name: parsed(url).geturl().rstrip("/") for name, url in urls.items() if url}
    target = parsed(endpoint)
    key = environment.get("SEER_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    chain = _Chain(Console(highlight=False), headers, patience_s)
    sent = _trace()
    if not chain.step("reachable", reach(target)):
        return False
    delivered = deliver(target, sent.request, headers)
    if not chain.step("accepted", delivered):
        return False
    own = target.geturl().rstrip("/")
    if "evaluator" not in base and delivered.over_http and chain.is_evaluator(own):
        base["evaluator"] = own
    if "evaluator" in base:
        chain.judged(base["evaluator"], sent)
    else:
        chain.note("not seen whether it was judged: --evaluator gives the evaluator's HTTP address")
    if "jaeger" in base:
        chain.stored(base["jaeger"], sent)
    else:
        chain.note(
            f"not seen whether it was stored: look for trace {sent.trace_id}, or give --jaeger"
        )
    return chain.all_well


def _trace() -> Sent:
    """Run the demo application once; what it recorded is sent from here."""
    provider = TracerProvider(sampler=ALWAYS_ON, resource=Resource({"service.name": "demo"}))
    recorded = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(recorded))
    answer(questions()[0], Index.of_demo(), provider)
    request = encode_spans(recorded.get_finished_spans())
    spans = list(otlp.spans(request))
    retrievals = {s.span_id: s.name for s in spans if semconv.CONTEXT in s.attributes}
    return Sent(request, spans[0].trace_id, retrievals)


class _Chain:
    """Goes along the chain, and tells of each step."""

    def __init__(self, console: Console, headers: Mapping[str, str], patience_s: float) -> None:
        self._console = console
        self._headers = headers
        self._patience_s = patience_s
        self.all_well = True

    def step(self, name: str, went: Answer) -> bool:
        """Tell of a step, and what to do where it went wrong; return whether it went well."""
        mark = ("✓ ", "green") if went.ok else ("✗ ", "red")
        self._print(Text.assemble(mark, f"{name:<10} ", shown(went.said, 300)))
        if went.advice:
            self._print(Text(f"  {went.advice}"))
        self.all_well = self.all_well and went.ok
        return went.ok

    def note(self, text: str) -> None:
        """Tell what is not known."""
        self._print(Text(f"– {text}", style="dim"))

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)  # an address is to stay whole

    def is_evaluator(self, url: str) -> bool:
        """Whether the evaluator answers at an address."""
        try:
            parts = httpx.get(f"{url}/readyz", timeout=5.0).json()
        except (httpx.HTTPError, ValueError):
            return False
        return isinstance(parts, dict) and "judge" in parts

    def judged(self, url: str, sent: Sent) -> None:
        """Wait for the verdicts of the evaluator."""
        records: dict[str, Any] = {}
        refusal: list[Answer] = []

        def complete() -> bool:
            for span_id, name in sent.retrievals.items():
                response = self._get(f"{url}/v1/records/{sent.trace_id}-{span_id}", refusal)
                if response is None or response.status_code != httpx.codes.OK:
                    continue
                record = response.json()
                if record["verdict"] is not None:
                    records[name] = record["verdict"]["evaluations"]
                elif record["evaluated"] == "skipped":
                    refusal.append(Answer(False, f"{name} is not evaluated: {record['reason']}"))
            return bool(refusal) or len(records) == len(sent.retrievals)

        if self._until(complete, "judging") and not refusal:
            self._tell_of(records)
        elif refusal:
            self.step("judged", refusal[0])
        else:
            self.step("judged", self._not_judged(url, len(records), len(sent.retrievals)))

    def stored(self, url: str, sent: Sent) -> None:
        """Wait for the trace to be in Jaeger, with its results."""
        spans: list[Span] = []
        refusal: list[Answer] = []

        def complete() -> bool:
            response = self._get(f"{url}/api/v3/traces/{sent.trace_id}", refusal)
            if response is not None and response.status_code == httpx.codes.OK:
                spans[:] = otlp.spans(otlp.from_json(response.json()["result"]))
            return bool(refusal) or _settled(sent, spans)

        self._until(complete, "waiting for Jaeger")
        self.step("stored", refusal[0] if refusal else _stored(url, sent, spans))

    def _tell_of(self, records: Mapping[str, Any]) -> None:
        failed = [e for each in records.values() for e in each if e["status"] == "failed"]
        if failed:
            said = f"the judge failed: {failed[0]['reason']} ({failed[0]['error_type']})"
            advice = "Its key, its address and its model are in the evaluator's configuration."
            self.step("judged", Answer(False, said, advice))
            return
        recalls = (f"{name}: {_recall(each[0])}" for name, each in records.items())
        judge = next(iter(records.values()))[0]["provenance"]["judge"]
        self.step("judged", Answer(True, f"by {judge}; " + ", ".join(recalls)))

    def _not_judged(self, url: str, came: int, wanted: int) -> Answer:
        advice = "Does the Collector send retrievals to it? See collector-config/."
        try:
            trouble = httpx.get(f"{url}/readyz", timeout=5.0).json()
            said = [f"{part}: {state}" for part, state in trouble.items() if state != "ok"]
            advice = f"It says: {'; '.join(said)}" if said else advice
        except (httpx.HTTPError, ValueError):
            pass
        return Answer(False, f"{came} of {wanted} in {self._patience_s:g} s", advice)

    def _get(self, url: str, refusal: list[Answer]) -> httpx.Response | None:
        """Ask; what will not heal by waiting goes into `refusal`."""
        try:
            response = httpx.get(url, headers=dict(self._headers), timeout=5.0)
        except httpx.HTTPError as error:
            where = httpx.URL(url)
            advice = "Is it running, and is it this port?"
            said = f"{where.host}:{where.port or 80}: {type(error).__name__}"
            refusal.append(Answer(False, said, advice))
            return None
        if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            refusal.append(Answer(False, f"HTTP {response.status_code}", KEY))
        return response

    def _until(self, complete: Callable[[], bool], waiting: str) -> bool:
        patience_s = self._patience_s if self.all_well else min(_BRIEFLY_S, self._patience_s)
        until = time.monotonic() + patience_s
        with self._console.status(waiting):
            while not (done := complete()) and time.monotonic() < until:
                time.sleep(_PAUSE_S)
        return done


def _settled(sent: Sent, spans: Iterable[Span]) -> bool:
    """Whether every retrieval is stored, and what has left before its verdict has got it since."""
    stored = [span for span in spans if span.span_id in sent.retrievals]
    deferred = sum(span.attributes.get(semconv.EVALUATED) == "deferred" for span in stored)
    carriers = sum(span.name == semconv.EVALUATION_EVENT for span in spans)
    return len(stored) == len(sent.retrievals) and carriers >= deferred


def _recall(evaluation: Mapping[str, Any]) -> str:
    recall = evaluation["scores"]["recall"]
    return evaluation["status"] if recall is None else f"recall {recall:.2f}"


def _stored(url: str, sent: Sent, spans: Sequence[Span]) -> Answer:
    if not spans:
        advice = "What does the last hop before it say: does it export to this Jaeger?"
        return Answer(False, f"Jaeger has no trace {sent.trace_id}", advice)
    if missing := len(sent.retrievals.keys() - {span.span_id for span in spans}):
        advice = "The evaluator still holds them, or what follows it: their logs say why."
        return Answer(False, f"without {missing} of its retrievals", advice)
    skipped = [s.attributes for s in spans if s.attributes.get(semconv.EVALUATED) == "skipped"]
    if skipped:
        return Answer(False, f"not evaluated: {skipped[0].get(semconv.SKIP_REASON)}")
    if not any(e.name == semconv.EVALUATION_EVENT for span in spans for e in span.events):
        advice = "Its retrievals did not pass the evaluator: does the Collector route them there?"
        return Answer(False, f"without scores: {url}/trace/{sent.trace_id}", advice)
    return Answer(True, f"with its scores: {url}/trace/{sent.trace_id}")
