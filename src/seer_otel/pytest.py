"""
A pytest plugin: fail a test where retrieval is not good enough.

    def test_retrieval(seer_gate):
        seer_gate("traces/*.json", recall=0.9, precision=0.3)

It takes files as `seer-otel evaluate` does, retrieval events as mappings, and ended spans of the
SDK; the gates are those of `--fail-under`. Who judges is said by `--seer-judge`, else by the
environment (SEER_JUDGE_MODEL); without either it is the local judge.
"""

import glob
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from seer_otel.harness.candidates import Gathered
    from seer_otel.harness.report import Report

    Source = str | os.PathLike[str] | Mapping[str, Any] | ReadableSpan


class SeerGate(Protocol):
    """What the fixture `seer_gate` is."""

    def __call__(
        self,
        *sources: "Source | Iterable[Source]",
        min_coverage: float = 0.9,
        fail_under: Mapping[str, float] | None = None,
        **thresholds: float,
    ) -> "Report":
        """
        Judge retrievals, and fail the test unless they pass the gates.

        Args:
            *sources: Paths, with wildcards or not; retrieval events; spans that have ended; or
                lists of them.
            min_coverage: The least share of the retrievals that must have a score.
            fail_under: Thresholds by name, for names that are none in Python: `trace.recall`.
            **thresholds: Thresholds by name: `recall=0.9`.

        Returns:
            The report, for further assertions.
        """
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says who judges."""
    parser.getgroup("seer-otel").addoption(
        "--seer-judge",
        metavar="auto|local|openai|replay:FILE",
        help="who judges retrievals in tests with seer_gate; auto unless told",
    )


@pytest.fixture
def seer_gate(pytestconfig: pytest.Config) -> SeerGate:
    """Fail a test where retrieval is not good enough."""
    judge: str | None = pytestconfig.getoption("--seer-judge")

    def gate(
        *sources: "Source | Iterable[Source]",
        min_coverage: float = 0.9,
        fail_under: Mapping[str, float] | None = None,
        **thresholds: float,
    ) -> "Report":
        from seer_otel.config import load
        from seer_otel.harness import gates
        from seer_otel.harness.run import judge_all
        from seer_otel.judge.select import open_judge

        wanted = gates.gates({**(fail_under or {}), **thresholds})
        config = load(None, flags={"judge.kind": judge})
        gathered = _gathered(sources)
        judging = open_judge(config.judge.settings())
        # In a thread, for the test may have an event loop of its own.
        with ThreadPoolExecutor(1) as pool:
            report = pool.submit(judge_all, gathered, judging, config).result()
        results = gates.check(report, wanted, min_coverage)
        if not all(each.passed for each in results):
            pytest.fail(_told(report, map(str, results)), pytrace=False)
        return report

    return gate


def _gathered(sources: Iterable["Source | Iterable[Source]"]) -> "Gathered":
    from seer_otel.harness import candidates

    paths: list[str] = []
    events: list[Mapping[str, Any]] = []
    spans: list[ReadableSpan] = []
    for source in _flat(sources):
        if isinstance(source, str | os.PathLike):
            paths += _found(os.fspath(source))
        elif isinstance(source, Mapping):
            events.append(source)
        else:
            spans.append(source)
    return candidates.gather(paths, events=events, ended=spans)


def _flat(sources: Iterable["Source | Iterable[Source]"]) -> Iterable["Source"]:
    for source in sources:
        if isinstance(source, Iterable) and not isinstance(source, str | os.PathLike | Mapping):
            yield from source
        else:
            yield source


def _found(pattern: str) -> list[str]:
    if Path(pattern).exists():
        return [pattern]
    found = sorted(glob.glob(pattern, recursive=True))
    if not found:
        # A gate over nothing would say nothing.
        raise FileNotFoundError(f"{pattern}: there is no such file")
    return found


def _told(report: "Report", results: Iterable[str]) -> str:
    from seer_otel.harness.shown import shown

    lines = [*results, "", "Missing:"]
    for outcome in report.outcomes:
        task = outcome.task
        needed = task.judgement.requirements if task is not None and task.judgement else ()
        missing = [requirement.text for requirement in needed if not requirement.supported]
        if missing:
            question = outcome.candidate.retrieval.queries[0][1]
            lines.append(f"  {shown(question, 80)}: {shown('; '.join(missing), 160)}")
    return "\n".join(lines if lines[-1] != "Missing:" else lines[:-2])
