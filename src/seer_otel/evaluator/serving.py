"""The service as a process: its first lines, and the signals that end it."""

import asyncio
import contextlib
import os
import resource
import signal
import sys

from seer_otel.config import Config
from seer_otel.config.secrets import secrets_of, shown
from seer_otel.evaluator.app import Evaluator
from seer_otel.evaluator.telemetry import logs
from seer_otel.judge.select import describe


def serve(config: Config) -> None:
    """
    Run the service in this process until SIGINT or SIGTERM; a second signal ends it at once.

    Raises:
        ConfigError: Anything at the start that cannot heal by itself.
        PartFailed: Something that works in the background came to an unexpected end.
    """
    os.umask(0o077)  # what is held is nobody else's, whatever folder it is in
    _take_files()
    logs.begin(secrets_of(config))
    asyncio.run(_serve(config))


async def _serve(config: Config) -> None:
    evaluator = Evaluator(config)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(name: str) -> None:
        stop.set()
        _say(f"{name}: releasing what is held (again to stop at once; nothing accepted is lost)")
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal, number.name)
    _say(greeting(config))
    await evaluator.run(
        stop, lambda at: _say(f"listening grpc={at.grpc or 'off'} http={at.http or 'off'}")
    )


def greeting(config: Config) -> str:
    """Return the first line: how much is judged, by whom, and where everything goes."""
    forward = config.forward
    onward = (
        f"forwarding to {shown(forward.url)} ({forward.protocol})"
        if forward is not None and forward.url
        else "forwarding off: records only"
    )
    return (
        f"judging {100 * config.sample_rate:.4g} % of traces; "
        f"{describe(config.judge.settings())}; {onward}"
    )


def _take_files() -> None:
    """Let connections take as many files as the system gives; many systems give 1,024 at first."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        print(line, file=sys.stderr, flush=True)
