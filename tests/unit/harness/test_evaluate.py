"""What comes of the retrievals of files, judged by a script."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from seer_otel.errors import BudgetSpent, JudgeError, JudgeFailed
from seer_otel.harness import report
from seer_otel.harness.candidates import gather
from seer_otel.harness.evaluate import evaluate
from seer_otel.harness.report import Report
from seer_otel.judge.assess import Assessor
from seer_otel.testing import ScriptedJudge

TASK = "Who directed Inception and what is their nationality?"
DIRECTED = "Christopher Nolan directed Inception."
NATIONALITY = "Nolan is British-American."
RELEASED = "Inception released in 2010."
Script = Mapping[str, Sequence[tuple[str, Sequence[str]]] | JudgeError]
SCRIPT: Script = {
    TASK: [("the director", [DIRECTED]), ("the nationality", [NATIONALITY])],
    "Who directed Inception?": [("the director of Inception", [DIRECTED])],
}
TRACE = "0af7651916cd43dd8448eb211c80319c"


def judged(folder: Path, *events: object, judge: ScriptedJudge | None = None) -> dict[str, Any]:
    """Judge events, one a line; a text is a line as it is. Returns the report as JSON."""
    path = folder / "events.jsonl"
    lines = (event if isinstance(event, str) else json.dumps(event) for event in events)
    path.write_text("\n".join(lines))
    return judged_file(path, judge or ScriptedJudge(SCRIPT))


def judged_file(path: Path, judge: ScriptedJudge) -> dict[str, Any]:
    gathered = gather([path])
    outcomes = asyncio.run(evaluate(gathered.candidates, Assessor(judge)))
    made = Report(outcomes, gathered.bad_records, judge.name, judge.revision, gathered.spans)
    return json.loads(json.dumps(report.as_json(made), allow_nan=False))  # type: ignore[no-any-return]


def only(results: Iterable[dict[str, Any]], scope: str = "task") -> dict[str, Any]:
    (result,) = (result for result in results if result["scope"] == scope)
    return result


def scored(*texts: str) -> list[dict[str, Any]]:
    return [{"text": text, "score": 1.0 / n} for n, text in enumerate(texts, start=1)]


def test_an_event_has_the_scores_of_its_task(tmp_path: Path) -> None:
    found = judged(tmp_path, {"task": TASK, "context": scored(DIRECTED, NATIONALITY, RELEASED)})
    result = only(found["results"])

    assert (1.0, pytest.approx(2 / 3), pytest.approx(0.8), 1.0) == tuple(
        result[name] for name in ("recall", "precision", "f1", "ndcg")
    )
    assert [
        {"text": "the director", "passages": [1]},
        {"text": "the nationality", "passages": [2]},
    ] == result["requirements"]
    assert "events.jsonl#1" == result["record_id"]


def test_results_of_a_retrieval_stand_together_the_task_first(tmp_path: Path) -> None:
    event = {"task": TASK, "subquery": "Who directed Inception?", "context": [DIRECTED]}
    found = judged(tmp_path, event, event)

    assert ["task", "subquery", "trace"] * 2 == [r["scope"] for r in found["results"]]


def test_an_empty_context_is_a_recall_of_nothing_and_the_judge_is_not_asked(tmp_path: Path) -> None:
    judge = ScriptedJudge(SCRIPT)
    events = [{"task": TASK, "context": context} for context in ([], [""], [" \n"])]
    found = judged(tmp_path, *events, judge=judge)
    results = [result for result in found["results"] if result["scope"] == "task"]

    assert [(0.0, None, None, None)] * 3 == [
        (r["recall"], r["precision"], r["f1"], r["ndcg"]) for r in results
    ]
    assert {"the context is empty"} == set(results[0]["absent"].values())
    assert [] == judge.questions


def test_what_cannot_be_read_is_skipped_and_never_a_recall_of_nothing(tmp_path: Path) -> None:
    found = judged(tmp_path, {"task": TASK, "context": [{"body": DIRECTED}]})

    assert [("skipped", "no_content", None)] == [
        (r["status"], r["reason"], r["recall"]) for r in found["results"]
    ]


def test_a_blank_question_is_none(tmp_path: Path) -> None:
    events = [{"task": blank, "context": [DIRECTED]} for blank in ("", "  \n", None)]
    found = judged(tmp_path, *events)

    assert [("skipped", "no_query")] * 3 == [(r["status"], r["reason"]) for r in found["results"]]


def test_one_bad_record_stops_none_of_the_others(tmp_path: Path) -> None:
    good = {"task": TASK, "context": [DIRECTED]}
    found = judged(tmp_path, good, {"task": 3, "context": []}, "{broken", good)

    assert 2 == found["summary"]["n_scored"]
    assert [("events.jsonl", 2), ("events.jsonl", 3)] == [
        (error["file"], error["line"]) for error in found["errors"]
    ]


def test_a_failure_is_counted_and_never_a_zero_in_the_mean(tmp_path: Path) -> None:
    failing = {f"q{n}": JudgeFailed("away", "503") for n in range(5)}
    script: Script = {**SCRIPT, **failing}
    events = [{"task": task, "context": [DIRECTED, NATIONALITY]} for task in [TASK] * 5]
    events += [{"task": task, "context": [DIRECTED]} for task in failing]
    found = judged(tmp_path, *events, judge=ScriptedJudge(script))
    summary = found["summary"]

    assert (10, 5, 5, 0) == tuple(
        summary[name] for name in ("n_total", "n_scored", "n_failed", "n_skipped")
    )
    assert 1.0 == summary["means"]["task"]["recall"]
    assert 5 == summary["n"]["task"]["recall"]
    assert 0.5 == summary["coverage"]
    assert ("failed", "judge_failed", "503", None) == tuple(
        found["results"][-1][name] for name in ("status", "reason", "error_type", "recall")
    )


def test_what_the_budget_leaves_out_is_skipped(tmp_path: Path) -> None:
    judge = ScriptedJudge({**SCRIPT, "later": BudgetSpent("2 calls a day")})
    events = [{"task": task, "context": [DIRECTED]} for task in (TASK, TASK, "later")]
    summary = judged(tmp_path, *events, judge=judge)["summary"]

    assert (2, 0, {"budget": 1}) == (summary["n_scored"], summary["n_failed"], summary["skipped"])


def test_an_empty_context_counts_in_the_mean(tmp_path: Path) -> None:
    events = [{"task": TASK, "context": context} for context in ([DIRECTED, NATIONALITY], [])]

    assert 0.5 == judged(tmp_path, *events)["summary"]["means"]["task"]["recall"]


def test_nothing_to_judge_has_no_means(tmp_path: Path) -> None:
    summary = judged(tmp_path)["summary"]

    assert ({}, None, 0) == (summary["means"], summary["coverage"], summary["n_total"])


def test_small_talk_is_not_applicable(tmp_path: Path) -> None:
    found = judged(tmp_path, {"task": "hi", "context": [DIRECTED]})
    result = only(found["results"])

    assert ("not_applicable", None, None) == (
        result["status"], result["recall"], result["precision"]
    )  # fmt: skip
    assert (1, 0) == (found["summary"]["n_not_applicable"], found["summary"]["n_scored"])


def test_labels_measure_retriever_and_judge_and_the_judge_never_sees_them(tmp_path: Path) -> None:
    judge = ScriptedJudge(SCRIPT)
    event = {
        "task": TASK,
        "context": [{"id": "a", "text": DIRECTED}, {"id": "z", "text": RELEASED}],
        "ground_truth": {"gold_doc_ids": ["a", "b"], "answer": "He is British-American."},
    }
    found = judged(tmp_path, event, judge=judge)
    result = only(found["results"])

    assert (0.5, 0.5, 1.0, 1.0, 1.0) == tuple(
        result[f"{name}"]
        for name in (
            "gt_recall",
            "gt_precision",
            "evaluator_recall",
            "evaluator_precision",
            "evaluator_exact_match",
        )
    )
    assert {1: DIRECTED, 2: RELEASED} == judge.questions[0].passages
    assert only(found["results"], "trace")["gt_recall"] is None


def hop(*texts: str, at: int, final: bool = False) -> dict[str, Any]:
    return {
        "task": TASK,
        "context": list(texts),
        "trace_id": TRACE,
        "created_at": at,
        "is_final_context": final,
        "record_id": f"hop {at}",
    }


def test_hops_of_one_trace_are_scored_together(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        hop(DIRECTED, RELEASED, at=1),
        hop(NATIONALITY, RELEASED, at=2),
        hop(NATIONALITY, at=3, final=True),
        hop(RELEASED, at=4),
    )
    trace = only(found["results"], "trace")

    assert "hop 3" == trace["record_id"]
    assert (0.5, 1.0, 1.0) == (trace["recall"], trace["precision"], trace["cumulative_recall"])
    assert 0.75 == trace["redundancy"]
    assert [[1], [2], [], []] == [
        r["new_requirements"] for r in found["results"] if r["scope"] == "task"
    ]


def test_the_last_hop_to_end_is_final_where_none_is_marked(tmp_path: Path) -> None:
    found = judged(tmp_path, hop(DIRECTED, NATIONALITY, at=2), hop(DIRECTED, at=1))

    assert "hop 2" == only(found["results"], "trace")["record_id"]


def test_a_trace_whose_final_context_failed_has_failed(tmp_path: Path) -> None:
    script: Script = {**SCRIPT, "else": JudgeFailed("away")}
    final = {**hop(DIRECTED, at=2, final=True), "task": "else"}
    found = judged(tmp_path, hop(DIRECTED, at=1), final, judge=ScriptedJudge(script))
    trace = only(found["results"], "trace")

    assert ("failed", None, None) == (trace["status"], trace["recall"], trace["cumulative_recall"])


def test_requirements_are_found_once_for_all_hops(tmp_path: Path) -> None:
    judge = ScriptedJudge(SCRIPT)
    judged(tmp_path, *(hop(DIRECTED, at=n) for n in range(1, 5)), judge=judge)

    assert [TASK] == judge.enumerated
