"""The evaluator, killed again and again behind a real Collector: every span arrives, once."""

import asyncio
import os
import random
from collections import Counter, defaultdict
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.crash.process import Process, recording
from tests.crash.traffic import Traffic
from tests.service.accounts import assert_balanced
from tests.service.backend import backend
from tests.service.spans import attributes

from .peers import Peers
from .stack import Addresses, running_collector

KILLS = int(os.environ.get("SEER_CRASH_ROUNDS", "6"))

IMPATIENT = """
exporters:
  otlp_grpc/evaluator: {retry_on_failure: {initial_interval: 200ms, max_interval: 1s}}
"""


class Application:
    """Sends spans to a Collector, which keeps them on disk, until it is told to stop."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}/v1/traces"
        self._traffic = Traffic()
        self.sent: dict[bytes, bytes] = {}
        """Bytes by span id."""

    async def send(self, until: asyncio.Event) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            while not until.is_set():
                batch = self._traffic.next()
                answer = await client.post(
                    self._url,
                    content=batch.body,
                    headers={"content-type": "application/x-protobuf"},
                )
                if answer.status_code == httpx.codes.OK:
                    self.sent.update(batch.spans)
                await asyncio.sleep(0.002)


@pytest.mark.timeout(300, func_only=True)
async def test_every_span_arrives_once_however_often_the_evaluator_is_killed(
    peers: Peers, tmp_path: Path
) -> None:
    addresses = Addresses.free()
    addition = tmp_path / "impatient.yaml"
    addition.write_text(IMPATIENT)
    judge = f"replay:{recording(tmp_path)}"
    async with backend() as store:

        async def evaluator(number: int) -> Process:
            next_hop = type(store)(port=int(addresses.judged_grpc.rpartition(":")[2]))
            return await Process.start(
                tmp_path / "evaluator",
                next_hop,
                judge,
                *("--grpc", addresses.evaluator_grpc, "--http", addresses.evaluator_http),
                environment={"OTEL_EXPORTER_OTLP_HEADERS": f"incarnation={number}"},
            )

        with running_collector(
            peers, "sidecar-jaeger.yaml", addresses,
            backend=f"127.0.0.1:{store.port}", folder=tmp_path, additions=[addition],
        ):  # fmt: skip
            application, enough = Application(addresses.http), asyncio.Event()
            sending = asyncio.create_task(application.send(enough))
            for number in range(KILLS):
                process = await evaluator(number)
                await asyncio.sleep(random.uniform(0.5, 2.5))
                process.kill()
                await process.gone()
            enough.set()
            await sending
            process = await evaluator(KILLS)
            await store.until(lambda: application.sent.keys() <= set(store.counts), timeout_s=120)
            async with asyncio.timeout(30):
                while assert_balanced(await process.metrics())["held"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            code = await process.stop()

    copies = defaultdict(list)
    for span in store.spans:
        copies[span.span_id].append(span)
    twice = {span_id: found for span_id, found in copies.items() if len(found) > 1}
    print(f"{len(application.sent)} spans, {KILLS} kills, {len(twice)} came twice")

    assert 0 == code
    assert len(application.sent) > 100 * KILLS
    assert set() == application.sent.keys() - copies.keys()
    assert [] == [span_id for span_id, found in twice.items() if any(s != found[0] for s in found)]
    assert len(twice) < len(application.sent) / 20
    for span_id, sent in application.sent.items():
        expected = Span.FromString(sent)
        expected.status.SetInParent()  # the Collector writes it, empty
        assert expected == _without_results(copies[span_id][0])
    outcomes = Counter(attributes(s).get("seer.evaluated") for s in store.named("retrieval"))
    assert outcomes["scored"] > sum(outcomes.values()) / 2
    assert None not in outcomes


def _without_results(span: Span) -> Span:
    bare = Span()
    bare.CopyFrom(span)
    del bare.events[:]
    kept = [a for a in span.attributes if a.key in ("seer.context", "seer.task")]
    del bare.attributes[:]
    bare.attributes.extend(kept)
    return bare
