"""Ranked lists, abstention, intervals and conversations agree with an independent computation."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from seer_otel.metrics import conversation, ranked, statistics

Case = Mapping[str, Any]

FOLDER = Path(os.environ.get("SEER_VECTORS", Path(__file__).parents[2] / "data" / "vectors"))
HARNESS = json.loads((FOLDER / "harness.json").read_text(encoding="utf-8"))


def cases(start: str) -> list[Case]:
    return [case for case in HARNESS["cases"] if case["name"].startswith(start)]


def approximately(expected: Any) -> Any:
    return pytest.approx(expected, abs=HARNESS["tolerance"])


@pytest.mark.parametrize("case", cases("labelled runs"), ids=lambda case: case["name"])
def test_labelled_runs_vector(case: Case) -> None:
    k = case["k"]
    for arm, run in case["runs"].items():
        means: dict[str, float] = {}
        for level in ("root_cause", "family"):
            labels = {id_: document[level] for id_, document in case["documents"].items()}
            lists, sets = [], []
            for query, ranking in run.items():
                wanted = case["queries"][query][level]
                right = [id_ for id_, label in labels.items() if label in wanted]
                lists.append(ranked.score(ranking, right, k))
                sets.append(ranked.candidate_set([[labels[id_]] for id_ in ranking[:k]], wanted))
            means |= {
                f"recall@{k}[{level}]": fmean(each.recall for each in lists),
                f"capped_recall@{k}[{level}]": fmean(each.capped_recall for each in lists),
                f"hit@{k}[{level}]": fmean(each.hit for each in lists),
                f"mrr[{level}]": fmean(each.rr for each in lists),
                f"candidate_set_recall@{k}[{level}]": fmean(each.recall for each in sets),
                f"candidate_set_score@{k}[{level}]": fmean(each.score for each in sets),
            }

        assert approximately(case["expect"][arm]) == means


@pytest.mark.parametrize("case", cases("abstention"), ids=lambda case: case["name"])
def test_abstention_vector(case: Case) -> None:
    scores = ranked.abstention(case["answerable"], case["unanswerable"])

    assert approximately(case["expect"]) == {
        "floor": scores.floor,
        "abstention_accuracy": scores.accuracy,
        "false_abstention_rate": scores.false_abstention_rate,
        "separation_auc": scores.separation_auc,
    }


@pytest.mark.parametrize("case", cases("intervals"), ids=lambda case: case["name"])
def test_intervals_vector(case: Case) -> None:
    expect, values, other = case["expect"], case["values"], case["other_arm"]
    own = statistics.mean_interval(values)
    difference = statistics.difference_interval(values, other)

    assert approximately(expect["mean"]) == fmean(values)
    assert pytest.approx(expect["ci95"], abs=0.02) == [own.low, own.high]
    assert pytest.approx(expect["difference_ci95"], abs=0.02) == [difference.low, difference.high]


@pytest.mark.parametrize("case", cases("conversation"), ids=lambda case: case["name"])
def test_conversation_vector(case: Case) -> None:
    supported = [
        {statement for passage in turn["passages"] for statement in passage["supports"]}
        for turn in case["assistant_turns"]
    ]
    recalls = conversation.turn_recalls(supported, case["statements"], window=case["window"])

    assert approximately(case["expect"]["turn_recalls"]) == list(recalls)
    assert approximately(
        case["expect"]["turn_contextual_recall"]
    ) == conversation.turn_contextual_recall(recalls)
