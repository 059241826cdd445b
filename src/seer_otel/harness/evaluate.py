"""Judge the retrievals of files: all of them, whatever the sample rate."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from seer_otel.errors import BudgetSpent
from seer_otel.harness.candidates import Candidate
from seer_otel.judge import hops
from seer_otel.judge.assess import Assessor
from seer_otel.judge.hops import JudgedHop
from seer_otel.verdict import Evaluation, Verdict

BUDGET: Final = "budget"
"""Why a retrieval was skipped that the judge may not be asked about any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one retrieval."""

    candidate: Candidate
    verdict: Verdict | None = None
    """None where it was skipped. With the result of its trace, where it is the final context."""

    @property
    def task(self) -> Evaluation | None:
        """The evaluation of the task."""
        return self.verdict.of("task") if self.verdict is not None else None


async def evaluate(
    candidates: Iterable[Candidate],
    assessor: Assessor,
    *,
    concurrency: int = 8,
    advance: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """
    Judge what can be judged, some at a time, and add the results of whole traces.

    Args:
        candidates: The retrievals.
        assessor: Judges one.
        concurrency: How many are judged at once.
        advance: Called as each is done.
    """
    slots = asyncio.Semaphore(concurrency)

    async def outcome(candidate: Candidate) -> Outcome:
        verdict = None
        if candidate.skip_reason is None:
            try:
                async with slots:
                    verdict = await assessor.assess(candidate.retrieval)
            except BudgetSpent:
                candidate = replace(candidate, skip_reason=BUDGET)
        advance()
        return Outcome(candidate, verdict)

    outcomes = await asyncio.gather(*map(outcome, candidates))
    return _with_traces(outcomes)


def _with_traces(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Add to each trace which hop brought what, and its result to the final one."""
    completed = list(outcomes)
    for judged in _traces(outcomes).values():
        of_trace = list(judged.values())
        final = hops.final(of_trace)
        for index, hop in judged.items():
            verdict = outcomes[index].verdict
            assert verdict is not None
            new = hops.new_requirements(of_trace, hop)
            verdict = hops.with_new_requirements(verdict, new)
            if hop is final:
                result = hops.trace_evaluation(of_trace, hop)
                verdict = Verdict((*verdict.evaluations, result))
            completed[index] = replace(outcomes[index], verdict=verdict)
    return completed


def _traces(outcomes: Sequence[Outcome]) -> dict[str | int, dict[int, JudgedHop]]:
    """Return the judged hops of each trace by index; an event without a trace is one of its own."""
    traces: dict[str | int, dict[int, JudgedHop]] = {}
    for index, outcome in enumerate(outcomes):
        if outcome.task is None:
            continue
        retrieval = outcome.candidate.retrieval
        traces.setdefault(retrieval.trace_id or index, {})[index] = JudgedHop(
            outcome.task,
            retrieval.context,
            retrieval.end_ns,
            # Of hops that ended together, the one given last is the later.
            f"{index:012}",
            retrieval.is_final_context,
        )
    return traces
