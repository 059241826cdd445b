"""Results on the spans of files: in place, once, and for events too."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from seer_otel.dialects import otlp
from seer_otel.harness.annotate import annotated, write
from seer_otel.harness.candidates import gather
from seer_otel.harness.evaluate import evaluate
from seer_otel.judge.assess import Assessor
from seer_otel.judge.local import LocalJudge

FIXTURES = Path(os.environ.get("SEER_FIXTURES") or Path(__file__).parents[2] / "data")
SPANS = FIXTURES / "spans" / "seer-dialect.json"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
EVENT = {"task": "Who directed Inception?", "context": ["Christopher Nolan directed Inception."]}


def scored(path: Path, thresholds: Mapping[str, float] = {}) -> TracesData:
    gathered = gather([path])
    outcomes = asyncio.run(evaluate(gathered.candidates, Assessor(LocalJudge())))
    return annotated(gathered.traces, outcomes, thresholds)


def spans(traces: TracesData) -> list[Span]:
    return [s for r in traces.resource_spans for scope in r.scope_spans for s in scope.spans]


def keys(span: Span) -> list[str]:
    return [attribute.key for attribute in span.attributes]


def without_results(span: Span) -> Span:
    bare = Span()
    bare.CopyFrom(span)
    kept = [
        a for a in span.attributes if a.key not in RESULTS and not a.key.startswith("seer.eval")
    ]
    del bare.attributes[:], bare.events[:]
    bare.attributes.extend(kept)
    bare.events.extend(e for e in span.events if "evaluation" not in e.name)
    return bare


RESULTS = ("seer.verdict", "seer.skip_reason")


def test_spans_leave_as_they_came_with_results_added() -> None:
    before = spans(otlp.parse_json(SPANS.read_bytes()))
    after = spans(scored(SPANS))

    assert before == [without_results(span) for span in after]


def test_every_retrieval_says_what_became_of_it() -> None:
    after = {span.span_id.hex()[-1]: span for span in spans(scored(SPANS))}
    evaluated = {
        number: attribute.value.string_value
        for number, span in after.items()
        for attribute in span.attributes
        if attribute.key == "seer.evaluated"
    }

    assert {
        "2": "scored", "3": "scored", "4": "scored", "5": "scored", "6": "skipped", "8": "scored"
    } == evaluated  # fmt: skip


def test_results_of_an_earlier_run_give_way(tmp_path: Path) -> None:
    once = tmp_path / "once.json"
    write(scored(SPANS), once)
    twice = spans(scored(once))

    assert all(len(keys(span)) == len(set(keys(span))) for span in twice)
    assert [len(span.events) for span in spans(scored(SPANS))] == [len(s.events) for s in twice]


def test_scores_are_labelled_where_there_is_a_threshold() -> None:
    labels = {
        attribute.value.string_value
        for span in spans(scored(SPANS, {"recall": 0.5}))
        for event in span.events
        for attribute in event.attributes
        if attribute.key == "gen_ai.evaluation.score.label"
    }

    assert {"pass", "fail"} == labels


def events(folder: Path, *rows: Mapping[str, Any]) -> Path:
    path = folder / "events.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_an_event_becomes_a_span_that_reads_the_same(tmp_path: Path) -> None:
    text = "Christopher Nolan directed Inception. " * 100
    context = [{"text": text, "id": "p1", "score": 0.9}]
    path = events(tmp_path, {**EVENT, "context": context, "is_final_context": True})
    output = tmp_path / "out.otlp.json"
    write(scored(path), output)
    (before,), (after,) = gather([path]).candidates, gather([output]).candidates

    assert before.retrieval.context == after.retrieval.context
    assert before.retrieval.queries == after.retrieval.queries
    assert after.retrieval.is_final_context


def test_an_event_inside_a_span_gets_a_carrier_under_it(tmp_path: Path) -> None:
    path = events(tmp_path, {**EVENT, "trace_id": TRACE, "span_id": SPAN})
    (carrier,) = spans(scored(path))

    assert ("seer.evaluation", TRACE, SPAN) == (
        carrier.name, carrier.trace_id.hex(), carrier.parent_span_id.hex()
    )  # fmt: skip
    assert [SPAN] == [link.span_id.hex() for link in carrier.links]


def test_the_output_is_the_same_at_every_run(tmp_path: Path) -> None:
    path = events(tmp_path, EVENT, {**EVENT, "trace_id": TRACE})

    assert [s.span_id for s in spans(scored(path))] == [s.span_id for s in spans(scored(path))]
    assert TRACE == spans(scored(path))[1].trace_id.hex()
