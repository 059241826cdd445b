"""Every number agrees with cases that an implementation sharing no code computed."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from seer_otel.metrics import ground_truth, judgement, trace
from seer_otel.metrics.trace import Hop
from seer_otel.retrieval import Passage

Case = Mapping[str, Any]

FOLDER = Path(os.environ.get("SEER_VECTORS", Path(__file__).parents[2] / "data" / "vectors"))
METRICS = json.loads((FOLDER / "metrics.json").read_text(encoding="utf-8"))
HARNESS = json.loads((FOLDER / "harness.json").read_text(encoding="utf-8"))

TRACES = [case for case in HARNESS["cases"] if case["name"].startswith("trace")]


def read_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_passage(item: Case) -> Passage:
    return Passage(
        text=item["text"],
        id=None if item.get("id") is None else str(item["id"]),
        score=read_number(item.get("score")),
        distance=read_number(item.get("distance")),
        rerank_score=read_number(item.get("rerank_score")),
        rank=item.get("rank"),
    )


def read_requirements(requirements: list[list[int]]) -> list[list[int]]:
    """Count positions from 1; the files count from 0."""
    return [[position + 1 for position in cited] for cited in requirements]


def defined(scores: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in scores.items() if isinstance(value, float)}


@pytest.mark.parametrize("case", METRICS["cases"], ids=lambda case: case["name"])
def test_metrics_vector(case: Case) -> None:
    context = [read_passage(item) for item in case["context"]]
    requirements = read_requirements(case["requirements"])
    gold = [str(id_) for id_ in case.get("gold_doc_ids", ())]

    online = judgement.score(
        context, requirements, list_is_ranked=case.get("list_is_ranked", False)
    )
    labelled = ground_truth.score(context, gold, requirements)

    assert case["expect"] == pytest.approx(
        defined(asdict(online)) | defined(asdict(labelled)), abs=METRICS["tolerance"]
    )


@pytest.mark.parametrize("case", METRICS["cases"], ids=lambda case: case["name"])
def test_every_score_of_a_vector_has_a_value_or_a_reason(case: Case) -> None:
    context = [read_passage(item) for item in case["context"]]
    requirements = read_requirements(case["requirements"])
    gold = [str(id_) for id_ in case.get("gold_doc_ids", ())]

    for scores in (
        judgement.score(context, requirements),
        ground_truth.score(context, gold, requirements),
    ):
        undefined = {name for name, value in asdict(scores).items() if value is None}

        assert set(scores.absent) == undefined
        assert all(scores.absent.values())


@pytest.mark.parametrize("case", TRACES, ids=lambda case: case["name"])
def test_trace_vector(case: Case) -> None:
    hops = [
        Hop(
            context=[Passage(text) for text in hop["texts"]],
            requirements=read_requirements(hop["requirements"]),
            end_ns=hop["end"],
            is_final_context=hop["final"],
        )
        for hop in case["hops"]
    ]
    final = trace.final_hop(hops)
    numbers = {
        "cumulative_recall": trace.cumulative_recall(hops),
        "redundancy": trace.redundancy(hops),
        "trace_recall": judgement.score(final.context, final.requirements).recall,
    }
    new = [[n - 1 for n in requirements] for requirements in trace.new_requirements(hops)]

    assert case["expect"]["new_requirements"] == new
    assert {name: case["expect"][name] for name in numbers} == pytest.approx(
        numbers, abs=HARNESS["tolerance"]
    )
