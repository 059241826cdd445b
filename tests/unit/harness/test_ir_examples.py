"""The examples of the harness, and the numbers that its page shows."""

import subprocess
import sys
from pathlib import Path

import pytest

from seer_otel.harness.ir.layout import interval
from seer_otel.harness.ir.run import HarnessRun, run

REPOSITORY = Path(__file__).parents[3]
SET = REPOSITORY / "tests" / "data" / "ir" / "2wiki"
PAGE = (REPOSITORY / "docs" / "harness.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made() -> HarnessRun:
    return run(SET, ks=[5, 10])


def test_the_set_is_as_it_was_frozen(made: HarnessRun) -> None:
    assert made.all_is_well
    assert made.state.frozen
    assert f"Digest {made.state.digest}." in PAGE


@pytest.mark.parametrize(
    ("arm", "row"), [("bm25", "bm25"), ("dense", "dense"), ("hybrid", "hybrid of bm25 and dense")]
)
def test_the_page_shows_what_a_run_prints(arm: str, row: str, made: HarnessRun) -> None:
    means = made.levels[0].means[arm]
    cells = (interval(means[score]) for score in ("recall@5", "recall@10", "rr", "hit@10"))

    assert f"| {row} | {' | '.join(cells)} |" in PAGE


def test_some_queries_lose_their_answers(tmp_path: Path) -> None:
    script = REPOSITORY / "examples" / "harness" / "without_answers.py"
    subprocess.run([sys.executable, str(script), str(SET), str(tmp_path / "set")], check=True)
    found = run(tmp_path / "set", wanted=["bm25"])
    (signal,) = found.signals

    assert (135, 36) == (len(found.levels[0].answerable), len(found.levels[0].unanswerable))
    assert f"| top score of bm25 | {signal.abstention.floor:.4g} | " in PAGE
    assert f"| {signal.abstention.separation_auc:.3f} |" in PAGE
