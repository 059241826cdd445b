"""From a retrieval to its verdict: asks the judge, checks what it says, computes the scores."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from seer_otel.clock import Clock, SystemClock
from seer_otel.errors import BudgetSpent, JudgeError, JudgeFailed, JudgeTimeout
from seer_otel.judge.answers import AnswerMemory, Answers, RecentAnswers
from seer_otel.judge.layout import Layout, Limits, lay_out
from seer_otel.judge.protocol import Asked, Judge, Question, Requirements, Support, total
from seer_otel.judge.requirements import RecentRequirements, RequirementLists, RequirementMemory
from seer_otel.judge.support import Findings, find_support
from seer_otel.metrics import ground_truth, judgement, repetition
from seer_otel.retrieval import Retrieval
from seer_otel.verdict import (
    Evaluation,
    Judgement,
    Provenance,
    Repetition,
    Requirement,
    Scope,
    Verdict,
)

_log = logging.getLogger(__name__)

_T = TypeVar("_T")

_REMIND_S: Final = 60.0
"""Seconds between two log lines about the same trouble."""


class Assessor:
    """
    Assesses retrievals with one judge.

    Args:
        judge: Whom to ask. It stays the caller's to close.
        memory: Where the requirements of queries are kept; in this process unless told otherwise.
        answers: Where the judge's other answers are kept; in this process unless told otherwise.
        limits: How much of a context is judged.
        runs: How often everything is judged; its scores are the means over the runs. The
            requirements are the same in all of them.
        clock: Tells when a retrieval was judged, and how long it took.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        memory: RequirementMemory | None = None,
        answers: AnswerMemory | None = None,
        limits: Limits | None = None,
        runs: int = 1,
        clock: Clock | None = None,
    ) -> None:
        self._judge = judge
        self._lists = RequirementLists(judge, memory or RecentRequirements())
        self._answers = Answers(judge, answers or RecentAnswers())
        self._limits = limits or Limits()
        self._runs = runs
        self._clock = clock or SystemClock()
        self._told: dict[str, float] = {}

    async def assess(self, retrieval: Retrieval, *, timeout_s: float | None = None) -> Verdict:
        """
        Judge all scopes of a retrieval, and score them.

        Whatever goes wrong with the judge becomes an evaluation that says so; scopes that it does
        not concern are scored all the same. A retrieval without a query has no evaluations.

        Args:
            retrieval: What to judge.
            timeout_s: Seconds after which what is still unanswered has failed; None: the judge's
                own time-outs are trusted.

        Raises:
            BudgetSpent: The judge may not be asked: the retrieval is to be skipped.
        """
        started = self._clock.monotonic()
        until = None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s
        layout = lay_out(retrieval.context, self._limits)

        queries = retrieval.queries
        lists = await asyncio.gather(
            *(self._answer(partial(self._lists.of, query), until) for _, query in queries)
        )
        scopes = _number(queries, lists)
        asked = [each for each in scopes.values() if isinstance(each, Asked)]
        runs = await asyncio.gather(
            *(
                find_support(partial(self._support, until), asked, layout.calls, run=run)
                for run in range(1, self._runs + 1)
            )
        )
        _refuse_if_spent(*lists, *(error for run in runs for error in run.failures.values()))

        listed = [each for each in lists if isinstance(each, Requirements)]
        answered = [answer for run in runs for answer in run.answers]
        given: list[Requirements | Support] = [*listed, *answered]
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        provenance = Provenance(
            judge=self._judge.name,
            revision=self._judge.revision,
            evaluated_at=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            duration_ms=(self._clock.monotonic() - started) * 1000,
            cached=bool(given) and all(each.cached for each in given),
            usage=total(each.usage for each in given),
        )
        evaluate = partial(_evaluate, retrieval, layout, runs, provenance)
        return Verdict(tuple(evaluate(scope, asked) for scope, asked in scopes.items()))

    async def aclose(self) -> None:
        """End what is under way."""
        await self._lists.aclose()
        await self._answers.aclose()

    async def _support(self, until: float | None, question: Question) -> Support | JudgeError:
        return await self._answer(partial(self._answers.to, question), until)

    async def _answer(
        self, call: Callable[[], Awaitable[_T]], until: float | None
    ) -> _T | JudgeError:
        """Wait for an answer; whatever comes instead of it is returned as an error."""
        error: JudgeError
        try:
            async with asyncio.timeout_at(until):
                return await call()
        except TimeoutError:
            error = JudgeTimeout("the judge did not reply in time")
        except JudgeError as raised:
            error = raised
        except Exception as unexpected:
            # Only where it was raised: its message may hold what was retrieved.
            frame = traceback.extract_tb(unexpected.__traceback__)[-1]
            where = f"{Path(frame.filename).name}:{frame.lineno}"
            error = JudgeFailed(f"an unexpected error at {where}", type(unexpected).__name__)
        self._tell(error)
        return error

    def _tell(self, error: JudgeError) -> None:
        now = self._clock.monotonic()
        if now - self._told.get(error.error_type, -_REMIND_S) < _REMIND_S:
            return
        self._told[error.error_type] = now
        _log.warning(
            "judging failed: %s",
            error,
            extra={"judge": self._judge.name, "error_type": error.error_type},
        )


