"""A judge's accuracy is counted as it is said to be, and failures are in no mean."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from seer_otel.cli import main
from seer_otel.errors import JudgeFailed
from seer_otel.harness.accuracy import Accuracy, Result, Summary, summarise
from seer_otel.harness.accuracy_report import as_json
from seer_otel.harness.candidates import Candidate
from seer_otel.harness.evaluate import Outcome
from seer_otel.harness.labelled import Question, read
from seer_otel.judge.assess import Assessor
from seer_otel.metrics.ground_truth import evaluator_f1
from seer_otel.retrieval import Passage
from seer_otel.testing import ScriptedJudge

DATA = Path(__file__).parents[2] / "data" / "accuracy"

A, B, C = "Nolan directed Inception.", "Inception is of 2010.", "Berlin has a zoo."
CONTEXT = [{"id": "a", "text": A}, {"id": "b", "text": B}, {"id": "c", "text": C}]


def row(task: str, gold: list[str], *subqueries: list[str], source: str = "films") -> Any:
    return {
        "id": task,
        "source": source,
        "task": task,
        "subqueries": [{"gold_doc_ids": each} for each in subqueries],
        "context": CONTEXT,
        "ground_truth": {"gold_doc_ids": gold},
    }


ROWS = [
    row("right", ["a", "b"], ["a"], ["b"]),
    row("half", ["a", "b"], ["a"], ["b"]),
    row("too much", ["a"], ["a"], []),
    row("nothing to find", [], []),
    row("found what is not there", [], [], source="other"),
    row("failed", ["a"], ["a"], source="other"),
]
SCRIPT: dict[str, Any] = {
    "right": [("director", [A]), ("year", [B])],
    "half": [("director", [A]), ("year", [])],
    "too much": [("director", [A]), ("zoo", [C])],
    "nothing to find": [("x", [])],
    "found what is not there": [("x", [C])],
    "failed": JudgeFailed("no", "500"),
}


async def measured(tmp_path: Path, rows: Sequence[Any] = ROWS, *, runs: int = 1) -> Accuracy:
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    questions = [each for each in read([path]) if isinstance(each, Question)]
    judge = ScriptedJudge(SCRIPT)
    assessor = Assessor(judge, runs=runs)
    results = [
        Result(q, Outcome(Candidate(q.retrieval), await assessor.assess(q.retrieval)))
        for q in questions
    ]
    return Accuracy(judge.name, judge.revision, results, [])


async def summary(tmp_path: Path) -> Summary:
    return summarise((await measured(tmp_path)).results)


async def test_every_mean_is_over_the_questions_that_define_it(tmp_path: Path) -> None:
    found = await summary(tmp_path)

    assert (5, 6, 1, 0) == (found.n, found.n_total, found.n_failed, found.n_skipped)
    assert {
        "evaluator_recall": pytest.approx((1 + 0.5 + 1) / 3),
        "evaluator_precision": pytest.approx((1 + 1 + 0.5) / 3),
        "evaluator_f1": pytest.approx((1 + 2 / 3 + 2 / 3 + 1 + 0) / 5),
        "evaluator_exact_match": pytest.approx(1 / 3),
    } == {name: mean.value for name, mean in found.means.items()}
    assert [3, 3, 5, 3] == [mean.n for mean in found.means.values()]


async def test_abstaining_is_counted_where_there_is_nothing_to_cite(tmp_path: Path) -> None:
    assert 0.5 == (await summary(tmp_path)).abstention


async def test_k_is_compared_with_the_known_decomposition(tmp_path: Path) -> None:
    k = (await summary(tmp_path)).k

    assert k is not None
    assert (5, 1.6, 1.6, 1.0, 1.0) == (k.n, k.judged, k.true, k.exact, k.within_one)


async def test_recall_is_compared_with_the_truth(tmp_path: Path) -> None:
    recall = (await summary(tmp_path)).recall

    # judged 1, .5, 1, 0, 1 against true 1, 1, .5, 0, 0
    assert recall is not None
    assert (5, 0.7, 0.5) == (recall.n, recall.judged, recall.true)
    assert pytest.approx(0.4) == recall.error
    assert pytest.approx(0.75 - 2 / 3) == recall.gap
    assert recall.correlation == pytest.approx(0.28, abs=0.01)


async def test_a_judge_that_always_says_the_same_has_no_correlation(tmp_path: Path) -> None:
    found = summarise((await measured(tmp_path, ROWS[:1] * 3)).results)

    assert found.recall is not None
    assert (None, None) == (found.recall.correlation, found.recall.gap)
    assert found.means["evaluator_f1"].interval.degenerate


async def test_each_set_is_summed_up_by_itself(tmp_path: Path) -> None:
    report = as_json(await measured(tmp_path))

    assert {"films": 4, "other": 1} == {
        name: each["n"] for name, each in report["summary"]["sources"].items()
    }


async def test_the_json_names_every_number(tmp_path: Path) -> None:
    report = as_json(await measured(tmp_path))
    results = {result["id"]: result for result in report["results"]}
    half, failed = results["half"], results["failed"]

    assert ("scored", 0.5, ["a", "b"], ["a"]) == (
        half["status"], half["evaluator_recall"], half["gold"], half["cited"]
    )  # fmt: skip
    assert (2, 2, 0.5, 1.0) == (half["k"], half["k_true"], half["recall"], half["recall_true"])
    assert ("failed", "judge_failed", None) == (
        failed["status"], failed["reason"], failed["evaluator_f1"]
    )  # fmt: skip
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0.0} == half["usage"]


async def test_runs_are_averaged_and_their_agreement_told(tmp_path: Path) -> None:
    report = as_json(await measured(tmp_path, ROWS[:2], runs=3))

    assert 1.0 == report["summary"]["agreement"]
    assert 0.0 == report["results"][0]["spread"]["recall"]


@pytest.mark.parametrize(
    ("cited", "gold", "expected"),
    [
        ([], [], 1.0),
        ([1], [], 0.0),
        ([], ["a"], 0.0),
        ([1], ["a"], 1.0),
        ([1, 2], ["a"], 2 / 3),
        ([1], ["a", "missing"], 1.0),  # what was not fetched cannot be cited
        ([3], ["a"], 1.0),  # a copy
    ],
)
def test_f1_of_one_question(cited: list[int], gold: list[str], expected: float) -> None:
    context = (Passage("one", id="a"), Passage("two", id="b"), Passage("one", id="a2"))

    assert pytest.approx(expected) == evaluator_f1(context, gold, [cited])


def test_the_command_measures_files_and_says_what_could_not_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n{}\n")
    code = main(["accuracy", str(path), "--judge", "baseline:all", "--format", "json"])
    report = json.loads(capsys.readouterr().out)

    assert 1 == code
    assert (1, 1.0, 0.8) == tuple(
        report["summary"][name] for name in ("n", "evaluator_recall", "evaluator_f1")
    )
    assert ["context is missing: give a list of passages, [] where nothing was found"] == [
        error["message"] for error in report["errors"]
    ]


def test_the_table_has_a_line_a_set(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["accuracy", str(DATA / "office.dev.jsonl"), "--judge", "baseline:bm25"])
    out = capsys.readouterr().out

    assert 0 == code
    assert "office" in out
    assert "Questions: 72; judged 72, failed 0, skipped 0. Judge baseline/bm25" in out


@pytest.mark.parametrize("file", ["office.dev.jsonl", "desk.train.jsonl"])
def test_the_labels_of_the_sets_are_true_of_their_contexts(file: str) -> None:
    for question in read([DATA / file]):
        assert isinstance(question, Question)
        assert question.gold <= {passage.id for passage in question.retrieval.context}
        assert question.truth.recall is not None
        assert bool(question.gold) == bool(question.truth.precision)


async def test_labels_are_never_shown(tmp_path: Path) -> None:
    labels = {"gold_doc_ids": ["a"], "answer": "a secret"}
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({**ROWS[0], "ground_truth": labels}))
    (question,) = read([path])
    assert isinstance(question, Question)
    judge = ScriptedJudge(SCRIPT)
    await Assessor(judge).assess(question.retrieval)

    assert "secret" not in str(judge.questions) + str(judge.enumerated)
