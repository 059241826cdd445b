"""Which passages support which requirements: asked, united, and checked before it is used."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from seer_otel.errors import JudgeError, JudgeFailed
from seer_otel.judge.layout import Document
from seer_otel.judge.protocol import Asked, Question, Support

Ask = Callable[[Question], Awaitable[Support | JudgeError]]
"""Puts a question to a judge; an error comes back instead of an answer."""


@dataclass
class Findings:
    """What the judge said, by the numbers of the requirements."""

    cited: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Positions in the context; all copies of a cited document."""
    failures: dict[int, JudgeError] = field(default_factory=dict)
    """Why a requirement has no answer over all passages."""
    invalid: Counter[int] = field(default_factory=Counter)
    """
    Citations of passages that were not shown. Answers about requirements that were not asked
    about count for the first of those that were.
    """
    unsure: set[int] = field(default_factory=set)
    answers: list[Support] = field(default_factory=list)
    """All that was answered, complete or not."""


async def find_support(
    ask: Ask, asked: Sequence[Asked], calls: Iterable[Sequence[Document]], *, run: int = 1
) -> Findings:
    """
    Ask about all requirements over all documents, and unite the answers.

    What a reply leaves out is asked for once more, alone; still missing, it has failed.

    Args:
        ask: Puts one question to the judge.
        asked: The queries with their requirements, numbered throughout.
        calls: The documents, those of one call together.
        run: Which asking this is, where the same is asked several times.
    """
    findings = Findings()
    await asyncio.gather(*(_ask_over(ask, asked, each, run, findings) for each in calls))
    return findings


async def _ask_over(
    ask: Ask, asked: Sequence[Asked], documents: Sequence[Document], run: int, findings: Findings
) -> None:
    passages = {number: each.text for number, each in enumerate(documents, start=1)}
    positions = {number: each.positions for number, each in enumerate(documents, start=1)}
    missing = {number for each in asked for number in each.requirements}
    failure: JudgeError = JudgeFailed("the judge left requirements unanswered", "incomplete")
    for _ in range(2):
        if not missing:
            return
        answer = await ask(Question(_only(asked, missing), passages, run))
        if isinstance(answer, JudgeError):
            failure = answer
            break
        _add(findings, answer, missing, positions)
        missing -= answer.citations.keys()
    findings.failures.update(dict.fromkeys(missing, failure))


def _add(
    findings: Findings,
    answer: Support,
    asked: set[int],
    positions: dict[int, tuple[int, ...]],
) -> None:
    findings.answers.append(answer)
    findings.unsure |= answer.low_confidence & asked
    findings.invalid[min(asked)] += len(answer.citations.keys() - asked)
    for number in answer.citations.keys() & asked:
        for passage in answer.citations[number]:
            if passage in positions:
                findings.cited[number].update(positions[passage])
            else:
                findings.invalid[number] += 1


def _only(asked: Sequence[Asked], numbers: set[int]) -> tuple[Asked, ...]:
    """Keep the requirements with these numbers, and the queries that have any."""
    kept = (
        replace(each, requirements={n: t for n, t in each.requirements.items() if n in numbers})
        for each in asked
    )
    return tuple(each for each in kept if each.requirements)