def _number(
    queries: Iterable[tuple[Scope, str]], lists: Iterable[Requirements | JudgeError]
) -> dict[Scope, Asked | JudgeError]:
    """Number the requirements through all scopes; a scope without a list keeps its error."""
    scopes: dict[Scope, Asked | JudgeError] = {}
    number = 1
    for (scope, query), answer in zip(queries, lists, strict=True):
        if isinstance(answer, JudgeError):
            scopes[scope] = answer
        else:
            scopes[scope] = Asked(scope, query, dict(enumerate(answer.texts, start=number)))
            number += len(answer.texts)
    return scopes


def _refuse_if_spent(*answers: object) -> None:
    """Raise the error of a budget, if there is one: a retrieval is judged whole, or skipped."""
    for answer in answers:
        if isinstance(answer, BudgetSpent):
            raise answer


def _evaluate(
    retrieval: Retrieval,
    layout: Layout,
    runs: Sequence[Findings],
    provenance: Provenance,
    scope: Scope,
    asked: Asked | JudgeError,
) -> Evaluation:
    evaluation = partial(
        Evaluation,
        scope=scope,
        provenance=provenance,
        passages_total=layout.passages,
        passages_dropped=retrieval.passages_dropped + layout.passages_dropped,
        characters_dropped=retrieval.characters_dropped + layout.characters_dropped,
        unreadable_passages=layout.unreadable,
        task_source=retrieval.task_source if scope == "task" else None,
    )
    if not isinstance(asked, JudgeError):
        failures = (run.failures.get(number) for run in runs for number in asked.requirements)
        asked = next((failure for failure in failures if failure), asked)
    if isinstance(asked, JudgeError):
        return evaluation(status="failed", reason=asked.reason, error_type=asked.error_type)

    numbers = asked.requirements
    by_run = tuple(tuple(tuple(sorted(run.cited[n])) for n in numbers) for run in runs)
    citations = repetition.majority(by_run)
    score = partial(judgement.score, layout.context, list_is_ranked=retrieval.list_is_ranked)
    scores = [score(cited) for cited in by_run]
    labels = retrieval.ground_truth if scope == "task" else None
    return evaluation(
        status="scored" if numbers else "not_applicable",
        judgement=Judgement(
            query=asked.query,
            requirements=tuple(map(Requirement, numbers.values(), citations)),
            invalid_citations=sum(run.invalid[number] for run in runs for number in numbers),
            low_confidence=any(not run.unsure.isdisjoint(numbers) for run in runs),
        ),
        scores=repetition.mean(scores),
        repetition=None
        if len(runs) == 1
        else Repetition(len(runs), repetition.spread(scores), repetition.agreement(by_run), by_run),
        ground_truth=None
        if labels is None
        else repetition.mean(
            [ground_truth.score(layout.context, labels.gold_doc_ids, cited) for cited in by_run]
        ),
        passages_cited=judgement.cited(layout.context, citations),
    )
