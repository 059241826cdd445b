"""Means that are corrected by labels, where there are any."""

import json
from pathlib import Path
from typing import Any

import pytest

from seer_otel.config import load
from seer_otel.harness import report
from seer_otel.harness.run import run


def evaluated(folder: Path, labelled: int, others: int) -> Any:
    """Judge contexts that lack, in half of those with labels, one of two gold ids."""
    judge, file = folder / "verdicts.jsonl", folder / "events.jsonl"
    count = labelled + others
    verdicts = [
        {"query": f"q{n}", "requirements": [{"text": "a", "passages": ["x"]}]} for n in range(count)
    ]
    events = [
        {"task": f"q{n}", "context": [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}]}
        | ({"ground_truth": {"gold_doc_ids": ["1"]}} if n < labelled else {})
        for n in range(count)
    ]
    for event in events[:labelled:2]:
        event["ground_truth"] = {"gold_doc_ids": ["1", "gone"]}
    judge.write_text("\n".join(map(json.dumps, verdicts)))
    file.write_text("\n".join(map(json.dumps, events)))
    made = run([str(file)], load(None, {}, {"judge.kind": f"replay:{judge}"}))
    return report.as_json(made)["summary"]["corrected"]


def test_few_labels_correct_many_judgements(tmp_path: Path) -> None:
    recall = evaluated(tmp_path, 8, 20)["recall"]

    assert (1.0, 0.75, 0.75) == (recall["judged"], recall["labelled"], recall["mean"])
    assert (8, 20) == (recall["n_labelled"], recall["n_judged"])


@pytest.mark.parametrize(("labelled", "others"), [(2, 20), (0, 20), (8, 0)])
def test_without_enough_labels_or_others_there_is_nothing_to_correct(
    labelled: int, others: int, tmp_path: Path
) -> None:
    assert {} == evaluated(tmp_path, labelled, others)
