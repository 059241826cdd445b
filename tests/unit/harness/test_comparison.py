"""Two runs, compared."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from seer_otel.errors import ConfigError
from seer_otel.harness import comparison


def harness(path: Path, digest: str = "d", **arms: Mapping[str, float]) -> Path:
    results = [
        {"scope": "strict", "arm": arm, "query_id": query, "recall@10": value}
        for arm, values in arms.items()
        for query, value in values.items()
    ]
    path.write_text(
        json.dumps({"eval_set": {"digest": digest}, "judged": None, "results": results})
    )
    return path


def evaluated(path: Path, *results: Mapping[str, Any], revision: str = "1") -> Path:
    rows = [{"scope": "task", **result} for result in results]
    path.write_text(json.dumps({"judge": {"name": "j", "revision": revision}, "results": rows}))
    return path


def test_arms_are_compared_query_by_query(tmp_path: Path) -> None:
    before = {f"q{n}": 0.5 for n in range(20)}
    after = {query: 0.75 if n else 0.25 for n, query in enumerate(before)}
    found = comparison.compare(
        harness(tmp_path / "a", bm25=before), harness(tmp_path / "b", bm25=after)
    )
    (change,) = found.changes

    assert ("strict, bm25", "recall@10", 20) == (change.group, change.score, change.n)
    assert 0.5 == change.before
    assert pytest.approx(0.725) == change.after
    assert change.is_clear
    assert [("q0", 0.5, 0.25)] == [(each.pair, each.before, each.after) for each in found.falls]


def test_two_runs_of_one_arm_each_are_compared_whatever_their_names(tmp_path: Path) -> None:
    found = comparison.compare(
        harness(tmp_path / "a", old={"q": 0.5}), harness(tmp_path / "b", new={"q": 1.0})
    )

    assert ["strict, new"] == [each.group for each in found.changes]


def test_runs_over_different_queries_are_an_error(tmp_path: Path) -> None:
    one = harness(tmp_path / "a", bm25={"q": 0.5, "r": 1.0})
    other = harness(tmp_path / "b", bm25={"q": 0.5, "s": 1.0})

    with pytest.raises(ConfigError, match="2 queries are in one run only"):
        comparison.compare(one, other)


def test_runs_without_a_common_arm_are_an_error(tmp_path: Path) -> None:
    one = harness(tmp_path / "a", bm25={"q": 0.5}, dense={"q": 0.5})

    with pytest.raises(ConfigError, match="no arm is in both"):
        comparison.compare(one, harness(tmp_path / "b", other={"q": 0.5}))


def test_retrievals_are_paired_by_record_id(tmp_path: Path) -> None:
    one = evaluated(
        tmp_path / "a", {"record_id": "x", "recall": 0.0}, {"record_id": "y", "recall": 1.0}
    )
    other = evaluated(
        tmp_path / "b", {"record_id": "y", "recall": None}, {"record_id": "x", "recall": 1.0}
    )
    (change,) = comparison.compare(one, other).changes

    assert ("task", "recall", 0.0, 1.0, 1) == (
        change.group, change.score, change.before, change.after, change.n
    )  # fmt: skip


def test_new_traces_of_the_same_questions_are_paired_by_the_question(tmp_path: Path) -> None:
    one = evaluated(
        tmp_path / "a",
        {"record_id": "1-1", "query": "Who?", "recall": 0.5},
        {"record_id": "1-2", "query": "twice", "recall": 0.0},
        {"record_id": "1-3", "query": "twice", "recall": 0.0},
    )
    other = evaluated(
        tmp_path / "b",
        {"record_id": "2-1", "query": "Who?", "recall": 1.0},
        {"record_id": "2-2", "query": "twice", "recall": 1.0},
    )
    found = comparison.compare(one, other)

    assert [1] == [each.n for each in found.changes]
    assert ["3 results have no partner and are left out."] == list(found.remarks)


def test_other_sets_and_other_judges_are_told(tmp_path: Path) -> None:
    sets = comparison.compare(
        harness(tmp_path / "a", bm25={"q": 0.5}), harness(tmp_path / "b", "e", bm25={"q": 0.5})
    )
    row = {"record_id": "x", "recall": 1.0}
    judges = comparison.compare(
        evaluated(tmp_path / "c", row), evaluated(tmp_path / "d", row, revision="2")
    )

    assert "The evaluation sets differ" in sets.remarks[0]
    assert "The judges differ: j 1; j 2." in judges.remarks[0]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    good = harness(tmp_path / "a", bm25={"q": 0.5})
    bad = tmp_path / "b"
    for text in ("{", "[]", '{"results": 3}'):
        bad.write_text(text)
        with pytest.raises(ConfigError, match="b: this is no"):
            comparison.compare(good, bad)
    with pytest.raises(ConfigError, match="no pair in common"):
        comparison.compare(evaluated(tmp_path / "c"), evaluated(tmp_path / "d"))


def test_a_comparison_is_shown_and_is_plain_values(tmp_path: Path) -> None:
    found = comparison.compare(
        harness(tmp_path / "a", bm25={"q": 0.5}), harness(tmp_path / "b", bm25={"q": 0.25})
    )
    console = Console(file=io.StringIO(), width=160)
    console.print(comparison.render(found))
    file = console.file
    assert isinstance(file, io.StringIO)

    assert "-0.250 [no width]" in file.getvalue()
    assert "fell: recall@10 0.500 → 0.250" in file.getvalue()
    assert -0.25 == json.loads(json.dumps(comparison.as_json(found)))["changes"][0]["difference"]
