"""The scores of an evaluation one by one: name, value, label, and a sentence about it."""

from collections.abc import Iterator, Mapping
from typing import Final

from seer_otel import semconv
from seer_otel.dialects.attach.values import Value, cut
from seer_otel.verdict import Evaluation

ATTRIBUTES: Final[Mapping[str, str]] = {
    "recall": semconv.RECALL,
    "precision": semconv.PRECISION,
    "f1": semconv.F1,
    "ndcg": semconv.NDCG,
    "contextual_precision": semconv.CONTEXTUAL_PRECISION,
    "cumulative_recall": semconv.CUMULATIVE_RECALL,
    "redundancy": semconv.REDUNDANCY,
    "gt_recall": semconv.GT_RECALL,
    "gt_precision": semconv.GT_PRECISION,
    "evaluator_recall": semconv.EVALUATOR_RECALL,
    "evaluator_precision": semconv.EVALUATOR_PRECISION,
    "evaluator_exact_match": semconv.EVALUATOR_EXACT_MATCH,
}
"""Every score by name, with its attribute on the event `seer.evaluation`."""

_SENTENCES: Final[Mapping[str, str]] = {
    "f1": "Harmonic mean of recall and precision.",
    "contextual_precision": "Average precision of the order of the passages.",
    "cumulative_recall": "Requirements that any retrieval of the trace supports, of all.",
    "redundancy": "Passages of later retrievals that an earlier one had brought, of all of them.",
    "gt_recall": "Gold ids fetched, of all gold ids.",
    "gt_precision": "Fetched documents that are gold, of all fetched.",
    "evaluator_recall": "Gold ids cited by the judge, of those fetched.",
    "evaluator_precision": "Cited documents that are gold, of all cited.",
    "evaluator_exact_match": "1: the judge cited every gold id fetched, and gold alone.",
}

_SENTENCE: Final = 250
"""Bytes of a sentence; the event `seer.evaluation` lists in full what was missing."""

_TOLERANCE: Final = 1e-9
"""By which a value may miss its threshold and still pass."""


def scores(evaluation: Evaluation) -> dict[str, float]:
    """Return the scores that are defined, by name."""
    holders = (evaluation.scores, evaluation.trace, evaluation.ground_truth)
    values = ((name, getattr(holder, name, None)) for holder in holders for name in ATTRIBUTES)
    return {name: value for name, value in values if value is not None}


def results(
    evaluation: Evaluation, thresholds: Mapping[str, float]
) -> Iterator[tuple[str, dict[str, Value | None]]]:
    """
    Yield the name of each defined score and its attributes as `gen_ai.evaluation.result`.

    A failed evaluation yields one result, under recall: one failure is one event, with an error
    and no value.

    Args:
        evaluation: The outcome for one scope.
        thresholds: By score; a score that has one passes at or above it.
    """
    if evaluation.status == "failed":
        reason = evaluation.reason or "judge_failed"
        yield (
            "recall",
            {
                semconv.GEN_AI_EVALUATION_NAME: f"seer.{evaluation.scope}.recall",
                semconv.GEN_AI_EVALUATION_EXPLANATION: f"Not scored: {reason}.",
                semconv.ERROR_TYPE: evaluation.error_type or reason,
            },
        )
    for score, value in scores(evaluation).items():
        threshold = thresholds.get(score)
        yield (
            score,
            {
                semconv.GEN_AI_EVALUATION_NAME: f"seer.{evaluation.scope}.{score}",
                semconv.GEN_AI_EVALUATION_VALUE: value,
                semconv.GEN_AI_EVALUATION_LABEL: _label(value, threshold),
                semconv.GEN_AI_EVALUATION_EXPLANATION: _explanation(evaluation, score, value),
            },
        )


def _label(value: float, threshold: float | None) -> str | None:
    if threshold is None:
        return None
    return "pass" if value >= threshold - _TOLERANCE else "fail"


def _explanation(evaluation: Evaluation, score: str, value: float) -> str | None:
    repetition = evaluation.repetition
    if repetition is not None and score in repetition.spread:
        return f"Mean of {repetition.runs} runs; spread {repetition.spread[score]:.3f}."
    return _sentence(evaluation, score, value)


def _sentence(evaluation: Evaluation, score: str, value: float) -> str | None:
    judgement = evaluation.judgement
    if score == "recall" and judgement is not None:
        missing = [r.text for r in judgement.requirements if not r.supported]
        supported = len(judgement.requirements) - len(missing)
        sentence = f"Supported requirements: {supported} of {len(judgement.requirements)}."
        return cut(f"{sentence} Missing: {'; '.join(missing)}" if missing else sentence, _SENTENCE)
    if score == "precision":
        passages = evaluation.passages_total
        return f"Distinct documents cited: {round(value * passages)}; passages: {passages}."
    if score == "ndcg":
        return f"Order by {evaluation.scores.ranking}. Its ideal knows only what was cited."
    return _SENTENCES.get(score)
