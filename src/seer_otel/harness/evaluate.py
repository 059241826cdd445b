"""Judge the retrievals of files: all of them, whatever the sample rate."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from seer_otel.errors import BudgetSpent
from seer_otel.harness.candidates import Candidate
from seer_otel.judge.assess import Assessor
from seer_otel.metrics import trace
from seer_otel.verdict import Evaluation, TraceScores, Verdict

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
    for indices in _traces(outcomes):
        hops = {index: _hop(outcomes[index]) for index in indices}
        chosen = trace.final_hop(list(hops.values()))
        final = next(index for index, hop in hops.items() if hop is chosen)
        wanted = _requirements(outcomes[final])
        comparable = [
            index for index in indices if wanted and _requirements(outcomes[index]) == wanted
        ]
        compared = [hops[index] for index in comparable]
        for index, new in zip(comparable, trace.new_requirements(compared), strict=True):
            completed[index] = _with_new(completed[index], new)
        scores = TraceScores(trace.cumulative_recall(compared), trace.redundancy(compared))
        completed[final] = _with_trace(completed[final], scores)
    return completed


def _traces(outcomes: Sequence[Outcome]) -> list[list[int]]:
    """Return the judged hops of each trace; an event without a trace is one of its own."""
    traces: dict[str | int, list[int]] = {}
    for index, outcome in enumerate(outcomes):
        if outcome.task is not None:
            traces.setdefault(outcome.candidate.retrieval.trace_id or index, []).append(index)
    return list(traces.values())


def _hop(outcome: Outcome) -> trace.Hop:
    retrieval, task = outcome.candidate.retrieval, outcome.task
    judgement = task.judgement if task is not None else None
    return trace.Hop(
        context=retrieval.context,
        requirements=[r.passages for r in judgement.requirements] if judgement is not None else [],
        end_ns=retrieval.end_ns,
        is_final_context=retrieval.is_final_context,
    )


def _requirements(outcome: Outcome) -> tuple[str, ...]:
    judgement = outcome.task.judgement if outcome.task is not None else None
    return tuple(r.text for r in judgement.requirements) if judgement is not None else ()


def _with_new(outcome: Outcome, new: tuple[int, ...]) -> Outcome:
    assert outcome.verdict is not None
    evaluations = (
        replace(e, new_requirements=new) if e.scope == "task" else e
        for e in outcome.verdict.evaluations
    )
    return replace(outcome, verdict=Verdict(tuple(evaluations)))


def _with_trace(outcome: Outcome, scores: TraceScores) -> Outcome:
    """Add the result of a trace: the scores of its final context against the task."""
    assert outcome.verdict is not None
    assert outcome.task is not None
    result = replace(
        outcome.task, scope="trace", trace=scores, ground_truth=None, new_requirements=None
    )
    return replace(outcome, verdict=Verdict((*outcome.verdict.evaluations, result)))
