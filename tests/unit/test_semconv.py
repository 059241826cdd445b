"""Names that others search by stay as they are."""

import ast
from itertools import permutations
from pathlib import Path

import pytest

from seer_otel import semconv
from seer_otel.dialects.attach.results import ATTRIBUTES

NAMES = {
    "SCOPE_NAME": "seer_otel",
    "TASK": "seer.task",
    "SUBQUERY": "seer.subquery",
    "CONTEXT": "seer.context",
    "IS_FINAL_CONTEXT": "seer.is_final_context",
    "SAMPLE_RATE": "seer.sample_rate",
    "SAMPLED": "seer.sampled",
    "METADATA": "seer.metadata",
    "GROUND_TRUTH": "seer.ground_truth",
    "CONVERSATION_ID": "seer.conversation_id",
    "EXPECTED_OUTCOME": "seer.expected_outcome",
    "RECORD_ID": "seer.record_id",
    "EVALUATED": "seer.evaluated",
    "SKIP_REASON": "seer.skip_reason",
    "PAYLOAD": "seer.payload",
    "VERDICT": "seer.verdict",
    "EVAL_PREFIX": "seer.eval",
    "EVALUATION_EVENT": "seer.evaluation",
    "EVAL_SCOPE": "seer.scope",
    "STATUS": "seer.status",
    "REASON": "seer.reason",
    "RECALL": "seer.recall",
    "PRECISION": "seer.precision",
    "F1": "seer.f1",
    "NDCG": "seer.ndcg",
    "CONTEXTUAL_PRECISION": "seer.contextual_precision",
    "ABSENT": "seer.absent",
    "REQUIREMENTS_TOTAL": "seer.requirements.total",
    "REQUIREMENTS_SUPPORTED": "seer.requirements.supported",
    "REQUIREMENTS_MISSING": "seer.requirements.missing",
    "REQUIREMENTS_NEW": "seer.requirements.new",
    "PASSAGES_TOTAL": "seer.passages.total",
    "PASSAGES_CITED": "seer.passages.cited",
    "PASSAGES_UNREADABLE": "seer.passages.unreadable",
    "PASSAGES_DROPPED": "seer.passages.dropped",
    "CHARACTERS_DROPPED": "seer.passages.characters_dropped",
    "INVALID_CITATIONS": "seer.judge.invalid_citations",
    "RANKING": "seer.ranking",
    "TASK_SOURCE": "seer.task_source",
    "JUDGE_NAME": "seer.judge.name",
    "JUDGE_REVISION": "seer.judge.revision",
    "JUDGE_CACHED": "seer.judge.cached",
    "JUDGE_DURATION": "seer.judge.duration_ms",
    "JUDGE_INPUT_TOKENS": "seer.judge.input_tokens",
    "JUDGE_OUTPUT_TOKENS": "seer.judge.output_tokens",
    "JUDGE_COST": "seer.judge.cost",
    "JUDGE_RUNS": "seer.judge.runs",
    "JUDGE_AGREEMENT": "seer.judge.agreement",
    "SPREAD_PREFIX": "seer.spread",
    "EVALUATED_AT": "seer.evaluated_at",
    "LOW_CONFIDENCE": "seer.low_confidence",
    "CUMULATIVE_RECALL": "seer.cumulative_recall",
    "REDUNDANCY": "seer.redundancy",
    "SUPERSEDES": "seer.supersedes",
    "GT_RECALL": "seer.gt.recall",
    "GT_PRECISION": "seer.gt.precision",
    "GOLD_IDS_UNMATCHED": "seer.gt.ids_unmatched",
    "EVALUATOR_RECALL": "seer.evaluator.recall",
    "EVALUATOR_PRECISION": "seer.evaluator.precision",
    "EVALUATOR_EXACT_MATCH": "seer.evaluator.exact_match",
    "GEN_AI_OPERATION": "gen_ai.operation.name",
    "GEN_AI_QUERY": "gen_ai.retrieval.query.text",
    "GEN_AI_DOCUMENTS": "gen_ai.retrieval.documents",
    "GEN_AI_CONVERSATION_ID": "gen_ai.conversation.id",
    "GEN_AI_EVALUATION_EVENT": "gen_ai.evaluation.result",
    "GEN_AI_EVALUATION_NAME": "gen_ai.evaluation.name",
    "GEN_AI_EVALUATION_VALUE": "gen_ai.evaluation.score.value",
    "GEN_AI_EVALUATION_LABEL": "gen_ai.evaluation.score.label",
    "GEN_AI_EVALUATION_EXPLANATION": "gen_ai.evaluation.explanation",
    "OPENINFERENCE_KIND": "openinference.span.kind",
    "ERROR_TYPE": "error.type",
    "FORWARD_HEADER": "seer-forward",
}

NO_ATTRIBUTES = {
    "SCOPE_NAME",
    "EVAL_PREFIX",
    "SPREAD_PREFIX",
    "EVALUATION_EVENT",
    "GEN_AI_EVALUATION_EVENT",
    "FORWARD_HEADER",
}
"""Names of something else: of a scope, an event, a header, or the start of names."""

ATTRIBUTE_NAMES = (
    {name for constant, name in NAMES.items() if constant not in NO_ATTRIBUTES}
    | {
        f"seer.eval.{scope}.{score}"
        for scope in ("task", "subquery", "trace", "conversation")
        for score in ATTRIBUTES
    }
    | {f"seer.spread.{score}" for score in ATTRIBUTES}
)


def test_names_are_frozen() -> None:
    """Change a name here only together with a note to those who search by it."""
    assert {name: value for name, value in vars(semconv).items() if name.isupper()} == NAMES


def test_no_name_means_two_things() -> None:
    assert len(set(NAMES.values())) == len(NAMES)


def test_no_attribute_is_a_prefix_of_another_at_a_dot() -> None:
    """Stores that make objects of dots drop spans in which a name is both value and object."""
    clashes = [
        (one, other)
        for one, other in permutations(ATTRIBUTE_NAMES, 2)
        if other.startswith(f"{one}.")
    ]

    assert clashes == []


@pytest.mark.parametrize("name", sorted(ATTRIBUTE_NAMES))
def test_names_of_our_own_begin_with_seer(name: str) -> None:
    assert name.startswith(("seer.", "gen_ai.", "openinference.")) or name == "error.type"


def test_every_name_is_documented() -> None:
    body = ast.parse(Path(semconv.__file__).read_text(encoding="utf-8")).body
    undocumented = [
        ast.unparse(statement)
        for statement, following in zip(body, [*body[1:], None], strict=True)
        if isinstance(statement, ast.AnnAssign)
        and not (
            isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and isinstance(following.value.value, str)
            and following.value.value.strip()
        )
    ]

    assert undocumented == []
