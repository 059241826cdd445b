"""Results on the retrieval span itself: events, attributes, appended to its bytes."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seer_otel import semconv
from seer_otel.dialects.attach.results import ATTRIBUTES, results, scores
from seer_otel.dialects.attach.values import Value, key_values
from seer_otel.metrics.judgement import verdict_label
from seer_otel.verdict import Evaluation, Provenance, Repetition, Verdict

_RESULT_SCOPES: Final = ("task", "subquery")
_RESULT_SCORES: Final = ("recall", "precision", "f1", "ndcg")
"""With one event a scope these make at most 12 events; log records carry every score."""


def append(
    span: bytes,
    *,
    attributes: Mapping[str, Value] = {},
    events: Sequence[Span.Event] = (),
) -> bytes:
    """
    Add attributes and events to a serialized `Span` without reading it.

    Concatenated messages are one message in which repeated fields follow each other, so what the
    span held stays byte for byte: unknown fields, their order, text that is not UTF-8. An attribute
    of the same name is not replaced.
    """
    return span + Span(attributes=key_values(attributes), events=events).SerializeToString()


def events(
    verdict: Verdict, *, at_ns: int, thresholds: Mapping[str, float] = {}
) -> list[Span.Event]:
    """
    Return the events of a verdict, at most 12.

    One `seer.evaluation` a scope, and one `gen_ai.evaluation.result` for each of recall,
    precision, f1 and nDCG of task and subquery that is defined, or for their failure.

    Args:
        verdict: What was found.
        at_ns: Time of the events, inside the span's interval: stores that correct clock skew, and
            views that draw events on spans, expect them there.
        thresholds: By score; a score that has one is labelled `pass` or `fail`.
    """
    written = []
    for evaluation in verdict.evaluations:
        written.append((semconv.EVALUATION_EVENT, _evaluation(evaluation)))
        if evaluation.scope in _RESULT_SCOPES:
            written += [
                (semconv.GEN_AI_EVALUATION_EVENT, result)
                for score, result in results(evaluation, thresholds)
                if score in _RESULT_SCORES
            ]
    return [
        Span.Event(time_unix_nano=at_ns, name=name, attributes=key_values(attributes))
        for name, attributes in written
    ]


def attributes(verdict: Verdict) -> dict[str, Value]:
    """
    Return the attributes of a verdict's span, short and exact, for search.

    `seer.evaluated` is the status of the first scope. `seer.verdict` is about the task; it is
    absent where the task was not judged.
    """
    written: dict[str, Value] = {semconv.EVALUATED: verdict.evaluations[0].status}
    task = verdict.of("task")
    if task is not None and task.status != "failed":
        written[semconv.VERDICT] = verdict_label(task.scores)
    for evaluation in verdict.evaluations:
        for score, value in scores(evaluation).items():
            written[f"{semconv.EVAL_PREFIX}.{evaluation.scope}.{score}"] = value
    return written


def unevaluated(evaluated: Literal["skipped", "deferred"], reason: str) -> dict[str, str]:
    """Return the attributes of a span that leaves without a verdict."""
    return {semconv.EVALUATED: evaluated, semconv.SKIP_REASON: reason}


def _evaluation(evaluation: Evaluation) -> dict[str, Value | None]:
    """Return the attributes of `seer.evaluation`; a count of mishaps only where above 0."""
    trace, labels = evaluation.trace, evaluation.ground_truth
    return {
        semconv.EVAL_SCOPE: evaluation.scope,
        semconv.STATUS: evaluation.status,
        semconv.REASON: evaluation.reason,
        semconv.ERROR_TYPE: evaluation.error_type,
        **{ATTRIBUTES[score]: value for score, value in scores(evaluation).items()},
        semconv.ABSENT: _absent(evaluation),
        **_requirements(evaluation),
        **_passages(evaluation),
        semconv.TASK_SOURCE: evaluation.task_source,
        **_provenance(evaluation.provenance),
        **_repetition(evaluation.repetition),
        semconv.SUPERSEDES: trace.supersedes if trace is not None else None,
        semconv.GOLD_IDS_UNMATCHED: (labels is not None and labels.gold_ids_unmatched) or None,
    }


def _provenance(provenance: Provenance) -> dict[str, Value | None]:
    return {
        semconv.JUDGE_NAME: provenance.judge,
        semconv.JUDGE_REVISION: provenance.revision,
        semconv.JUDGE_CACHED: provenance.cached,
        semconv.JUDGE_DURATION: provenance.duration_ms,
        semconv.JUDGE_INPUT_TOKENS: provenance.usage.input_tokens,
        semconv.JUDGE_OUTPUT_TOKENS: provenance.usage.output_tokens,
        semconv.JUDGE_COST: provenance.usage.cost,
        semconv.EVALUATED_AT: provenance.evaluated_at,
    }


def _repetition(repetition: Repetition | None) -> dict[str, Value | None]:
    if repetition is None:
        return {}
    return {
        semconv.JUDGE_RUNS: repetition.runs,
        semconv.JUDGE_AGREEMENT: repetition.agreement,
        **{f"{semconv.SPREAD_PREFIX}.{score}": v for score, v in repetition.spread.items()},
    }


def _absent(evaluation: Evaluation) -> tuple[str, ...] | None:
    reasons = dict(evaluation.scores.absent)
    if evaluation.ground_truth is not None:
        reasons |= evaluation.ground_truth.absent
    return tuple(f"{score}: {reason}" for score, reason in reasons.items()) or None


def _requirements(evaluation: Evaluation) -> dict[str, Value | None]:
    judgement = evaluation.judgement
    if judgement is None:
        return {}
    missing = tuple(r.text for r in judgement.requirements if not r.supported)
    return {
        semconv.REQUIREMENTS_TOTAL: len(judgement.requirements),
        semconv.REQUIREMENTS_SUPPORTED: len(judgement.requirements) - len(missing),
        semconv.REQUIREMENTS_MISSING: missing,
        semconv.REQUIREMENTS_NEW: evaluation.new_requirements,
        semconv.INVALID_CITATIONS: judgement.invalid_citations or None,
        semconv.LOW_CONFIDENCE: judgement.low_confidence or None,
    }


def _passages(evaluation: Evaluation) -> dict[str, Value | None]:
    judged = evaluation.judgement is not None
    return {
        semconv.PASSAGES_TOTAL: evaluation.passages_total,
        semconv.PASSAGES_CITED: evaluation.passages_cited if judged else None,
        semconv.PASSAGES_UNREADABLE: evaluation.unreadable_passages or None,
        semconv.PASSAGES_DROPPED: evaluation.passages_dropped or None,
        semconv.CHARACTERS_DROPPED: evaluation.characters_dropped or None,
        semconv.RANKING: evaluation.scores.ranking if judged else None,
    }
