"""Traffic that is sent until it is acknowledged, and what may have become of each span of it."""

import asyncio
import random
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import grpc.aio
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel.evaluator.envelope import Envelope, head
from seer_otel.evaluator.forward.dead_letters import letters
from tests.service.backend import Backend
from tests.service.conftest import EXPORT
from tests.service.spans import CONTEXT, request, retrieval, span


@dataclass(frozen=True)
class Sent:
    """One export request."""

    body: bytes
    spans: Mapping[bytes, bytes]
    """Bytes by span id."""


def make(spans: Sequence[Span]) -> Sent:
    return Sent(request(*spans), {one.span_id: one.SerializeToString() for one in spans})


@dataclass
class Traffic:
    """Sends until each request is acknowledged, as a Collector with a queue does."""

    acknowledged: dict[bytes, bytes] = field(default_factory=dict)
    """Bytes by span id."""
    unanswered: list[Sent] = field(default_factory=list)
    deliveries: Counter[bytes] = field(default_factory=Counter)
    """How often each span was sent."""
    last: int = 0
    large: float = 0.0
    """Share of retrievals whose context is large."""

    def next(self) -> Sent:
        """Make a retrieval and its neighbour, now and then poison, or with their trace's root."""
        trace = secrets.token_bytes(16)
        first = self.last + 1
        self.last += 3
        name = "poison" if random.random() < 0.1 else "step"
        large = [{"text": "x" * 200_000}] if random.random() < self.large else []
        spans = [
            retrieval(first, parent=first + 1, trace=trace, context=[*CONTEXT, *large]),
            span(first + 2, name, trace=trace),
        ]
        if random.random() < 0.5:
            spans.append(span(first + 1, "root", trace=trace))
        return make(spans)

    async def load(self, address: str, senders: int = 4) -> None:
        """Send without end, several at once; end when the evaluator is gone."""
        async with grpc.aio.insecure_channel(address) as channel:
            await asyncio.gather(*(self._send(channel) for _ in range(senders)))

    async def _send(self, channel: grpc.aio.Channel) -> None:
        while True:
            sent = self.unanswered.pop() if self.unanswered else self.next()
            try:
                await self._deliver(channel, sent)
            except grpc.aio.AioRpcError as error:
                self.unanswered.append(sent)
                if not _is_refusal(error):
                    return
                await asyncio.sleep(0.1)

    async def send(self, channel: grpc.aio.Channel, sent: Sent) -> None:
        """Send one request; where that is not answered with OK, it is to be sent again."""
        try:
            await self._deliver(channel, sent)
        except (grpc.aio.AioRpcError, asyncio.CancelledError) as error:
            self.unanswered.append(sent)
            if isinstance(error, asyncio.CancelledError):
                raise

    async def _deliver(self, channel: grpc.aio.Channel, sent: Sent) -> None:
        self.deliveries.update(sent.spans.keys())
        await channel.unary_unary(EXPORT)(sent.body, timeout=10)
        self.acknowledged.update(sent.spans)

    async def finish(self, address: str) -> None:
        """Send what was not answered."""
        async with grpc.aio.insecure_channel(address) as channel:
            while self.unanswered:
                try:
                    await self._deliver(channel, self.unanswered[-1])
                except grpc.aio.AioRpcError as error:
                    if not _is_refusal(error):
                        raise
                    await asyncio.sleep(0.2)
                else:
                    self.unanswered.pop()


@dataclass(frozen=True)
class Arrived:
    """One copy of a span at the next hop."""

    span: bytes
    by: str
    """Which process brought it."""


def arrivals(next_hop: Backend, data: Path | None = None) -> Mapping[bytes, list[Arrived]]:
    """Return what came, carriers aside, by span id; the letters of a data folder among it."""
    requests = [
        (body, headers.get("incarnation", ""))
        for (_, body), headers in zip(next_hop.requests, next_hop.headers, strict=True)
    ]
    if data is not None:
        requests += [(path.read_bytes(), "a letter") for path, _ in letters(data)]
    found = defaultdict(list)
    for body, by in requests:
        for _, raw in Envelope.open(body).spans():
            ids = head(raw)
            assert ids is not None
            if Span.FromString(raw).name != "seer.evaluation":
                found[ids.span_id].append(Arrived(raw, by))
    return found


def assert_whole(traffic: Traffic, arrived: Mapping[bytes, Sequence[Arrived]]) -> None:
    """
    All that was acknowledged arrived, byte for byte but for what was appended to retrievals.

    Copies are the same bytes. No process brought a retrieval twice, or a plain span more often than
    that was sent.
    """
    sent = traffic.acknowledged
    assert set() == sent.keys() - arrived.keys()
    for span_id, copies in arrived.items():
        assert 1 == len({copy.span for copy in copies})
        is_retrieval = b"seer.context" in copies[0].span
        most = 1 if is_retrieval else traffic.deliveries[span_id]
        assert max(Counter(copy.by for copy in copies).values()) <= most
        if span_id in sent:
            assert_same(sent[span_id], copies[0].span)


def assert_same(sent: bytes, arrived: bytes) -> None:
    """A plain span is what it was; a retrieval has results behind what it was."""
    assert arrived.startswith(sent)
    appended = Span.FromString(arrived[len(sent) :])
    assert not Span.FromString(sent).name.startswith("retrieval") or appended.attributes
    appended.ClearField("events")
    appended.ClearField("attributes")
    assert b"" == appended.SerializeToString()


def twice(arrived: Mapping[bytes, Iterable[Arrived]]) -> set[bytes]:
    """Return the ids of spans that came more than once."""
    return {span_id for span_id, copies in arrived.items() if len(list(copies)) > 1}


def _is_refusal(error: grpc.aio.AioRpcError) -> bool:
    """Whether the service said to come again, rather than nothing."""
    return "google.rpc.retryinfo-bin" in dict(error.trailing_metadata() or ())
