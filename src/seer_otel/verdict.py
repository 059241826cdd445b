"""What a judge found and what follows from it: the only shapes that cross rooms on the way out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Scope = Literal["task", "subquery", "trace", "conversation"]
Status = Literal["scored", "not_applicable", "failed"]
Outcome = Literal["scored", "not_applicable", "failed", "skipped", "pending"]
Ranking = Literal["rank", "rerank_score", "score", "distance", "list", "absent", "partial"]
"""What the order of the passages was taken from; `absent` and `partial`: there is no ranking."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One piece of information that a query needs, and the passages that support it."""

    text: str
    passages: tuple[int, ...] = ()
    """Positions in the context, from 1 in the order given, ascending, without repeats."""

    @property
    def supported(self) -> bool:
        """Whether at least one passage supports it."""
        return bool(self.passages)


@dataclass(frozen=True, slots=True)
class Judgement:
    """
    What a judge says about one query and one context.

    `requirements` holds one entry a requirement, every one answered. Empty: the query needs no
    retrieval (K = 0).
    """

    query: str
    requirements: tuple[Requirement, ...]
    invalid_citations: int = 0
    """Citations of passages, and answers about requirements, that do not exist; dropped."""
    low_confidence: bool = False


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one judgement, each in 0..1; None where undefined, with the reason in `absent`."""

    recall: float | None = None
    precision: float | None = None
    f1: float | None = None
    ndcg: float | None = None
    contextual_precision: float | None = None
    ranking: Ranking = "absent"
    absent: Mapping[str, str] = field(default_factory=dict)
    """For each score that is None: why, in words for a reader."""


@dataclass(frozen=True, slots=True)
class GroundTruthScores:
    """Scores against labels, each in 0..1; None where undefined, with the reason in `absent`."""

    gt_recall: float | None = None
    gt_precision: float | None = None
    evaluator_recall: float | None = None
    evaluator_precision: float | None = None
    evaluator_exact_match: float | None = None
    gold_ids_unmatched: bool = False
    """No gold id is among the passages' ids: bad retrieval, or a wiring fault."""
    absent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TraceScores:
    """What the hops of one trace show together; shares in 0..1."""

    cumulative_recall: float | None = None
    """Requirements of the task that any hop supports / K."""
    redundancy: float | None = None
    """Share of the later hops' passages that an earlier hop had already brought."""
    supersedes: str | None = None
    """Span id of the final context whose trace result this one replaces."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a verdict cost at the judge; None where the judge does not say."""

    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    """In the currency of the price that was given for the model; None where none was: not 0."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who judged, when, and at what cost."""

    judge: str
    """`openai/<model>`, `local/<name>` or `replay/<file>`."""
    revision: str
    """Changes with everything that can change a verdict: prompt, model, parameters."""
    evaluated_at: str
    """RFC 3339, UTC."""
    duration_ms: float = 0.0
    cached: bool = False
    """Whether it rests on remembered answers alone, or on those given to another meanwhile."""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Repetition:
    """What several runs of one judgement show together; its scores are the means over the runs."""

    runs: int
    spread: Mapping[str, float]
    """For each score that is defined: its highest less its lowest value."""
    agreement: float
    """
    Mean, over all pairs of runs, of the share of requirements with the same documents cited;
    0..1.
    """
    citations: tuple[tuple[tuple[int, ...], ...], ...]
    """For each run, for each requirement: the positions cited. The judgement has the majority's."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome for one scope: becomes one `seer.evaluation` event."""

    scope: Scope
    status: Status
    provenance: Provenance
    judgement: Judgement | None = None
    """None where the judgement failed."""
    reason: str | None = None
    """Where failed: `judge_failed`, `judge_parse`, `judge_timeout` or `judge_refused`."""
    error_type: str | None = None
    scores: Scores = Scores()
    repetition: Repetition | None = None
    """Where it was judged more than once."""
    ground_truth: GroundTruthScores | None = None
    trace: TraceScores | None = None
    """Trace scope only."""
    new_requirements: tuple[int, ...] | None = None
    """Task scope, from 1: requirements first supported by this hop. None where hops are unknown."""
    passages_total: int = 0
    """Passages judged: readable ones, after limits."""
    passages_cited: tuple[int, ...] = ()
    """Positions from 1 in the order given, copies of a cited document included."""
    passages_dropped: int = 0
    characters_dropped: int = 0
    unreadable_passages: int = 0
    task_source: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """All evaluations of one retrieval, the task's first."""

    evaluations: tuple[Evaluation, ...]

    def of(self, scope: Scope) -> Evaluation | None:
        """Return the evaluation of one scope, if there is one."""
        return next((e for e in self.evaluations if e.scope == scope), None)


@dataclass(frozen=True, slots=True)
class Record:
    """What is kept of one retrieval under its record id. Passages are not copied."""

    record_id: str
    """`<trace id>-<span id>` of a span; of a logged event, the id that it came with."""
    evaluated: Outcome
    """The status of the first evaluation; `skipped`, with a reason; `pending`: not judged yet."""
    reason: str | None = None
    """Why there are no scores."""
    trace_id: str | None = None
    span_id: str | None = None
    task: str | None = None
    subquery: str | None = None
    conversation_id: str | None = None
    dialect: str | None = None
    verdict: Verdict | None = None
    """None where `skipped` or `pending`."""


TurnMeasure = Literal["turn_contextual_recall", "turn_recall"]
"""Against the statements of the expected outcome; or, for want of one, each turn's requirements."""


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """What the passages in the window of one assistant turn support."""

    message: int
    """Its place among all messages of the conversation, from 1."""
    passages: int
    """Readable passages in its window."""
    recall: float | None = None
    """0..1; None where it was not applicable, or failed."""
    status: Status = "scored"
    requirements: tuple[str, ...] = ()
    """The statements, or the requirements of the turn's own question."""
    supported: tuple[int, ...] = ()
    """Those of them, from 1, that the window supports."""


@dataclass(frozen=True, slots=True)
class ConversationEvaluation:
    """The outcome for one conversation."""

    measure: TurnMeasure
    status: Status
    window: int
    """Assistant turns whose passages count for a turn."""
    turns: tuple[JudgedTurn, ...]
    """The assistant turns, in order."""
    provenance: Provenance
    value: float | None = None
    """The mean over the turns that are applicable; None unless scored."""
    spread: float | None = None
    """Highest less lowest value of several runs; None where there was one."""
    reason: str | None = None
    """Why there is no value."""
    error_type: str | None = None
    passages_dropped: int = 0
    characters_dropped: int = 0
