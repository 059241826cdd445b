"""
Take a request: sort its spans, hold the retrievals, forward the rest, and only then answer.

    request ─► sort ─┬─ plain ──────────────► next hop, or on disk ─┐
                     └─ sampled retrieval ──► on disk ──────────────┴─► OK
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from seer_otel import sampling
from seer_otel.clock import Clock
from seer_otel.dialects import DIALECTS, Dialect
from seer_otel.dialects.attach import append, unevaluated
from seer_otel.errors import NextHopRefused, Overloaded, Undecodable
from seer_otel.evaluator.envelope import Envelope, Place
from seer_otel.evaluator.hold.entries import Held, Key
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.sort import Sorted, sort
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


@dataclass(frozen=True, slots=True)
class Admission:
    """When to refuse for now."""

    max_bytes: int
    """On disk, held and queued."""
    max_pending: int
    """Retrievals that wait for the judge; more leave unevaluated (`pressure`)."""


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
        dialects: Sequence[Dialect] = DIALECTS,
    ) -> None:
        self._store = store
        self._onward = onward
        self._judging = judging
        self._telemetry = telemetry
        self._clock = clock
        self._sample_rate = sample_rate
        self._admission = admission
        self._dialects = dialects
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

    def recovered(self) -> None:
        """Count what an earlier process left on disk as accepted: it answered for it."""
        statistics = self._store.statistics
        self._telemetry.count(metrics.ACCEPTED, statistics.held_spans + statistics.queued_spans)

    def full(self) -> str | None:
        """Say where the hold is over its mark."""
        statistics = self._store.statistics
        size = statistics.held_bytes + statistics.queued_bytes
        if size <= self._admission.max_bytes:
            return None
        return f"the hold is full ({size} bytes on disk): the judge or the next hop cannot keep up"

    async def finish(self) -> None:
        """Wait for the requests under way."""
        if self._taking:
            await asyncio.wait(self._taking)

    def refused(self, reason: str) -> None:
        """Count a refusal."""
        self._telemetry.count(metrics.REFUSED, reason=reason)

    async def take(self, signal: Signal, body: bytes, *, copies: bool = False) -> bytes:
        """
        Take one export request; return the response message, in protobuf.

        `copies` are judged and never forwarded. Returns only when all of it is forwarded or on
        disk. What was begun is finished also where the caller is cancelled.

        Raises:
            Undecodable: The body is no request of this signal.
            Overloaded, StorageFailed: Not now.
        """
        return await self.through(
            self._traces(body, copies=copies) if signal == "traces" else self._relay(signal, body)
        )

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
        task.add_done_callback(self._taking.discard)
        return await asyncio.shield(task)

    async def _relay(self, signal: Signal, body: bytes) -> bytes:
        assert self._onward is not None
        try:
            return await self._onward.relay(signal, body)
        except NextHopRefused as refusal:
            raise Undecodable(f"the next hop refused it: {refusal}") from None

    async def _traces(self, body: bytes, *, copies: bool) -> bytes:
        if full := self.full():
            raise Overloaded(full, 2.0)
        envelope = Envelope.open(body)
        total = len(envelope)
        found = sort(envelope, self._wanted, self._dialects)
        self._telemetry.count(metrics.UNREADABLE, found.unreadable)
        self._telemetry.count(metrics.EVALUATED_BEFORE, found.evaluated_before)
        holding = self._decide(envelope, found)
        self._judging.note(found.nodes)
        gone = await self._hold(envelope, holding, copies=copies)
        plain = total - len(gone)
        if copies or self._onward is None:
            self._telemetry.count(metrics.JUDGED_ONLY, plain)
        elif plain:
            untouched = not gone and not found.stamped
            rest = body if untouched else envelope.without(gone)
            await self._onward.pass_on(rest, plain)
        self._telemetry.count(metrics.ACCEPTED, total)
        return b""

    def _wanted(self, trace_id: str) -> bool:
        """Whether the spans of a trace are worth remembering."""
        return self._judging.knows(trace_id) or sampling.sampled(trace_id, self._sample_rate)

    def _decide(self, envelope: Envelope, found: Sorted) -> list[Place]:
        """Return the retrievals to hold; stamp the others with the reason why not."""
        holding = []
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
            elif self._judging.pending >= self._admission.max_pending:
                reason = "pressure"
            else:
                holding.append(retrieval.place)
                continue
            found.stamped = True
            stamped = append(retrieval.span, attributes=unevaluated("skipped", reason))
            envelope.replace(retrieval.place, stamped)
            self._telemetry.count(
                metrics.RETRIEVALS, dialect=reading.dialect, evaluated="skipped", reason=reason
            )
        return holding

    async def _hold(
        self, envelope: Envelope, holding: Sequence[Place], *, copies: bool
    ) -> set[Place]:
        """Put retrievals on disk and start their work; return all that are no longer plain."""
        if not holding:
            return set()
        now = self._clock.now()
        arrivals = []
        for place in holding:
            ids = envelope.head(place)
            arrivals.append(
                Held(
                    Key(ids.trace_id, ids.span_id),
                    envelope.alone(place),
                    "copy" if copies else "pipeline",
                    now,
                )
            )
        for arrival, outcome in zip(arrivals, await self._store.hold(arrivals), strict=True):
            match outcome:
                case "held":
                    self._judging.start(arrival)
                case "duplicate":
                    self._telemetry.count(metrics.DUPLICATE)
                case "upgraded":
                    self._judging.upgrade(arrival.key)
                    self._telemetry.count(metrics.JUDGED_ONLY)
                case "queued" if self._onward is not None:
                    self._onward.wake()
        return set(holding)
