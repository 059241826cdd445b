"""What came of judging files: as JSON for programs, and as tables for people."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Final, get_args

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seer_otel.dialects.attach.results import ATTRIBUTES, scores
from seer_otel.dialects.reasons import WHAT_TO_DO
from seer_otel.harness import conversations as conversations_
from seer_otel.harness import corrected
from seer_otel.harness.candidates import NESTED
from seer_otel.harness.conversations import ConversationOutcome
from seer_otel.harness.evaluate import Outcome
from seer_otel.harness.files import BadRecord
from seer_otel.harness.shown import shown
from seer_otel.judge.protocol import total
from seer_otel.verdict import Evaluation, Scope

_COLUMNS: Final = {"recall": "Recall", "precision": "Precision", "f1": "F1", "ndcg": "nDCG"}
_SCOPES: Final = get_args(Scope)
_STYLES: Final = {"scored": "", "not_applicable": "dim", "failed": "red", "skipped": "yellow"}


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of one run."""

    outcomes: Sequence[Outcome]
    """In the order of the files; those nested in others are in no total."""
    bad_records: Sequence[BadRecord]
    judge: str
    revision: str
    spans: int = 0
    """All that were read, retrievals or not."""
    conversations: Sequence[ConversationOutcome] = ()
    not_sampled: int = 0
    """Retrievals and conversations left out by a sample rate; they are in no total."""

    @property
    def all_is_well(self) -> bool:
        """Whether nothing failed, was skipped, or could not be read."""
        failed = any(e.status == "failed" for e in self.evaluations())
        odd = any(each.status in ("failed", "skipped") for each in self.conversations)
        return not (failed or odd or self.skipped() or self.bad_records)

    def counted(self) -> list[Outcome]:
        """Return the outcomes that are in the totals."""
        return [o for o in self.outcomes if o.candidate.skip_reason != NESTED]

    def skipped(self) -> Counter[str]:
        """Count the retrievals that were not judged, by reason."""
        reasons = (o.candidate.skip_reason for o in self.counted())
        return Counter(reason for reason in reasons if reason is not None)

    def statuses(self) -> Counter[str]:
        """Count the judged retrievals by the status of their first scope."""
        return Counter(o.verdict.evaluations[0].status for o in self.outcomes if o.verdict)

    def evaluations(self) -> Iterator[Evaluation]:
        """All evaluations, those of traces included."""
        return (e for o in self.outcomes if o.verdict is not None for e in o.verdict.evaluations)


def as_json(report: Report) -> dict[str, Any]:
    """Return a report as plain values; a score that is undefined is None, never 0 and never NaN."""
    provenances = [o.verdict.evaluations[0].provenance for o in report.outcomes if o.verdict]
    evaluated = (each.evaluation for each in report.conversations)
    provenances += [each.provenance for each in evaluated if each is not None]
    usage = total(provenance.usage for provenance in provenances)
    return {
        "judge": {
            "name": report.judge,
            "revision": report.revision,
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost": usage.cost,
        },
        "results": [
            *(result for o in report.counted() for result in _results(o)),
            *map(conversations_.result, report.conversations),
        ],
        "summary": _summary(report),
        "errors": [
            {"file": bad.file, "line": bad.line, "message": bad.message}
            for bad in report.bad_records
        ],
    }


def _results(outcome: Outcome) -> Iterator[dict[str, Any]]:
    retrieval = outcome.candidate.retrieval
    place = {
        "trace_id": retrieval.trace_id,
        "span_id": retrieval.span_id,
        "record_id": retrieval.record_id,
    }
    if outcome.verdict is None:
        skipped = {"scope": "task", "status": "skipped", "reason": outcome.candidate.skip_reason}
        yield {**place, **skipped, **dict.fromkeys(ATTRIBUTES), "requirements": []}
        return
    for evaluation in outcome.verdict.evaluations:
        yield {**place, **_evaluation(evaluation)}


def _evaluation(evaluation: Evaluation) -> dict[str, Any]:
    judgement, labels = evaluation.judgement, evaluation.ground_truth
    defined = scores(evaluation)
    return {
        "scope": evaluation.scope,
        "status": evaluation.status,
        "reason": evaluation.reason,
        **{name: defined.get(name) for name in ATTRIBUTES},
        "query": judgement.query if judgement else None,
        "requirements": [
            {"text": requirement.text, "passages": list(requirement.passages)}
            for requirement in (judgement.requirements if judgement else ())
        ],
        "new_requirements": _listed(evaluation.new_requirements),
        "repetition": asdict(evaluation.repetition) if evaluation.repetition else None,
        "absent": {**evaluation.scores.absent, **(labels.absent if labels else {})},
        "ranking": evaluation.scores.ranking if judgement else None,
        "passages_total": evaluation.passages_total,
        "passages_cited": list(evaluation.passages_cited),
        "passages_dropped": evaluation.passages_dropped,
        "characters_dropped": evaluation.characters_dropped,
        "unreadable_passages": evaluation.unreadable_passages,
        "invalid_citations": judgement.invalid_citations if judgement else None,
        "low_confidence": judgement.low_confidence if judgement else None,
        "gold_ids_unmatched": labels.gold_ids_unmatched if labels else None,
        "task_source": evaluation.task_source,
        "error_type": evaluation.error_type,
    }


