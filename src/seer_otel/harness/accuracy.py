"""How good a judge is: its citations, K, recall and nDCG against those of labelled questions."""

import asyncio
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from seer_otel.config import Config
from seer_otel.dialects import redaction_of
from seer_otel.harness.baselines import PREFIX, open_baseline
from seer_otel.harness.candidates import Candidate
from seer_otel.harness.evaluate import Outcome
from seer_otel.harness.files import BadRecord
from seer_otel.harness.labelled import Question, read
from seer_otel.harness.run import judged
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import total
from seer_otel.judge.select import describe, open_judge
from seer_otel.metrics.ground_truth import evaluator_f1
from seer_otel.metrics.statistics import Interval, correlation, gap, mean_interval, percentile
from seer_otel.verdict import Evaluation, Usage

EVALUATOR: Final = (
    "evaluator_recall",
    "evaluator_precision",
    "evaluator_f1",
    "evaluator_exact_match",
)
"""Scores of a judge's citations against gold documents."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a judge made of one question."""

    question: Question
    outcome: Outcome

    @property
    def evaluation(self) -> Evaluation | None:
        """The judgement; None where it was skipped."""
        return self.outcome.task

    @property
    def is_judged(self) -> bool:
        """Whether there is a judgement, also one that finds that nothing is needed."""
        return self.evaluation is not None and self.evaluation.judgement is not None

    @property
    def k(self) -> int | None:
        """How many requirements the judge found."""
        judgement = self.evaluation.judgement if self.evaluation is not None else None
        return len(judgement.requirements) if judgement is not None else None

    def scores(self) -> dict[str, float]:
        """Return the scores of the citations that are defined; means over the runs."""
        evaluation = self.evaluation
        if evaluation is None or evaluation.judgement is None:
            return {}
        once = tuple(requirement.passages for requirement in evaluation.judgement.requirements)
        runs = evaluation.repetition.citations if evaluation.repetition is not None else (once,)
        context, gold = self.question.retrieval.context, self.question.gold
        labels = evaluation.ground_truth
        values = {name: getattr(labels, name, None) for name in EVALUATOR}
        values["evaluator_f1"] = fmean([evaluator_f1(context, gold, run) for run in runs])
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over questions, and how sure it is."""

    value: float
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class Against:
    """
    A score of the judge's against the true one.

    A mean error flatters a judge that always says 1; correlation and gap do not.
    """

    n: int
    judged: float
    true: float
    error: float
    """Mean absolute difference."""
    correlation: float | None
    gap: float | None
    """Its mean where the true one is 1, less its mean where it is not."""


@dataclass(frozen=True, slots=True)
class Counts:
    """K against the known decompositions."""

    n: int
    judged: float
    true: float
    exact: float
    """Share of the questions with the true K."""
    within_one: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A judge over some questions."""

    n: int
    """Questions that have a judgement; those that failed or were skipped are in no mean."""
    n_total: int
    n_failed: int
    n_skipped: int
    means: Mapping[str, Mean]
    """By the names in `EVALUATOR`; without those that no question defines."""
    abstention: float | None
    """Share of the questions without a gold document for which nothing was cited."""
    k: Counts | None
    recall: Against | None
    ndcg: Against | None
    agreement: float | None
    """Of the runs, where there were several."""
    seconds: Mapping[str, float]
    """Median and 95th percentile of the time for one question: `p50`, `p95`."""
    usage: Usage


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A judge over labelled sets."""

    judge: str
    revision: str
    results: Sequence[Result]
    bad_records: Sequence[BadRecord]

    @property
    def all_is_well(self) -> bool:
        """Whether every question was read and judged."""
        return not self.bad_records and all(result.is_judged for result in self.results)

    def sources(self) -> dict[str, list[Result]]:
        """Return the results by the set that they are from."""
        by_source: dict[str, list[Result]] = {}
        for result in self.results:
            by_source.setdefault(result.question.source, []).append(result)
        return by_source


def run(files: Iterable[str | Path], config: Config) -> Accuracy:
    """
    Judge the questions of files with the configured judge, or with a baseline.

    The labels are never shown to the judge. Which judge it is, and where it sends text, is said on
    the standard error before anything is sent.

    Raises:
        ConfigError: There is no such judge.
        OSError: A file cannot be opened.
    """
    settings = config.judge.settings()
    if settings.kind.startswith(PREFIX):
        judge, description = open_baseline(settings.kind), f"judge {settings.kind}"
    else:
        seen = redaction_of(config.redact.patterns, config.redact.function)
        judge, description = open_judge(settings, redact=seen), describe(settings)
    records = list(read(files))
    print(description, file=sys.stderr, flush=True)
    questions = [record for record in records if isinstance(record, Question)]
    candidates = [Candidate(question.retrieval, from_event=True) for question in questions]
    limits = Limits(**config.limits.model_dump(exclude={"request_bytes", "connections"}))
    outcomes = asyncio.run(judged(candidates, judge, limits, config.judge))
    return Accuracy(
        judge=judge.name,
        revision=judge.revision,
        results=list(map(Result, questions, outcomes)),
        bad_records=[record for record in records if isinstance(record, BadRecord)],
    )


def summarise(results: Sequence[Result]) -> Summary:
    """Sum results up; a mean is over the questions that define the score."""
    rows = [result for result in results if result.is_judged]
    scores = [row.scores() for row in rows]
    evaluations = _evaluations(rows)
    seconds = [each.provenance.duration_ms / 1000 for each in evaluations]
    failed = [each for each in _evaluations(results) if each.status == "failed"]
    agreements = [each.repetition.agreement for each in evaluations if each.repetition]
    without_gold = [row for row in rows if not row.question.gold]
    return Summary(
        n=len(rows),
        n_total=len(results),
        n_failed=len(failed),
        n_skipped=sum(result.evaluation is None for result in results),
        means={
            name: Mean(fmean(values), mean_interval(values), len(values))
            for name in EVALUATOR
            if (values := [each[name] for each in scores if name in each])
        },
        abstention=_mean([float(not e.passages_cited) for e in _evaluations(without_gold)]),
        k=_counts([(row.k, row.question.k) for row in rows]),
        recall=_against(rows, "recall"),
        ndcg=_against(rows, "ndcg"),
        agreement=_mean(agreements),
        seconds={"p50": percentile(seconds, 0.5), "p95": percentile(seconds, 0.95)}
        if seconds
        else {},
        usage=total(each.provenance.usage for each in [*evaluations, *failed]),
    )


def _evaluations(rows: Iterable[Result]) -> list[Evaluation]:
    return [row.evaluation for row in rows if row.evaluation is not None]


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _counts(pairs: Iterable[tuple[int | None, int | None]]) -> Counts | None:
    known = [(k, true) for k, true in pairs if k is not None and true is not None]
    if not known:
        return None
    return Counts(
        n=len(known),
        judged=fmean([k for k, _ in known]),
        true=fmean([true for _, true in known]),
        exact=fmean([k == true for k, true in known]),
        within_one=fmean([abs(k - true) <= 1 for k, true in known]),
    )


def _against(rows: Iterable[Result], score: str) -> Against | None:
    pairs = [
        (value, truth)
        for row in rows
        if row.evaluation is not None
        and (value := getattr(row.evaluation.scores, score)) is not None
        and (truth := getattr(row.question.truth, score)) is not None
    ]
    if not pairs:
        return None
    values, truths = [value for value, _ in pairs], [truth for _, truth in pairs]
    return Against(
        n=len(pairs),
        judged=fmean(values),
        true=fmean(truths),
        error=fmean([abs(value - truth) for value, truth in pairs]),
        correlation=correlation(values, truths),
        gap=gap(values, truths, lambda truth: truth == 1.0),
    )
