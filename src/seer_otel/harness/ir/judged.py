"""What a judge says of the lists: without labels, and with a spread."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final

from seer_otel.errors import BudgetSpent
from seer_otel.harness.ir.arms import Arm
from seer_otel.harness.ir.eval_set import EvalSet, Query
from seer_otel.harness.ir.measure import Mean, mean
from seer_otel.judge.assess import Assessor
from seer_otel.judge.protocol import Judge, total
from seer_otel.judge.statements import statements
from seer_otel.metrics.documents import document
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.verdict import Evaluation, Usage

SCORES: Final = ("contextual_precision", "contextual_relevancy", "recall", "precision")


@dataclass(frozen=True, slots=True)
class JudgedList:
    """What the judge says of the top of one list."""

    scores: Mapping[str, float]
    """Those that are defined, each the mean over the runs."""
    spread: Mapping[str, float]
    """For each: the highest less the lowest of the runs."""
    reason: str | None = None
    """Why there are none."""


@dataclass(frozen=True, slots=True)
class JudgedArm:
    """What the judge says of one arm."""

    means: Mapping[str, Mean]
    spread: Mapping[str, float]
    """For each score, the mean over the queries of the spread of the runs."""
    failed: int
    not_applicable: int


@dataclass(frozen=True)
class Judged:
    """What a judge says of all arms."""

    judge: str
    revision: str
    runs: int
    k: int
    lists: Mapping[str, Mapping[str, JudgedList]]
    """By arm and query."""
    arms: Mapping[str, JudgedArm]
    usage: Usage = field(default_factory=Usage)


async def ask(
    judge: Judge,
    eval_set: EvalSet,
    arms: Sequence[Arm],
    *,
    k: int,
    runs: int,
    concurrency: int = 8,
    advance: Callable[[], None] = lambda: None,
) -> Judged:
    """
    Have the top k of every list judged, each list twice: its passages, and their statements.

    Closes the judge. A list that the judge may not be asked about any more counts as failed.

    Contextual relevancy is the share of distinct statements that support a requirement of the
    query. The requirements are the same for all arms and runs.
    """
    assessor = Assessor(judge, runs=runs)
    slots = asyncio.Semaphore(concurrency)
    usages: list[Usage] = []

    async def judged(arm: Arm, query: Query) -> JudgedList:
        try:
            async with slots:
                found, used = await _judged(assessor, eval_set, query, arm.ids(query.id)[:k])
            usages.append(used)
        except BudgetSpent as spent:
            found = JudgedList({}, {}, spent.reason)
        advance()
        return found

    pairs = [(arm, query) for arm in arms for query in eval_set.queries]
    try:
        done = iter(await asyncio.gather(*(judged(*pair) for pair in pairs)))
    finally:
        await assessor.aclose()
        await judge.aclose()
    lists = {arm.name: {query.id: next(done) for query in eval_set.queries} for arm in arms}
    return Judged(
        judge.name,
        judge.revision,
        runs,
        k,
        lists,
        {arm: _arm(list(own.values())) for arm, own in lists.items()},
        total(usages),
    )


async def _judged(
    assessor: Assessor, eval_set: EvalSet, query: Query, ids: Sequence[str]
) -> tuple[JudgedList, Usage]:
    documents = [eval_set.by_id[id_] for id_ in ids if id_ in eval_set.by_id]
    passages = tuple(Passage(each.content, id=each.id) for each in documents)
    whole = Retrieval(context=passages, task=query.text, list_is_ranked=True)
    said = {
        f"{each.title}\n{text}" if each.title else text: None
        for each in documents
        for text in statements(each.text)
    }
    broken = replace(
        whole, context=tuple(map(Passage, {document(text): text for text in said}.values()))
    )
    verdicts = [await assessor.assess(each) for each in (whole, broken)]
    of_passages, of_statements = (verdict.evaluations[0] for verdict in verdicts)
    used = total(verdict.evaluations[0].provenance.usage for verdict in verdicts)
    scores, spread = _scores(of_passages)
    relevancy, its_spread = _scores(of_statements)
    if "precision" in relevancy:
        scores["contextual_relevancy"] = relevancy["precision"]
        spread["contextual_relevancy"] = its_spread["precision"]
    reason = next(
        (e.reason or e.status for e in (of_passages, of_statements) if e.status != "scored"), None
    )
    return JudgedList(scores, spread, reason), used


def _scores(evaluation: Evaluation) -> tuple[dict[str, float], dict[str, float]]:
    repetition = evaluation.repetition
    values = {name: getattr(evaluation.scores, name, None) for name in SCORES}
    scores = {name: value for name, value in values.items() if value is not None}
    spread = {name: repetition.spread.get(name, 0.0) if repetition else 0.0 for name in scores}
    return scores, spread


def _arm(lists: Sequence[JudgedList]) -> JudgedArm:
    values = {name: [each.scores[name] for each in lists if name in each.scores] for name in SCORES}
    spreads = {
        name: [each.spread[name] for each in lists if name in each.spread] for name in SCORES
    }
    return JudgedArm(
        means={name: mean(each) for name, each in values.items() if each},
        spread={name: fmean(each) for name, each in spreads.items() if each},
        failed=sum(each.reason not in (None, "not_applicable") for each in lists),
        not_applicable=sum(each.reason == "not_applicable" for each in lists),
    )
