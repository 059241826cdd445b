"""The demo: application, evaluator and next hop in one process, on free ports of loopback."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from rich.console import Console

from seer_otel import SeerSpanProcessor, semconv
from seer_otel.config import Config, load
from seer_otel.demo.application import RETRIEVALS, answer, questions
from seer_otel.demo.receiver import Receiver, receiver
from seer_otel.demo.search import Index
from seer_otel.demo.tree import tree
from seer_otel.dialects import Span
from seer_otel.evaluator.app import Evaluator, Listening
from seer_otel.judge.select import describe

_JUDGE: Final = ("SEER_JUDGE", "SEER_JUDGE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY")
"""All that the demo takes from the environment: it is the same on every machine."""

_PATIENCE_S: Final = 60.0
"""For all results; a model may take its time."""

_NEXT: Final = """\
task: what the user asked. subquery: what one search was for. trace: what was answered from.
The built-in judge compares words, and is easily fooled. A model judges better; it sees the text:
  SEER_JUDGE_MODEL=... OPENAI_API_KEY=... seer-otel demo

To see such a trace in Jaeger (OTLP on port 4317, pages on 16686):
  seer-otel serve --grpc 127.0.0.1:24317 --http 127.0.0.1:24318 --forward http://127.0.0.1:4317
  seer-otel demo --endpoint http://127.0.0.1:24318 --jaeger http://127.0.0.1:16686\
"""


def run(environment: Mapping[str, str] = os.environ) -> bool:
    """
    Run the application, have its retrievals judged, and print each trace with its scores.

    Returns whether every retrieval got its result. Nothing is left behind, also after Ctrl-C.

    Raises:
        ConfigError: There is no such judge.
    """
    console = Console(highlight=False)
    with TemporaryDirectory(prefix="seer-otel-demo-") as folder:
        return asyncio.run(_run(console, Path(folder), environment))


async def _run(console: Console, folder: Path, environment: Mapping[str, str]) -> bool:
    async with receiver() as next_hop:
        config = _config(next_hop.url, folder, environment)
        console.print(describe(config.judge.settings()), style="dim")
        async with _evaluating(config) as evaluator_url:
            await asyncio.to_thread(_ask, evaluator_url, next_hop.url)
            with console.status("judging"):
                complete = await _results(next_hop)
    console.print()
    for spans in _traces(next_hop.spans):
        console.print(tree(spans))
        console.print()
    if not complete:
        console.print(f"Some results did not come within {_PATIENCE_S:g} s.", style="red")
    console.print(_NEXT, soft_wrap=True)
    return complete


def _config(next_hop_url: str, folder: Path, environment: Mapping[str, str]) -> Config:
    judge = {name: environment[name] for name in _JUDGE if name in environment}
    flags = {
        "grpc": "off",
        "http": "127.0.0.1:0",
        "forward.url": next_hop_url,
        "sample_rate": 1.0,
        # No retrieval encloses another here: there is nothing to wait for.
        "hold.settle": 0.1,
        "shutdown.grace": 2.0,
        "data_dir": folder,
    }
    return load(None, judge, flags)


@asynccontextmanager
async def _evaluating(config: Config) -> AsyncIterator[str]:
    """Run the evaluator, and give its URL."""
    stop = asyncio.Event()
    ready: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
    service = asyncio.create_task(Evaluator(config).run(stop, ready.set_result))
    try:
        either: set[asyncio.Future[Any]] = {service, ready}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            await service  # raises what kept it from starting
        yield f"http://{ready.result().http}"
    finally:
        stop.set()
        await service


def _ask(evaluator_url: str, next_hop_url: str) -> None:
    """Run the application: its own export goes to the next hop, and copies to the evaluator."""
    provider = TracerProvider(sampler=ALWAYS_ON, resource=Resource({"service.name": "demo"}))
    exporter = OTLPSpanExporter(next_hop_url, insecure=True)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    provider.add_span_processor(SeerSpanProcessor(evaluator_url, sample_rate=1.0, send=True))
    index = Index.of_demo()
    for question in questions():
        answer(question, index, provider)
    provider.shutdown()


async def _results(next_hop: Receiver) -> bool:
    """Wait for the result of every retrieval; return whether all came."""
    wanted = RETRIEVALS * len(questions())

    def complete() -> bool:
        return sum(span.name == semconv.EVALUATION_EVENT for span in next_hop.spans) >= wanted

    try:
        async with asyncio.timeout(_PATIENCE_S):
            await next_hop.until(complete)
    except TimeoutError:
        return False
    return True


def _traces(spans: Iterable[Span]) -> list[list[Span]]:
    """Return the spans of each trace, in the order in which the traces began."""
    traces: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.start_ns):
        traces.setdefault(span.trace_id, []).append(span)
    return list(traces.values())