def _listed(numbers: Sequence[int] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def _summary(report: Report) -> dict[str, Any]:
    statuses, skipped = report.statuses(), report.skipped()
    counted = len(report.counted())
    judged = statuses["scored"] + statuses["not_applicable"]
    values = scores_by_scope(report)
    return {
        "n_total": counted,
        "n_scored": statuses["scored"],
        "n_not_applicable": statuses["not_applicable"],
        "n_failed": statuses["failed"],
        "n_skipped": skipped.total(),
        "skipped": dict(skipped),
        "n_not_sampled": report.not_sampled,
        "conversations": dict(Counter(each.status for each in report.conversations)),
        "coverage": judged / counted if counted else None,
        "corrected": corrected.as_json(report.evaluations()),
        "means": {
            scope: {name: fmean(each) for name, each in by_name.items()}
            for scope, by_name in values.items()
        },
        "n": {
            scope: {name: len(each) for name, each in by_name.items()}
            for scope, by_name in values.items()
        },
    }


def scores_by_scope(report: Report) -> Mapping[str, Mapping[str, list[float]]]:
    """Collect the scores that are defined, by scope and name."""
    values: dict[str, dict[str, list[float]]] = {scope: {} for scope in _SCOPES}
    for evaluation in report.evaluations():
        for name, value in scores(evaluation).items():
            values[evaluation.scope].setdefault(name, []).append(value)
    values["conversation"] = conversations_.values(report.conversations)
    return {scope: by_name for scope, by_name in values.items() if by_name}


def render(report: Report) -> RenderableType:
    """Lay a report out for people."""
    parts: list[RenderableType] = []
    if report.counted():
        parts.append(_table(report))
    if report.conversations:
        parts.append(conversations_.table(report.conversations))
    if report.counted() or report.conversations:
        parts.append(_means(report))
    parts += [Text(words, style="bold") for words in corrected.sentences(report.evaluations())]
    parts.append(Text(_sentence(report)))
    for reason, words in WHAT_TO_DO.items():
        if count := report.skipped()[reason]:
            parts.append(Text.assemble((f"{reason} ({count}): ", "bold"), words))
    parts += [Text(shown(str(bad), 200), style="red") for bad in report.bad_records]
    return Group(*parts)


def _table(report: Report) -> Table:
    table = Table("Retrieval", "Scope")
    for title in _COLUMNS.values():
        table.add_column(title, justify="right")
    table.add_column("Missing, or why there is no score")
    hops = Counter(o.candidate.retrieval.trace_id for o in report.outcomes if o.verdict is not None)
    for outcome in report.counted():
        trace_id = outcome.candidate.retrieval.trace_id
        label = _label(outcome)
        for scope, defined, remark in _rows(outcome, alone=not trace_id or hops[trace_id] == 1):
            table.add_row(label, scope, *_cells(defined), remark)
            label = Text()
        table.add_section()
    return table


def _rows(outcome: Outcome, *, alone: bool) -> Iterator[tuple[str, Mapping[str, float], Text]]:
    """Return scope, scores and remark of each result; that of a trace with one hop says nothing."""
    if outcome.verdict is None:
        yield "task", {}, Text(outcome.candidate.skip_reason or "", style=_STYLES["skipped"])
        return
    for evaluation in outcome.verdict.evaluations:
        if not (alone and evaluation.scope == "trace"):
            remark = Text(shown(_remark(evaluation), 160), style=_STYLES[evaluation.status])
            yield evaluation.scope, scores(evaluation), remark


def _label(outcome: Outcome) -> Text:
    retrieval = outcome.candidate.retrieval
    if outcome.candidate.from_event:
        return Text(shown(retrieval.record_id or "", 40))
    return Text.assemble(
        shown(retrieval.span_name or "", 30), " ", (retrieval.span_id or "", "dim")
    )


def _cells(defined: Mapping[str, float]) -> list[str]:
    return [f"{defined[name]:.3f}" if name in defined else "–" for name in _COLUMNS]


def _remark(evaluation: Evaluation) -> str:
    if evaluation.status == "failed":
        return f"{evaluation.reason} ({evaluation.error_type})"
    if evaluation.status == "not_applicable":
        return "the query needs no retrieval"
    requirements = evaluation.judgement.requirements if evaluation.judgement else ()
    missing = [requirement.text for requirement in requirements if not requirement.supported]
    return "; ".join([*missing, *(_unranked(evaluation))])


def _unranked(evaluation: Evaluation) -> list[str]:
    reason = evaluation.scores.absent.get("ndcg")
    return [f"(no nDCG: {reason})"] if reason else []


def _means(report: Report) -> Table:
    """Lay out the means, each with the number of values that it is of."""
    values = scores_by_scope(report)
    table = Table("Mean (of)")
    for scope in values:
        table.add_column(scope, justify="right")
    for name in (*ATTRIBUTES, *conversations_.MEASURES):
        found = [by_name.get(name) for by_name in values.values()]
        if any(found):
            table.add_row(name, *(f"{fmean(v):.3f} ({len(v)})" if v else "–" for v in found))
    return table


def _sentence(report: Report) -> str:
    statuses, skipped = report.statuses(), report.skipped()
    parts = [
        f"Retrievals: {len(report.counted())}",
        f"scored {statuses['scored']}",
        f"not applicable {statuses['not_applicable']}",
        f"failed {statuses['failed']}",
        f"skipped {skipped.total()}",
    ]
    if report.conversations:
        parts.append(f"conversations {len(report.conversations)}")
    if report.not_sampled:
        parts.append(f"left out by the sample rate {report.not_sampled}")
    if report.bad_records:
        parts.append(f"records that cannot be read {len(report.bad_records)}")
    sentence = "; ".join(parts) + f". Judged by {report.judge}."
    if report.spans and not report.outcomes and not report.not_sampled:
        return f"{sentence} Of {report.spans} spans none is known as a retrieval."
    return sentence
