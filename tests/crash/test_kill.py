"""Kill -9 at any moment: what was acknowledged arrives, once, judged or with its reason."""

import asyncio
import json
import os
import random
import secrets
import signal
import sys
from collections import defaultdict
from pathlib import Path

import grpc
import grpc.aio

from tests.service.backend import Backend, backend
from tests.service.conftest import EXPORT
from tests.service.spans import SCRIPT, attributes, request, retrieval, span

ROUNDS = int(os.environ.get("SEER_CRASH_ROUNDS", "12"))
"""Kills in one run; more of them with this variable."""


class Process:
    """An evaluator in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, grpc_address: str) -> None:
        self._process = process
        self.grpc_address = grpc_address

    @classmethod
    async def start(cls, folder: Path, next_hop: Backend, recording: Path) -> "Process":
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "seer_otel", "serve",
            "--grpc", "127.0.0.1:0", "--http", "off",
            "--forward", next_hop.url, "--judge", f"replay:{recording}",
            "--sample-rate", "1", "--hold", "4", "--data-dir", str(folder),
            stderr=asyncio.subprocess.PIPE,
            env={k: v for k, v in os.environ.items() if not k.startswith(("SEER_", "OTEL_"))},
        )  # fmt: skip
        assert process.stderr is not None
        said = []
        async for line in process.stderr:
            said.append(line.decode())
            if said[-1].startswith("listening "):
                break
        else:
            raise AssertionError("".join(said))
        return cls(process, said[-1].split()[1].removeprefix("grpc="))

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)

    async def gone(self) -> int:
        await self._process.communicate()
        return self._process.returncode or 0

    async def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return await self.gone()


class Client:
    """Sends until each request is acknowledged, as a Collector with a queue does."""

    def __init__(self) -> None:
        self.acknowledged: set[bytes] = set()
        self.unanswered: list[tuple[bytes, list[bytes]]] = []
        self._number = 0

    def _next(self) -> tuple[bytes, list[bytes]]:
        trace = secrets.token_bytes(16)
        first = self._number + 1
        self._number += 3
        spans = [retrieval(first, parent=first + 1, trace=trace), span(first + 2, trace=trace)]
        if random.random() < 0.5:
            spans.append(span(first + 1, "root", trace=trace))
        return request(*spans), [one.span_id for one in spans]

    async def load(self, address: str) -> None:
        """Send without end, several at once; end when the evaluator is gone."""
        async with grpc.aio.insecure_channel(address) as channel:
            call = channel.unary_unary(EXPORT)

            async def sender() -> None:
                while True:
                    item = self.unanswered.pop() if self.unanswered else self._next()
                    try:
                        await call(item[0], timeout=5)
                    except grpc.aio.AioRpcError:
                        self.unanswered.append(item)
                        return
                    self.acknowledged.update(item[1])

            await asyncio.gather(*(sender() for _ in range(4)))

    async def finish(self, address: str) -> None:
        """Send what was not answered."""
        async with grpc.aio.insecure_channel(address) as channel:
            call = channel.unary_unary(EXPORT)
            for body, ids in self.unanswered:
                await call(body, timeout=5)
                self.acknowledged.update(ids)
            self.unanswered.clear()


async def test_what_was_acknowledged_arrives_whenever_the_process_is_killed(
    tmp_path: Path,
) -> None:
    recording = tmp_path / "verdicts.jsonl"
    recording.write_text(
        "".join(
            json.dumps({"query": q, "requirements": [{"text": t, "passages": p} for t, p in rs]})
            + "\n"
            for q, rs in SCRIPT.items()
        )
    )
    client = Client()
    async with backend() as next_hop:
        for _ in range(ROUNDS):
            process = await Process.start(tmp_path / "data", next_hop, recording)
            load = asyncio.create_task(client.load(process.grpc_address))
            await asyncio.sleep(random.uniform(0.02, 0.5))
            process.kill()
            await process.gone()
            await load
        process = await Process.start(tmp_path / "data", next_hop, recording)
        await client.finish(process.grpc_address)
        exit_code = await process.stop()

    copies = defaultdict(set)
    for received in next_hop.spans:
        copies[received.span_id].add(received.SerializeToString())
    assert 0 == exit_code
    assert len(client.acknowledged) > 10 * ROUNDS
    assert set() == client.acknowledged - set(copies)
    assert [] == [span_id for span_id, bytes_ in copies.items() if len(bytes_) > 1]
    outcomes = {attributes(one).get("seer.evaluated") for one in next_hop.named("retrieval")}
    assert outcomes <= {"scored", "skipped"}
    assert "scored" in outcomes
