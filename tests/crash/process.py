"""An evaluator in a process of its own, to be killed."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Self

import httpx
import pytest

from tests.service.backend import Backend
from tests.service.spans import SCRIPT

REPOSITORY = Path(__file__).resolve().parents[2]


class EndedEarly(AssertionError):
    """Raised where a process ended before it listened; carries what it said."""


_STARTED: list[asyncio.subprocess.Process] = []


@pytest.fixture(autouse=True)
async def no_process_left() -> AsyncIterator[None]:
    """End what a test that failed has left running."""
    yield
    while _STARTED:
        process = _STARTED.pop()
        if process.returncode is None:
            process.kill()
            await process.wait()


def recording(folder: Path) -> Path:
    """Write the verdicts of the script, for a judge that replays them."""
    file = folder / "verdicts.jsonl"
    file.write_text(
        "".join(
            json.dumps({"query": q, "requirements": [{"text": t, "passages": p} for t, p in rs]})
            + "\n"
            for q, rs in SCRIPT.items()
        )
    )
    return file


class Process:
    """A running `seer-otel serve`."""

    def __init__(self, process: asyncio.subprocess.Process, grpc: str, http: str) -> None:
        self._process = process
        self.grpc = grpc
        self.http = http
        self.said: list[str] = []
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls,
        folder: Path,
        next_hop: Backend,
        judge: str,
        *flags: str,
        crash_at: str | None = None,
        unharmed: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """
        Start one and wait until it listens.

        Args:
            folder: Its data folder.
            next_hop: Where it forwards.
            judge: Who judges.
            flags: More of them.
            crash_at: One of `points.POINTS`.
            unharmed: How many pass that point before.
            environment: Variables besides those of this process that have no bearing on it.

        Raises:
            EndedEarly: It is gone already.
        """
        crash = {} if crash_at is None else {"SEER_CRASH_AT": crash_at}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.crash.points" if crash_at else "seer_otel", "serve",
            "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--forward", next_hop.url,
            "--judge", judge, "--sample-rate", "1", "--hold", "4", "--data-dir", str(folder),
            *flags,
            stderr=asyncio.subprocess.PIPE,
            cwd=REPOSITORY,
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith(("SEER_", "OTEL_"))},
                **crash,
                "SEER_CRASH_AFTER": str(unharmed),
                **(environment or {}),
            },
        )  # fmt: skip
        _STARTED.append(process)
        assert process.stderr is not None
        said = []
        async for line in process.stderr:
            said.append(line.decode())
            if said[-1].startswith("listening "):
                break
        else:
            raise EndedEarly("".join(said))
        grpc, http = said[-1].split()[1:]
        return cls(process, grpc.removeprefix("grpc="), http.removeprefix("http="))

    @property
    def pid(self) -> int:
        return self._process.pid

    async def _read(self) -> None:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self.said.append(line.decode())

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it may have crashed
            self._process.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    async def gone(self) -> int:
        """Wait for its end; return the exit code, or less the number of the signal."""
        code = await self._process.wait()
        await self._reading
        return code

    async def stop(self) -> int:
        self.terminate()
        return await self.gone()

    async def metrics(self) -> str:
        async with httpx.AsyncClient(trust_env=False) as client:
            return (await client.get(f"http://{self.http}/metrics")).text
