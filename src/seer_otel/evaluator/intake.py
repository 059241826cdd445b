"""
Take a request: sort its spans, hold the retrievals, forward the rest, and only then answer.

    request ─► sort ─┬─ plain ──────────────► next hop, or on disk ─┐
                     └─ sampled retrieval ──► on disk ──────────────┴─► OK

A span counts as accepted where it is taken over, which is before the answer: of a request that is
refused in the end, a part may have been, and is known when the request comes again.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from seer_otel import sampling
from seer_otel.clock import Clock
from seer_otel.dialects import READER, Reader
from seer_otel.dialects.attach import Payload, append, shrink, unevaluated
from seer_otel.dialects.trace import Node
from seer_otel.errors import NextHopRefused, Overloaded, Undecodable
from seer_otel.evaluator.admission import Admission
from seer_otel.evaluator.envelope import Envelope, Place
from seer_otel.evaluator.hold.entries import Arrived, Held, Key, Origin, Outgoing
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.sort import Found, Sorted, sort
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.work.judging import Judging

Signal = Literal["traces", "metrics", "logs"]

T = TypeVar("T")


class Onward(Protocol):
    """The way out, as the intake sees it."""

    async def pass_on(self, request: bytes, spans: int) -> None:
        """Forward spans, or put them on disk."""
        ...

    async def relay(self, signal: Signal, body: bytes) -> bytes:
        """Forward a request of another signal and return the next hop's answer."""
        ...

    def wake(self) -> None:
        """Say that there is something in the outbox."""
        ...


@dataclass(slots=True)
class _Decided:
    """What becomes of the retrievals of a request, those that pass like plain spans aside."""

    holding: list[Found] = field(default_factory=list)
    passing: list[Found] = field(default_factory=list)
    """Let through at once, unevaluated, and remembered like those that are held."""


