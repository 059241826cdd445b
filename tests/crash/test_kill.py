"""Kill -9 at any moment: what was acknowledged arrives, once, judged or with its reason."""

import asyncio
import contextlib
import os
import random
from collections import Counter
from pathlib import Path

import grpc
import grpc.aio
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.crash.points import POINTS
from tests.crash.process import EndedEarly, Process, recording
from tests.crash.traffic import Traffic, arrivals, assert_whole, make, twice
from tests.service.accounts import assert_balanced
from tests.service.backend import Backend, backend
from tests.service.spans import attributes, retrieval, span

ROUNDS = int(os.environ.get("SEER_CRASH_ROUNDS", "6"))
"""Kills in one run under load; more of them with this variable."""
SEED = int(os.environ.get("SEER_CRASH_SEED", random.randrange(2**32)))

RETRIEVAL, PLAIN = (1).to_bytes(8, "big"), (2).to_bytes(8, "big")

COPIES = {
    ("answer", 0): {PLAIN},
    ("queued", 0): {PLAIN},
    ("sent", 0): {PLAIN},
    ("sent", 1): {RETRIEVAL},
    ("forget", 0): {RETRIEVAL},
}
"""What comes twice after a crash: what was taken, and nobody heard so. Else, nothing does."""


class Chain:
    """A next hop, and one evaluator after another before it, on one data folder."""

    def __init__(self, folder: Path, next_hop: Backend) -> None:
        self._folder = folder
        self._judge = f"replay:{recording(folder)}"
        self.next_hop = next_hop
        self._started = 0

    async def start(self, crash_at: str | None = None, unharmed: int = 0) -> Process:
        self._started += 1
        headers = f"incarnation={self._started}"
        return await Process.start(
            self._folder / "data",
            self.next_hop,
            self._judge,
            crash_at=crash_at,
            unharmed=unharmed,
            environment={"OTEL_EXPORTER_OTLP_HEADERS": headers},
        )


def away(_: ExportTraceServiceRequest) -> grpc.StatusCode:
    return grpc.StatusCode.UNAVAILABLE


def poisoned(message: ExportTraceServiceRequest) -> grpc.StatusCode | None:
    names = [s.name for r in message.resource_spans for c in r.scope_spans for s in c.spans]
    return grpc.StatusCode.INVALID_ARGUMENT if "poison" in names else None


@pytest.mark.parametrize(
    ("point", "unharmed"),
    [
        *((point, 0) for point in POINTS if not point.startswith(("split", "letter"))),
        # The plain span is sent first; then the retrieval, after its verdict.
        ("send", 1),
        ("sent", 1),
        ("commit", 1),
        ("committed", 1),
    ],
)
async def test_a_crash_at_any_step_of_its_life_costs_no_span_and_doubles_none(
    tmp_path: Path, point: str, unharmed: int
) -> None:
    # Under a span that does not come, the retrieval settles: it leaves a second later.
    traffic = Traffic(unanswered=[make([retrieval(1, parent=9), span(2)])])
    async with backend() as next_hop:
        chain = Chain(tmp_path, next_hop)
        next_hop.answer = away if point in ("queue", "queued") else None
        process = await chain.start(point, unharmed)
        with contextlib.suppress(grpc.aio.AioRpcError):
            await traffic.finish(process.grpc)
        crashed = await process.gone()
        next_hop.answer = None
        process = await chain.start()
        await traffic.finish(process.grpc)
        await next_hop.until(lambda: {RETRIEVAL, PLAIN} <= set(next_hop.counts))
        assert_balanced(await process.metrics())
        code = await process.stop()

    assert (-9, 0) == (crashed, code)
    arrived = arrivals(next_hop)
    assert_whole(traffic, arrived)
    assert COPIES.get((point, unharmed), set()) == twice(arrived)


@pytest.mark.parametrize("point", ["split", "letter", "letter written"])
async def test_a_crash_on_the_way_to_a_dead_letter_costs_no_span_and_doubles_none(
    tmp_path: Path, point: str
) -> None:
    traffic = Traffic(unanswered=[make([span(1, "poison"), span(2)])])
    async with backend() as next_hop:
        next_hop.answer = poisoned
        chain = Chain(tmp_path, next_hop)
        process = await chain.start(point)
        with contextlib.suppress(grpc.aio.AioRpcError):
            await traffic.finish(process.grpc)
        crashed = await process.gone()
        process = await chain.start()
        await traffic.finish(process.grpc)
        await next_hop.until(lambda: PLAIN in next_hop.counts)
        code = await process.stop()

    assert (-9, 0) == (crashed, code)
    assert {PLAIN: 1} == next_hop.counts
    (letter,) = (tmp_path / "data" / "dead-letters").glob("*.otlp.pb")
    assert poisoned(ExportTraceServiceRequest.FromString(letter.read_bytes()))


async def test_what_was_acknowledged_arrives_whenever_the_process_is_killed(
    tmp_path: Path,
) -> None:
    print(f"SEER_CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    traffic = Traffic()
    crashes: Counter[str] = Counter()
    async with backend() as next_hop:
        chain = Chain(tmp_path, next_hop)
        for _ in range(ROUNDS):
            point = chance.choice((*POINTS, "by the clock"))
            crashes[point] += 1
            trouble = chance.choice((None, None, None, away, poisoned))
            next_hop.answer = trouble
            crash_at = None if point == "by the clock" else point
            try:
                process = await chain.start(crash_at, chance.randrange(40))
            except EndedEarly:
                assert crash_at is not None  # what waited on disk got there first
                continue
            load = asyncio.create_task(traffic.load(process.grpc))
            await asyncio.wait({load}, timeout=chance.uniform(0.05, 1.0))
            process.kill()
            await process.gone()
            await load
        next_hop.answer = None
        process = await chain.start()
        await traffic.finish(process.grpc)
        letters = set(arrivals(next_hop, tmp_path / "data"))
        await next_hop.until(
            lambda: traffic.acknowledged.keys() <= letters | set(next_hop.counts), timeout_s=60
        )
        told = assert_balanced(await process.metrics())
        code = await process.stop()

    print(f"{len(traffic.acknowledged)} spans, {dict(crashes)}, {dict(told)}")
    arrived = arrivals(next_hop, tmp_path / "data")
    assert 0 == code
    assert len(traffic.acknowledged) > 10 * ROUNDS
    assert_whole(traffic, arrived)
    outcomes = {attributes(one).get("seer.evaluated") for one in next_hop.named("retrieval")}
    assert outcomes <= {"scored", "skipped", "deferred"}
    assert "scored" in outcomes
