"""Real libraries under real instrumentations: what they find is shipped, and judged."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.service.conftest import Start
from tests.service.spans import attributes, event
from tests.service.texts import Texts, texts

from .live.application import PASSAGES

ROOT = Path(__file__).parents[2]
Judged = Callable[..., Awaitable[list[Span]]]


@pytest.fixture
def judged(start: Start) -> Judged:
    """
    Run an application before an evaluator; return the carriers of its results.

    `under`: the environment of `opentelemetry-instrument`, where it is to run under that.
    """

    async def run(
        application: str,
        *arguments: str,
        count: int = 1,
        under: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> list[Span]:
        service = await start(trace_results__send="marked", **settings)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "SEER_"))}
        process = await asyncio.create_subprocess_exec(
            *([] if under is None else [Path(sys.executable).parent / "opentelemetry-instrument"]),
            sys.executable,
            "-m",
            f"tests.e2e.live.{application}",
            *arguments,
            cwd=ROOT,
            env={
                **inherited,
                **(under or {}),
                "SEER_ENDPOINT": f"http://{service.listening.http}",
                "SEER_SAMPLE_RATE": "1",
            },
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert 0 == await process.wait()
        await service.backend.until(lambda: len(service.backend.spans) >= count)
        await service.stop()
        return service.backend.spans

    return run


@pytest.fixture
def endpoint() -> Iterator[Texts]:
    with texts(PASSAGES) as running:
        yield running


def needs(*modules: str) -> pytest.MarkDecorator:
    """Skip where a package is missing."""
    missing = [module for module in modules if not _is_there(module)]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def scores(carrier: Span, scope: str = "task") -> tuple[Any, Any, Any]:
    """Recall, precision, and where the question was found."""
    found = event(carrier, scope)
    return found.get("seer.recall"), found.get("seer.precision"), found.get("seer.task_source")


def outcome(carrier: Span) -> tuple[Any, Any]:
    """What became of a retrieval, and why."""
    found = attributes(carrier)
    return found.get("seer.evaluated"), found.get("seer.skip_reason", "")


OPENINFERENCE = needs("langchain_core", "openinference.instrumentation.langchain")
OFFICIAL = needs("langchain_core", "opentelemetry.instrumentation.genai.langchain")


@OPENINFERENCE
async def test_langchain_under_openinference(judged: Judged) -> None:
    (carrier,) = await judged("langchain", "openinference")

    assert (1.0, 2 / 3, "ancestor") == scores(carrier)
    assert (1.0, 1 / 3) == scores(carrier, "subquery")[:2]


@OPENINFERENCE
@needs("opentelemetry.distro")
async def test_langchain_without_a_line_of_code(judged: Judged) -> None:
    exporters = {f"OTEL_{signal}_EXPORTER": "none" for signal in ("TRACES", "METRICS", "LOGS")}
    others = {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "chromadb,haystack,llama_index"}
    carriers = await judged("langchain", under=exporters | others)

    assert {(1.0, 2 / 3, "ancestor")} == set(map(scores, carriers))


@needs("langchain_core", "opentelemetry.instrumentation.langchain")
async def test_langchain_under_openllmetry(judged: Judged) -> None:
    (carrier,) = await judged("langchain", "openllmetry")

    assert (1.0, 2 / 3, "ancestor") == scores(carrier)


@OFFICIAL
async def test_langchain_under_opentelemetry_has_ids_and_no_content(judged: Judged) -> None:
    (carrier,) = await judged("langchain", "official")

    assert ("skipped", "no_content") == outcome(carrier)


@OFFICIAL
async def test_with_a_resolver_in_the_application_it_is_judged(judged: Judged) -> None:
    (carrier,) = await judged("langchain", "official", "resolve")

    assert (1.0, 2 / 3, "ancestor") == scores(carrier)
    assert (1.0, 1 / 3) == scores(carrier, "subquery")[:2]


@OFFICIAL
async def test_with_a_resolver_behind_the_evaluator_it_is_judged(
    judged: Judged, endpoint: Texts
) -> None:
    (carrier,) = await judged("langchain", "official", resolver__url=endpoint.url)

    assert (1.0, 2 / 3, "ancestor") == scores(carrier)
    assert [list(PASSAGES)] == endpoint.asked


@OPENINFERENCE
@OFFICIAL
async def test_two_instrumentations_at_once_are_two_traces(judged: Judged) -> None:
    carriers = await judged("langchain", "openinference", "official", count=2)

    assert [("scored", ""), ("skipped", "no_content")] == sorted(map(outcome, carriers))


@needs("llama_index.core", "openinference.instrumentation.llama_index")
async def test_llama_index_under_openinference(judged: Judged) -> None:
    (carrier,) = await judged("llama_index")

    assert (1.0, 2 / 3, "ancestor") == scores(carrier)


@needs("haystack", "openinference.instrumentation.haystack")
async def test_haystack_under_openinference(judged: Judged) -> None:
    (carrier,) = await judged("haystack")

    assert (1.0, 2 / 3, "ancestor") == scores(carrier)


@needs("chromadb", "opentelemetry.instrumentation.chromadb")
async def test_chroma_under_openllmetry_needs_a_question_from_elsewhere(judged: Judged) -> None:
    carriers = await judged("chroma", count=2)
    asked, unasked = sorted(carriers, key=outcome)

    assert (1.0, 1.0, "seer.task") == scores(asked)
    assert ("skipped", "no_query") == outcome(unasked)
