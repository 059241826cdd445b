"""Programs beside a test: started, waited for, and stopped by their process id."""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

READY_WITHIN_S = 30.0
STOPPED_WITHIN_S = 30.0


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback that nobody listens on, all different."""
    with ExitStack() as sockets:
        taken = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in taken]


@dataclass(frozen=True)
class Running:
    """A program that is up."""

    name: str
    pid: int
    log: Path

    def said(self) -> str:
        """Return the end of what it printed."""
        return f"--- {self.name}\n{self.log.read_text(errors='replace')[-4000:]}"


@contextmanager
def running(
    name: str,
    command: Sequence[str | Path],
    *,
    ready: Callable[[Path], bool],
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Running]:
    """
    Run a program until the block ends, then stop it with SIGTERM.

    `ready` is asked, with the file of what the program printed, until it says yes.

    Raises:
        AssertionError: The program ended early, was not ready in time, or would not stop.
    """
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **(environment or {})},
        )
    program = Running(name, process.pid, log)
    try:
        wait_until(lambda: process.poll() is not None or ready(log), READY_WITHIN_S, program.said)
        assert process.poll() is None, f"{name} ended: {program.said()}"
        yield program
    finally:
        process.terminate()
        try:
            process.wait(STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"{name} did not stop: {program.said()}") from None


def wait_until(
    condition: Callable[[], bool], within_s: float, explain: Callable[[], str] = str
) -> None:
    """
    Ask again and again until the condition holds.

    Raises:
        AssertionError: It did not in time; says what `explain` returns.
    """
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {within_s} s: {explain()}"
        time.sleep(0.05)


def answers(url: str) -> bool:
    """Whether a GET is answered with 200."""
    try:
        return httpx.get(url, timeout=2.0).status_code == 200
    except httpx.TransportError:
        return False
