"""The accuracy of a judge: as JSON for programs, and as tables for people."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seer_otel.harness.accuracy import EVALUATOR, Accuracy, Against, Result, Summary, summarise
from seer_otel.harness.shown import shown
from seer_otel.metrics.judgement import cited
from seer_otel.verdict import Usage

_NOTHING: Final = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0}


def as_json(accuracy: Accuracy) -> dict[str, Any]:
    """Return it as plain values; a number that is undefined is None."""
    return {
        "judge": {"name": accuracy.judge, "revision": accuracy.revision},
        "summary": {
            **_summary(summarise(accuracy.results)),
            "sources": {
                source: _summary(summarise(results))
                for source, results in accuracy.sources().items()
            },
        },
        "results": [_result(result) for result in accuracy.results],
        "errors": [asdict(bad) for bad in accuracy.bad_records],
    }


def _summary(summary: Summary) -> dict[str, Any]:
    means = summary.means
    return {
        "n": summary.n,
        "n_total": summary.n_total,
        "n_failed": summary.n_failed,
        "n_skipped": summary.n_skipped,
        **{name: means[name].value if name in means else None for name in EVALUATOR},
        "intervals": {name: {**asdict(m.interval), "n": m.n} for name, m in means.items()},
        "abstention": summary.abstention,
        "k": asdict(summary.k) if summary.k is not None else None,
        "recall": asdict(summary.recall) if summary.recall is not None else None,
        "ndcg": asdict(summary.ndcg) if summary.ndcg is not None else None,
        "agreement": summary.agreement,
        "seconds": dict(summary.seconds),
        "usage": _usage(summary.usage),
    }


def _usage(usage: Usage) -> dict[str, Any]:
    """Return what was spent: no call costs nothing; a call whose price is unknown, an unknown."""
    return asdict(usage) if usage.calls else _NOTHING


def _result(result: Result) -> dict[str, Any]:
    question, evaluation = result.question, result.evaluation
    scores, context = result.scores(), question.retrieval.context
    judgement = evaluation.judgement if evaluation is not None else None
    repetition = evaluation.repetition if evaluation is not None else None
    requirements = judgement.requirements if judgement is not None else ()
    return {
        "id": question.id,
        "source": question.source,
        "status": evaluation.status if evaluation is not None else "skipped",
        "reason": evaluation.reason if evaluation else result.outcome.candidate.skip_reason,
        "error_type": evaluation.error_type if evaluation is not None else None,
        **{name: scores.get(name) for name in EVALUATOR},
        "gold": sorted({p.id for p in context if p.id in question.gold and p.id}),
        "cited": [context[n - 1].id for n in cited(context, [r.passages for r in requirements])],
        "requirements": [{"text": r.text, "passages": list(r.passages)} for r in requirements],
        "k": result.k,
        "k_true": question.k,
        "recall": evaluation.scores.recall if evaluation is not None else None,
        "recall_true": question.truth.recall,
        "ndcg": evaluation.scores.ndcg if evaluation is not None else None,
        "ndcg_true": question.truth.ndcg,
        "spread": dict(repetition.spread) if repetition is not None else None,
        "agreement": repetition.agreement if repetition is not None else None,
        "cached": evaluation.provenance.cached if evaluation is not None else None,
        "duration_ms": evaluation.provenance.duration_ms if evaluation is not None else None,
        "usage": _usage(evaluation.provenance.usage if evaluation is not None else Usage()),
    }


COLUMNS: Final = (
    "n", "recall", "precision", "F1", "F1, 95 %", "exact", "abstains", "K exact", "recall: r",
    "gap", "nDCG: r", "p50, s", "cost",
)  # fmt: skip
"""Headings of `cells`."""


def cells(summary: Summary) -> list[str]:
    """Return the numbers of a summary, one a column; – where undefined, ? where unknown."""
    means = summary.means
    f1 = means.get("evaluator_f1")
    values = {name: means[name].value if name in means else None for name in EVALUATOR}
    recall, precision, _, exact = (_share(values[name]) for name in EVALUATOR)
    return [
        str(summary.n),
        recall,
        precision,
        _share(values["evaluator_f1"]),
        f"{f1.interval.low:.2f}–{f1.interval.high:.2f}" if f1 else "–",
        exact,
        _share(summary.abstention),
        _share(summary.k.exact if summary.k is not None else None),
        *_against(summary.recall),
        _share(summary.ndcg.correlation if summary.ndcg is not None else None),
        f"{summary.seconds['p50']:.3f}" if summary.seconds else "–",
        _cost(summary.usage),
    ]


def rows(accuracy: Accuracy) -> Mapping[str, Sequence[str]]:
    """Return the cells of each set, and of all of them together where there are several."""
    by_source = {source: cells(summarise(each)) for source, each in accuracy.sources().items()}
    return (
        by_source
        if len(by_source) == 1
        else {**by_source, "all": cells(summarise(accuracy.results))}
    )


def render(accuracy: Accuracy) -> RenderableType:
    """Lay it out for people."""
    summary = summarise(accuracy.results)
    table = Table("Set")
    for heading in COLUMNS:
        table.add_column(heading, justify="right")
    for source, row in rows(accuracy).items():
        table.add_row(Text(shown(source, 30)), *row)
    sentence = (
        f"Questions: {summary.n_total}; judged {summary.n}, failed {summary.n_failed}, "
        f"skipped {summary.n_skipped}. Judge {accuracy.judge}, revision {accuracy.revision}."
    )
    if summary.agreement is not None:
        sentence += f" Runs agree on {summary.agreement:.0%} of the requirements."
    bad = [Text(shown(str(each), 200), style="red") for each in accuracy.bad_records]
    return Group(table, Text(sentence), *bad)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _against(against: Against | None) -> tuple[str, str]:
    return ("–", "–") if against is None else (_share(against.correlation), _share(against.gap))


def _cost(usage: Usage) -> str:
    if not usage.calls:
        return "0"
    return "?" if usage.cost is None else f"{usage.cost:.4f}"
