"""
Send to the next hop: at once where that works, from the outbox where it does not.

    plain ──attempt──► taken
               ├─ not within PATIENCE_S ──► outbox, marked as under way ──► taken: forgotten
               ├─ busy ──► outbox ──retry, for ever──► taken
               └─ refused ──► bisected to the spans that are refused ──► dead letters
"""

import asyncio
import logging
import random
from collections.abc import Sequence

from seer_otel.errors import NextHopBusy, NextHopRefused, StorageFailed
from seer_otel.evaluator.envelope import Envelope
from seer_otel.evaluator.forward.dead_letters import DeadLetters
from seer_otel.evaluator.forward.next_hop import NextHop, Signal
from seer_otel.evaluator.hold.entries import Outgoing, Queued
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry

log = logging.getLogger(__name__)

PATIENCE_S = 2.0
"""How long an answer may wait for the next hop; clients wait 5 to 10 s in all."""
BATCH_BYTES = 3 * 1024 * 1024
"""Of one outgoing request; gRPC receivers take 4 MiB unless told otherwise."""
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 15.0


class Forwarder:
    """Everything that leaves passes here."""

    def __init__(
        self, next_hop: NextHop, store: Store, dead_letters: DeadLetters, telemetry: Telemetry
    ) -> None:
        self._next_hop = next_hop
        self._store = store
        self._dead_letters = dead_letters
        self._telemetry = telemetry
        self._under_way: set[int] = set()
        self._attempts: set[asyncio.Task[None]] = set()
        self._outbox = asyncio.Lock()
        self._work = asyncio.Event()
        self._empty = asyncio.Event()
        self._delay_s = 0.0
        self.up: bool | None = None
        """Whether the last attempt was taken; None before the first."""
        telemetry.watch(metrics.NEXT_HOP_UP, lambda: 0.0 if self.up is False else 1.0)

    async def pass_on(self, request: bytes, spans: int) -> None:
        """
        Forward plain spans; return when the next hop has them, or they are on disk.

        Raises:
            StorageFailed: Neither could be done.
        """
        outgoing = Outgoing(request, spans, "plain")
        if self.up is False:  # known to be away: an attempt would only cost the client its time
            await self._store.queue(outgoing)
            self._work.set()
            return
        attempt = asyncio.ensure_future(self._deliver(outgoing))
        done, _ = await asyncio.wait({attempt}, timeout=PATIENCE_S)
        if not done:
            await self._queue_under_way(attempt, outgoing)
            return
        try:
            attempt.result()
        except (NextHopBusy, NextHopRefused) as error:
            if isinstance(error, NextHopBusy):
                self._say_down(error)
            await self._store.queue(outgoing)
            self._work.set()

    async def _queue_under_way(self, attempt: asyncio.Future[None], outgoing: Outgoing) -> None:
        # Under the lock, so that the entry is marked before the outbox is read again: only the
        # failure of the attempt under way starts another.
        async with self._outbox:
            number = await self._store.queue(outgoing)
            self._under_way.add(number)
        task = asyncio.create_task(self._finish(attempt, Queued(number, outgoing)))
        self._attempts.add(task)
        task.add_done_callback(self._attempts.discard)

    async def _finish(self, attempt: asyncio.Future[None], entry: Queued) -> None:
        try:
            await attempt
            await self._store.sent([entry])
        except NextHopBusy as error:
            self._say_down(error)
        except (NextHopRefused, StorageFailed):
            pass  # the outbox tries again, and bisects what is refused
        finally:
            self._under_way.discard(entry.id)
            self._work.set()

    async def relay(self, signal: Signal, body: bytes) -> bytes:
        """
        Forward a request of another signal; return the next hop's response message.

        Raises:
            NextHopBusy, NextHopRefused: What the next hop answered.
        """
        return (await self._next_hop.send(body, signal)).response

    def wake(self) -> None:
        """Say that there is something in the outbox."""
        self._work.set()

    async def run(self) -> None:
        """Empty the outbox, for ever."""
        while True:
            self._work.clear()
            async with self._outbox:
                batch = await self._store.waiting(BATCH_BYTES, self._under_way)
            if not batch:
                if not self._under_way:
                    self._empty.set()
                await self._work.wait()
                continue
            try:
                await self._send(batch)
            except (NextHopBusy, StorageFailed) as error:
                self._say_down(error)
                self._delay_s = min(max(self._delay_s * 2, FIRST_DELAY_S), LONGEST_DELAY_S)
                await asyncio.sleep(max(error.delay_s, self._delay_s * random.uniform(0.5, 1.0)))
            else:
                self._delay_s = 0.0

    async def _send(self, batch: Sequence[Queued]) -> None:
        """
        Send entries as one request (concatenated requests are one request), and forget them.

        What is refused for good is halved until the spans that are refused stand alone; each part
        is forgotten, or replaced by its halves, as soon as its fate is known.
        """
        whole = Outgoing(
            b"".join(entry.outgoing.request for entry in batch),
            sum(entry.outgoing.spans for entry in batch if entry.outgoing.kind != "carrier"),
            "plain",
        )
        try:
            await self._deliver(whole)
        except NextHopRefused as refusal:
            if len(batch) > 1:
                middle = len(batch) // 2
                await self._send(batch[:middle])
                await self._send(batch[middle:])
            else:
                await self._bisect(batch[0], refusal)
        else:
            await self._store.sent(batch)

    async def _bisect(self, entry: Queued, refusal: NextHopRefused) -> None:
        outgoing = entry.outgoing
        halves = _halves(outgoing)
        if halves is None:
            await self._keep(outgoing, outgoing.spans, str(refusal))
            await self._store.sent([entry])
        else:
            await self._send(await self._store.split(entry, halves))

    async def _deliver(self, outgoing: Outgoing) -> None:
        taken = await self._next_hop.send(outgoing.request)
        self._say_up()
        rejected = min(taken.rejected_spans, outgoing.spans)
        if rejected:
            await self._keep(outgoing, rejected, f"partial success: {rejected} rejected")
            self._telemetry.count(metrics.REJECTED_SPANS, rejected)
        self._telemetry.count(metrics.FORWARDED, outgoing.spans - rejected)

    async def _keep(self, outgoing: Outgoing, spans: int, reason: str) -> None:
        await self._dead_letters.keep(outgoing.request, spans, reason)
        self._telemetry.count(metrics.DEAD_LETTERED, spans)
        log.error("the next hop refused %d span(s), now dead letters: %s", spans, reason)

    def _say_up(self) -> None:
        if self.up is False:
            log.warning("the next hop %s takes spans again", self._next_hop.address)
        self.up = True

    def _say_down(self, error: Exception) -> None:
        if self.up is not False:
            log.warning(
                "the next hop %s does not take spans (%s); they wait on disk and will be sent",
                self._next_hop.address,
                error,
            )
        self.up = False

    async def drain(self) -> None:
        """Return when nothing waits in the outbox."""
        self._empty.clear()
        self._work.set()
        await self._empty.wait()


def _halves(outgoing: Outgoing) -> list[Outgoing] | None:
    envelope = Envelope.open(outgoing.request)
    places = [place for place, _ in envelope.spans()]
    if len(places) <= 1:
        return None
    middle = len(places) // 2
    return [
        Outgoing(envelope.without(set(rest)), len(half), outgoing.kind)
        for half, rest in (
            (places[:middle], places[middle:]),
            (places[middle:], places[:middle]),
        )
    ]
