"""A run as plain values: for programs, for archives, and for `seer-otel compare`."""

from collections.abc import Iterator
from typing import Any

from seer_otel.harness.ir import findings
from seer_otel.harness.ir.judged import Judged
from seer_otel.harness.ir.measure import RR, AtLevel, Mean
from seer_otel.harness.ir.run import HarnessRun


def as_json(run: HarnessRun) -> dict[str, Any]:
    """Return a run as plain values; what is undefined is None or not there, never NaN."""
    first = run.levels[0]
    return {
        "eval_set": {
            "name": run.eval_set.folder.resolve().name,
            "digest": run.state.digest,
            "frozen": run.state.frozen,
            "changed": list(run.state.changed),
            "documents": len(run.eval_set.documents),
            "queries": len(run.eval_set.queries),
        },
        "k": list(run.ks),
        "depth": run.depth,
        "arms": [{"name": arm.name, "source": arm.source} for arm in run.arms],
        "warnings": findings.warnings(run),
        "levels": [_level(run, at) for at in run.levels],
        "abstention": {
            "level": first.level.name,
            "arms": {
                signal.arm: {
                    "signal": "score of the top document",
                    "floor": signal.abstention.floor,
                    "accuracy": signal.abstention.accuracy,
                    "false_abstention_rate": signal.abstention.false_abstention_rate,
                    "separation_auc": signal.abstention.separation_auc,
                    "answerable": list(signal.answerable),
                    "unanswerable": list(signal.unanswerable),
                }
                for signal in run.signals
            },
        },
        "judged": None if run.judged is None else _judged(run.judged),
        "results": list(_results(run)),
    }


def mean_name(score: str) -> str:
    """Return what the mean of a score is called."""
    return "mrr" if score == RR else score


def _level(run: HarnessRun, at: AtLevel) -> dict[str, Any]:
    score = f"recall@{run.ks[-1]}"
    places = [findings.place(at, arm, score) for arm in run.arms if arm.parts]
    remarks = [findings.not_separated(at, k) for k in run.ks]
    return {
        "level": at.level.name,
        "n_total": len(run.eval_set.queries),
        "n_scored": len(at.answerable),
        "n_abstention": len(at.unanswerable),
        "abstention_queries": list(at.unanswerable),
        "arms": {
            arm: {mean_name(name): _mean(mean) for name, mean in own.items()}
            for arm, own in at.means.items()
        },
        "differences": [
            {
                "arm": each.arm,
                "over": each.over,
                "score": mean_name(each.score),
                **_mean(each.mean),
            }
            for each in at.differences
        ],
        "hybrid": [
            {
                "arm": each.arm,
                "score": each.score,
                "earns_its_place": each.earned,
                "why": each.why,
            }
            for each in places
            if each is not None
        ],
        "by_kind": {
            kind: {arm: _mean(mean) for arm, mean in own.items()}
            for kind, own in at.by_kind.items()
        },
        "remarks": [remark for remark in remarks if remark is not None],
    }


def _mean(mean: Mean) -> dict[str, Any]:
    return {
        "mean": mean.value,
        "ci95": [mean.interval.low, mean.interval.high],
        "degenerate": mean.interval.degenerate,
        "n": mean.n,
    }


def _judged(judged: Judged) -> dict[str, Any]:
    return {
        "judge": judged.judge,
        "revision": judged.revision,
        "runs": judged.runs,
        "k": judged.k,
        "calls": judged.usage.calls,
        "input_tokens": judged.usage.input_tokens,
        "output_tokens": judged.usage.output_tokens,
        "arms": {
            name: {
                "n_failed": arm.failed,
                "n_not_applicable": arm.not_applicable,
                **{
                    score: {**_mean(mean), "spread": arm.spread[score]}
                    for score, mean in arm.means.items()
                },
            }
            for name, arm in judged.arms.items()
        },
    }


def _results(run: HarnessRun) -> Iterator[dict[str, Any]]:
    for at in run.levels:
        for arm, scores in at.scores.items():
            for query, own in zip(at.answerable, scores, strict=True):
                yield {"scope": at.level.name, "arm": arm, "query_id": query, **own}
    if run.judged is not None:
        for arm, lists in run.judged.lists.items():
            for query, judged in lists.items():
                place = {"scope": "judged", "arm": arm, "query_id": query}
                yield {**place, "reason": judged.reason, **judged.scores}