class Intake:
    """Where every request comes in, whatever it came over."""

    def __init__(
        self,
        store: Store,
        onward: Onward | None,
        judging: Judging,
        telemetry: Telemetry,
        clock: Clock,
        *,
        sample_rate: float,
        admission: Admission,
        signals: Sequence[Signal] = ("traces", "metrics", "logs"),
        reader: Reader = READER,
        payload: Payload = "keep",
    ) -> None:
        self._store = store
        self._onward = onward
        self._judging = judging
        self._telemetry = telemetry
        self._clock = clock
        self._sample_rate = sample_rate
        self._admission = admission
        self._reader = reader
        self._payload = payload
        self.signals: Sequence[Signal] = signals if onward is not None else ("traces",)
        """The signals that are taken: others have nowhere to go."""
        self._taking: set[asyncio.Task[Any]] = set()
        self.stopping = False
        telemetry.watch(
            metrics.HELD,
            lambda: float(store.statistics.held_spans + store.statistics.queued_spans),
        )
        telemetry.watch(
            metrics.HELD_BYTES,
            lambda: float(store.statistics.held_bytes + store.statistics.queued_bytes),
        )
        telemetry.watch(metrics.HOLD_LIMIT, lambda: float(admission.max_bytes))

    def recovered(self) -> None:
        """Count what an earlier process left on disk as accepted: it answered for it."""
        statistics = self._store.statistics
        self._telemetry.count(metrics.ACCEPTED, statistics.held_spans + statistics.queued_spans)

    async def finish(self) -> None:
        """Wait for the requests under way."""
        if self._taking:
            await asyncio.wait(self._taking)

    def refused(self, reason: str) -> None:
        """Count a refusal."""
        self._telemetry.count(metrics.REFUSED, reason=reason)

    def rejected(self, spans: int) -> None:
        """Count spans that were rejected from among others."""
        self._telemetry.count(metrics.REJECTED, spans)

    async def take(self, signal: Signal, body: bytes, *, copies: bool = False) -> bytes:
        """
        Take one export request; return the response message, in protobuf.

        `copies` are judged and never forwarded. Returns only when all of it is forwarded or on
        disk. What was begun is finished also where the caller is cancelled.

        Raises:
            Undecodable: The body is no request of this signal.
            Overloaded, StorageFailed: Not now.
        """
        return await self.through(self._take(signal, body, copies=copies))

    async def through(self, work: Coroutine[Any, Any, T]) -> T:
        """
        Do work to its end, also where the caller is cancelled.

        Raises:
            Overloaded: The evaluator is stopping; nothing was begun.
        """
        if self.stopping:
            work.close()
            raise Overloaded("the evaluator is stopping", 1.0)
        task = asyncio.ensure_future(work)
        self._taking.add(task)
        task.add_done_callback(self._taken)
        return await asyncio.shield(task)

    def _taken(self, task: asyncio.Task[Any]) -> None:
        self._taking.discard(task)
        if not task.cancelled():
            task.exception()  # nobody else may look, where the caller has gone

    async def _take(self, signal: Signal, body: bytes, *, copies: bool) -> bytes:
        with self._admission.under_way(len(body)):
            if signal != "traces":
                return await self._relay(signal, body)
            await self._admission.wait()
            return await self._traces(body, copies=copies)

    async def _relay(self, signal: Signal, body: bytes) -> bytes:
        assert self._onward is not None
        try:
            return await self._onward.relay(signal, body)
        except NextHopRefused as refusal:
            # Its words are for the operator; of its code the client may know.
            code = str(refusal).partition(":")[0]
            raise Undecodable(f"the next hop refused it ({code})") from None

    async def _traces(self, body: bytes, *, copies: bool) -> bytes:
        envelope = Envelope.open(body)
        total = len(envelope)
        found = sort(envelope, self._wanted, self._reader)
        self._telemetry.count(metrics.UNREADABLE, found.unreadable)
        self._telemetry.count(metrics.EVALUATED_BEFORE, found.evaluated_before)
        decided = self._decide(envelope, found, copies=copies)
        self._judging.note(self._worth_noting(found, decided))
        gone = await self._hold(envelope, decided, copies=copies)
        plain = total - len(gone)
        if copies or self._onward is None:
            self._telemetry.count(metrics.JUDGED_ONLY, plain)
        elif plain:
            untouched = not gone and not found.stamped
            rest = body if untouched else envelope.without(gone)
            await self._onward.pass_on(rest, plain)
        self._telemetry.count(metrics.ACCEPTED, plain)
        return b""

    def _wanted(self, trace_id: str) -> bool:
        """Whether the spans of a trace are worth remembering."""
        return self._judging.knows(trace_id) or sampling.sampled(trace_id, self._sample_rate)

    def _worth_noting(self, found: Sorted, decided: _Decided) -> list[Node]:
        """Return the nodes of traces that are judged."""
        held = (retrieval.node.trace_id for retrieval in decided.holding)
        judged = dict.fromkeys((*found.sampled, *held), True)
        for node in found.nodes:
            if node.trace_id not in judged:
                judged[node.trace_id] = self._wanted(node.trace_id)
        return [node for node in found.nodes if judged[node.trace_id]]

    def _decide(self, envelope: Envelope, found: Sorted, *, copies: bool) -> _Decided:
        """Say which retrievals are held; stamp the others with the reason why not."""
        decided = _Decided()
        size = 0
        for retrieval in found.retrievals:
            reading = retrieval.node.reading
            assert reading is not None
            if not sampling.decide(
                retrieval.node.trace_id,
                sampled=reading.sampled,
                rate=reading.sample_rate,
                default_rate=self._sample_rate,
            ):
                reason = "not_sampled"
            elif self._admission.is_pressed(
                self._judging.pending + len(decided.holding), size + len(retrieval.span)
            ):
                reason = "pressure"
            else:
                decided.holding.append(retrieval)
                size += len(retrieval.span)
                continue
            found.stamped = True
            onward = shrink(retrieval.span, self._payload)
            stamped = append(onward, attributes=unevaluated("skipped", reason))
            if reason == "pressure" and not copies:
                # How much waits differs from one delivery to the next, the span must not.
                retrieval.stamped = stamped
                decided.passing.append(retrieval)
                continue
            envelope.replace(retrieval.place, stamped)
            self._count_skipped(retrieval, reason)
        return decided

    async def _hold(self, envelope: Envelope, decided: _Decided, *, copies: bool) -> set[Place]:
        """Put retrievals on disk and start their work; return all that are no longer plain."""
        both = [*decided.holding, *decided.passing]
        if not both:
            return set()
        now = self._clock.now()
        origin: Origin = "copy" if copies else "pipeline"
        arrivals = [self._arrival(envelope, each, origin, now) for each in both]
        passing = {}
        for retrieval, arrival in zip(both, arrivals, strict=True):
            if retrieval.stamped is not None:
                envelope.replace(retrieval.place, retrieval.stamped)
                alone = envelope.alone(retrieval.place)
                passing[arrival.key] = Outgoing(alone, 1, "retrieval")
        outcomes = await self._store.hold(arrivals, passing)
        self._telemetry.count(metrics.ACCEPTED, len(arrivals))
        for retrieval, arrival, outcome in zip(both, arrivals, outcomes, strict=True):
            self._arrived(retrieval, arrival, outcome)
        return {each.place for each in both}

    def _arrival(self, envelope: Envelope, found: Found, origin: Origin, now: float) -> Held:
        request, onward = envelope.alone(found.place), None
        if self._payload != "keep":
            envelope.replace(found.place, shrink(found.span, self._payload))
            onward = envelope.alone(found.place)
        return Held(_key(envelope, found.place), request, origin, now, onward)

    def _arrived(self, retrieval: Found, arrival: Held, outcome: Arrived) -> None:
        match outcome:
            case "held":
                self._judging.start(arrival, retrieval.node)
            case "passed":
                self._count_skipped(retrieval, "pressure")
                if self._onward is None:
                    self._telemetry.count(metrics.JUDGED_ONLY)
            case "duplicate":
                self._telemetry.count(metrics.DUPLICATE)
            case "upgraded":
                self._judging.upgrade(arrival.key)
                self._telemetry.count(metrics.JUDGED_ONLY)
            case "queued":
                pass
        if outcome in ("passed", "queued") and self._onward is not None:
            self._onward.wake()

    def _count_skipped(self, retrieval: Found, reason: str) -> None:
        reading = retrieval.node.reading
        dialect = reading.dialect if reading else ""
        self._telemetry.count(
            metrics.RETRIEVALS, dialect=dialect, evaluated="skipped", reason=reason
        )


def _key(envelope: Envelope, place: Place) -> Key:
    ids = envelope.head(place)
    return Key(ids.trace_id, ids.span_id)
