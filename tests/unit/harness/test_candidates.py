"""Which retrievals of files are judged, and why others are not."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from seer_otel.dialects import DIALECTS, otlp
from seer_otel.harness.candidates import gather

FIXTURES = Path(os.environ.get("SEER_FIXTURES") or Path(__file__).parents[2] / "data")


def readable(path: Path) -> bool:
    """Whether all retrievals of a file are of dialects that are read."""
    answers = json.loads((FIXTURES / "expected" / path.name).read_text())
    return {s["dialect"] for s in answers["spans"]} <= {dialect.name for dialect in DIALECTS}


SPANS = sorted(filter(readable, (FIXTURES / "spans").glob("*.json")))


def expected(path: Path) -> list[tuple[str, str | None]]:
    """Span id, and what keeps it from being judged."""
    answers = json.loads((FIXTURES / "expected" / path.name).read_text())
    keeps: dict[str, Any] = {"retrieval": None, "empty": None, "nested": "nested"}
    return [(s["span_id"], s.get("reason", keeps.get(s["status"]))) for s in answers["spans"]]


@pytest.mark.parametrize("path", SPANS, ids=lambda path: path.stem)
def test_every_retrieval_span_is_judged_or_skipped_with_its_reason(path: Path) -> None:
    found = gather([path]).candidates

    assert expected(path) == [(c.retrieval.span_id, c.skip_reason) for c in found]


def test_a_trace_may_be_spread_over_files(tmp_path: Path) -> None:
    body = json.loads((FIXTURES / "spans" / "openinference-langchain-rerank.json").read_text())
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(body))
    parts = []
    spans = [
        (resource, scope, span)
        for resource in body["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    for number, (resource, scope, span) in enumerate(spans):
        part = {**resource, "scopeSpans": [{**scope, "spans": [span]}]}
        parts.append(tmp_path / f"{number}.json")
        parts[-1].write_text(json.dumps({"resourceSpans": [part]}))

    assert gather([whole]).candidates == gather(parts).candidates


def test_a_span_delivered_twice_is_one_retrieval(tmp_path: Path) -> None:
    body = json.loads((FIXTURES / "spans" / "seer-dialect.json").read_text())
    path = tmp_path / "twice.jsonl"
    path.write_text(f"{json.dumps(body)}\n{json.dumps(body)}\n")
    gathered = gather([path])

    assert (9, 6) == (gathered.spans, len(gathered.candidates))
    assert 18 == len(list(otlp.spans(gathered.traces)))


def test_an_event_is_known_by_its_record_id_else_by_its_place(tmp_path: Path) -> None:
    first, second = tmp_path / "a-b.jsonl", tmp_path / "c.jsonl"
    event = {"task": "Who?", "context": ["x"]}
    first.write_text("\n".join(json.dumps(e) for e in (event, {**event, "record_id": "r"}, event)))
    second.write_text(json.dumps(event))

    assert ["a-b.jsonl#1", "r", "a-b.jsonl#3", "c.jsonl#1"] == [
        candidate.retrieval.record_id for candidate in gather([first, second]).candidates
    ]
