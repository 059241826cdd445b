"""
Send to the next hop: at once where that works, from the outbox where it does not.

    plain ──attempt──► taken
               ├─ not within PATIENCE_S ──► outbox, marked as under way ──► taken: forgotten
               ├─ busy ──► outbox ──retry, for ever──► taken
               └─ refused ──► bisected to the spans that are refused ──► dead letters
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Sequence

from seer_otel.errors import NextHopBusy, NextHopRefused, StorageFailed
from seer_otel.evaluator.envelope import Envelope
from seer_otel.evaluator.forward.dead_letters import DeadLetters
from seer_otel.evaluator.forward.departures import Departures, Fate
from seer_otel.evaluator.forward.next_hop import NextHop, Signal
from seer_otel.evaluator.hold.entries import Outgoing, Queued
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.health import Pulse
from seer_otel.evaluator.telemetry.metrics import Telemetry

log = logging.getLogger(__name__)

PATIENCE_S = 2.0
"""How long an answer may wait for the next hop; clients wait 5 to 10 s in all."""
BATCH_BYTES = 3 * 1024 * 1024
"""Of one outgoing request; gRPC receivers take 4 MiB unless told otherwise."""
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 15.0
LONGEST_ASKED_S = 300.0
"""Longest delay that the next hop may ask for."""
LOOK_S = 5.0
"""Longest time without a look at the outbox."""
REMIND_S = 60.0
"""Between two log lines about dead letters."""


class Forwarder:
    """Everything that leaves passes here."""

    def __init__(
        self,
        next_hop: NextHop,
        store: Store,
        dead_letters: DeadLetters,
        telemetry: Telemetry,
        pulse: Pulse,
    ) -> None:
        self._next_hop = next_hop
        self._store = store
        self._dead_letters = dead_letters
        self._telemetry = telemetry
        self._pulse = pulse
        self._departures = Departures(store, telemetry)
        self._under_way: set[int] = set()
        self._attempts: set[asyncio.Task[None]] = set()
        self._outbox = asyncio.Lock()
        self._work = asyncio.Event()
        self._empty = asyncio.Event()
        self._delay_s = 0.0
        self._untold = 0
        self._tell_s = 0.0
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
            await self._queue(outgoing)
            return
        attempt = asyncio.ensure_future(self._attempt(outgoing))
        done, _ = await asyncio.wait({attempt}, timeout=PATIENCE_S)
        if not done and await self._queue_under_way(attempt, outgoing):
            return
        try:
            fate = await attempt
        except (NextHopBusy, NextHopRefused) as error:
            if isinstance(error, NextHopBusy):
                self._say_down(error)
            await self._queue(outgoing)
        else:
            self._departures.count(fate)

    async def _queue(self, outgoing: Outgoing) -> None:
        await self._store.queue(outgoing)
        self._work.set()

    async def _queue_under_way(self, attempt: asyncio.Future[Fate], outgoing: Outgoing) -> bool:
        """Put on disk what is being sent; where that refuses, all hangs on the attempt."""
        # Under the lock, so that the entry is marked before the outbox is read again: only the
        # failure of the attempt under way starts another.
        async with self._outbox:
            try:
                number = await self._store.queue(outgoing)
            except StorageFailed:
                return False
            self._under_way.add(number)
        task = asyncio.create_task(self._finish(attempt, number))
        self._attempts.add(task)
        task.add_done_callback(self._attempts.discard)
        return True

    async def _finish(self, attempt: asyncio.Future[Fate], number: int) -> None:
        try:
            await self._departures.add((number,), await attempt)
        except NextHopBusy as error:
            self._say_down(error)
        except NextHopRefused:
            pass  # the outbox bisects what is refused
        finally:
            self._under_way.discard(number)
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
            self._pulse.beat(self._next_hop.patience_s)
            self._work.clear()
            try:
                await self._departures.forget()
                async with self._outbox:
                    besides = self._under_way | self._departures.ids
                    batch = await self._store.waiting(BATCH_BYTES, besides)
                if batch:
                    await self._send(batch)
            except NextHopBusy as error:
                self._say_down(error)
                await self._pause(error.delay_s)
            except StorageFailed as error:
                log.warning("%s; trying again", error)
                await self._pause(0.0)
            else:
                self._delay_s = 0.0
                if not batch:
                    await self._idle()

    async def _pause(self, asked_s: float) -> None:
        """Wait as long as the next hop asked for; at least ever longer."""
        self._delay_s = min(max(self._delay_s * 2, FIRST_DELAY_S), LONGEST_DELAY_S)
        own_s = self._delay_s * random.uniform(0.5, 1.0)
        delay_s = max(own_s, min(asked_s, LONGEST_ASKED_S))
        self._pulse.beat(delay_s)
        await asyncio.sleep(delay_s)

    async def _idle(self) -> None:
        if not self._under_way and not self._departures.ids:
            self._empty.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await self._work.wait()

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
        self._pulse.beat(self._next_hop.patience_s)
        try:
            fate = await self._attempt(whole)
        except NextHopRefused as refusal:
            if len(batch) > 1:
                middle = len(batch) // 2
                await self._send(batch[:middle])
                await self._send(batch[middle:])
            else:
                await self._bisect(batch[0], refusal)
        else:
            await self._departures.add([entry.id for entry in batch], fate)

    async def _bisect(self, entry: Queued, refusal: NextHopRefused) -> None:
        outgoing = entry.outgoing
        halves = _halves(outgoing)
        if halves is None:
            await self._keep(outgoing, outgoing.spans, str(refusal))
            lost = 0 if outgoing.kind == "carrier" else outgoing.spans
            await self._departures.add([entry.id], Fate(dead_lettered=lost))
        else:
            await self._send(await self._store.split(entry, halves))

    async def _attempt(self, outgoing: Outgoing) -> Fate:
        """
        Send once; what of it the next hop threw away is a dead letter.

        Raises:
            NextHopBusy, NextHopRefused: What the next hop answered.
        """
        taken = await self._next_hop.send(outgoing.request)
        self._say_up()
        if taken.rejected_spans:
            self._telemetry.count(metrics.REJECTED_SPANS, taken.rejected_spans)
            await self._keep_rejected(outgoing, taken.rejected_spans)
        lost = min(taken.rejected_spans, outgoing.spans)
        return Fate(outgoing.spans - lost, lost)

    async def _keep_rejected(self, outgoing: Outgoing, rejected: int) -> None:
        """Keep a letter of what was taken in part: as it must not be sent again, at any price."""
        reason = f"partial success: {rejected} rejected"
        while True:
            try:
                await self._keep(outgoing, rejected, reason, partial=True)
            except StorageFailed as error:
                log.warning("%s; trying again", error)
                self._pulse.beat(LOOK_S)
                await asyncio.sleep(LOOK_S)
            else:
                return

    async def _keep(
        self, outgoing: Outgoing, spans: int, reason: str, *, partial: bool = False
    ) -> None:
        await self._dead_letters.keep(outgoing.request, spans, reason, partial=partial)
        self._untold += spans
        now = asyncio.get_running_loop().time()
        if now >= self._tell_s:
            log.error("the next hop refused %d span(s), now dead letters: %s", self._untold, reason)
            self._untold = 0
            self._tell_s = now + REMIND_S

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
