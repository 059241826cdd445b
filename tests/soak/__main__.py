"""
The service under load and trouble for minutes: nothing lost, nothing doubled, memory flat.

`SEER_SOAK_SECONDS` says for how long (600), `SEER_SOAK_RATE` how many requests a second (80). In
the first quarter it is killed again and again; then it has to last. Curves: `.soak/soak.svg`.
"""

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import grpc.aio

from tests.crash.process import REPOSITORY, Process
from tests.crash.traffic import Traffic, arrivals, assert_whole
from tests.service.accounts import accounts, assert_balanced
from tests.service.backend import backend
from tests.soak.chaos import Judge, NextHop, make_trouble
from tests.soak.plot import svg

SECONDS = float(os.environ.get("SEER_SOAK_SECONDS", "600"))
RATE = float(os.environ.get("SEER_SOAK_RATE", "80"))
KILLED_SHARE = 0.25
FLAT_MIB = 15.0
"""What memory may grow by, from the third quarter to the last, traces in view aside."""
TRACE_MIB = 8 / 1024
"""Of one trace in view; there are 10,000 at most."""
OUTPUT = REPOSITORY / ".soak"


@dataclass
class Curves:
    """What is drawn."""

    began_s: float = field(default_factory=time.monotonic)
    times_s: list[float] = field(default_factory=list)
    memory_mib: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    traces: list[float] = field(default_factory=list)
    forwarded: list[float] = field(default_factory=list)
    marks: dict[float, str] = field(default_factory=dict)

    @property
    def now_s(self) -> float:
        return time.monotonic() - self.began_s

    def mark(self, what: str) -> None:
        self.marks[self.now_s] = what

    async def sample(self, process: Process) -> None:
        """Add a point, for ever; each has to balance."""
        while True:
            exposition = await process.metrics()
            told = assert_balanced(exposition)
            self.traces.append(float(_value("seer_traces_known", exposition)))
            self.times_s.append(self.now_s)
            self.memory_mib.append(_resident_mib(process.pid))
            self.held.append(told["held"])
            self.forwarded.append(told["forwarded"])
            await asyncio.sleep(1.0)

    def growth_mib(self) -> float:
        """Return by how much memory grew from the third quarter to the last, by their medians."""
        others = (mib - TRACE_MIB * t for mib, t in zip(self.memory_mib, self.traces, strict=True))
        points = list(zip(self.times_s, others, strict=True))
        third, last = (
            [mib for at_s, mib in points if SECONDS * start <= at_s < SECONDS * end]
            for start, end in ((0.5, 0.75), (0.75, 1.0))
        )
        return statistics.median(last) - statistics.median(third)

    def write(self) -> Path:
        OUTPUT.mkdir(exist_ok=True)
        file = OUTPUT / "soak.svg"
        curves = {
            "resident memory, MiB": self.memory_mib,
            "traces in view": self.traces,
            "spans held or queued": self.held,
            "spans forwarded since the start of the process": self.forwarded,
        }
        title = f"{SECONDS:g} s at {RATE:g} requests a second"
        file.write_text(svg(title, self.times_s, curves, self.marks))
        return file


async def main() -> None:
    traffic, curves, judge = Traffic(large=0.02), Curves(), Judge()
    async with AsyncExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(dir=REPOSITORY, prefix=".soak-"))
        )
        await stack.enter_async_context(judge.stub)
        next_hop = NextHop(await stack.enter_async_context(backend()))
        settings = folder / "seer.yaml"
        settings.write_text(
            f"judge: {{kind: openai, model: m, base_url: '{judge.stub.base_url}', api_key: k, "
            "timeout: 2}\nhold: {seconds: 3}\ntrace_results: {idle: 2, send: marked}\n"
        )
        number = 0

        async def start() -> Process:
            nonlocal number
            number += 1
            headers = {"OTEL_EXPORTER_OTLP_HEADERS": f"incarnation={number}"}
            return await Process.start(
                folder / "data", next_hop.backend, "openai", "--config", str(settings),
                environment=headers,
            )  # fmt: skip

        trouble = asyncio.create_task(make_trouble(judge, next_hop, curves.mark))
        process = await start()
        while curves.now_s < SECONDS * KILLED_SHARE:
            await _run(process, traffic, curves, random.uniform(3.0, 15.0))
            process.kill()
            curves.mark("killed")
            await process.gone()
            process = await start()
        await _run(process, traffic, curves, SECONDS - curves.now_s)
        trouble.cancel()
        next_hop.well()
        judge.mood = "well"
        await traffic.finish(process.grpc)
        await _drain(process)
        code = await process.stop()
        arrived = arrivals(next_hop.backend, folder / "data")
    file = curves.write()
    growth_mib = curves.growth_mib()
    print(
        f"{len(traffic.acknowledged)} spans, {number - 1} kills, {len(curves.marks)} troubles; "
        f"memory {curves.memory_mib[-1]:.0f} MiB, {growth_mib:+.1f} MiB in the last half; {file}"
    )
    assert 0 == code
    assert_whole(traffic, arrived)
    assert growth_mib < FLAT_MIB, growth_mib
    print("nothing lost, nothing doubled, memory flat")


async def _run(process: Process, traffic: Traffic, curves: Curves, seconds: float) -> None:
    """Load the process for some seconds, and look at it meanwhile."""
    sampling = asyncio.create_task(curves.sample(process))
    loading = asyncio.create_task(_load(process.grpc, traffic))
    done, _ = await asyncio.wait(
        {sampling, loading}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
    )
    for task in (sampling, loading):
        task.cancel()
    await asyncio.gather(sampling, loading, return_exceptions=True)
    for task in done:
        task.result()  # neither ends by itself


async def _load(address: str, traffic: Traffic) -> None:
    """Send at the rate, for ever; what is not answered with OK is sent again."""
    async with grpc.aio.insecure_channel(address) as channel, asyncio.TaskGroup() as group:
        while True:
            sent = traffic.unanswered.pop() if traffic.unanswered else traffic.next()
            group.create_task(traffic.send(channel, sent))
            await asyncio.sleep(random.expovariate(RATE))


async def _drain(process: Process) -> None:
    async with asyncio.timeout(60):
        while accounts(await process.metrics())["held"]:  # noqa: ASYNC110
            await asyncio.sleep(0.2)


def _value(name: str, exposition: str) -> str:
    return next(line.split()[1] for line in exposition.splitlines() if line.startswith(f"{name} "))


def _resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except AssertionError as error:
        sys.exit(f"soak: {error or 'a promise was broken'}")
