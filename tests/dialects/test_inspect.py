"""What `inspect` says of a file."""

import io
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from rich.console import Console

from seer_otel.dialects import with_tools
from seer_otel.dialects.reading import Reason
from seer_otel.dialects.reasons import WHAT_TO_DO
from seer_otel.harness.inspect import as_json, inspect, render

EVENT = {"task": "Who?", "context": ["t"]}


def span(span_id: int, attributes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    values = {
        key: {"boolValue": value} if isinstance(value, bool) else {"stringValue": value}
        for key, value in attributes.items()
    }
    return {
        "traceId": "7e" * 16,
        "spanId": f"{span_id:016x}",
        "name": "retrieval",
        "attributes": [{"key": key, "value": value} for key, value in values.items()],
        **fields,
    }


def write(folder: Path, *spans: dict[str, Any], beside: tuple[Any, ...] = ()) -> Path:
    body = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    path = folder / "spans.jsonl"
    path.write_text("\n".join(json.dumps(value) for value in (body, *beside)))
    return path


def shown(path: Path) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(render(inspect(path)))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_a_span_delivered_twice_is_listed_once(tmp_path: Path) -> None:
    once = span(1, {"seer.context": '["t"]', "seer.task": "Who?"})
    other = span(2, {})
    found = as_json(inspect(write(tmp_path, once, other, once, other)))

    assert ["0000000000000001"] == [s["span_id"] for s in found["spans"]]
    assert ["0000000000000002"] == found["ignored_span_ids"]


def test_parents_are_compared_without_regard_to_case(tmp_path: Path) -> None:
    root = span(0xAB, {"input.value": "Who?"})
    hop = span(1, {"seer.context": '["t"]'}, parentSpanId="00000000000000AB")

    assert "Who?" == as_json(inspect(write(tmp_path, hop, root)))["traces"][0]["task"]


def test_events_and_bad_records_are_counted_beside_the_spans(tmp_path: Path) -> None:
    path = write(tmp_path, span(1, {}), beside=(EVENT, {"context": 3}, EVENT))
    found = as_json(inspect(path))

    assert 2 == found["events"]
    assert [{"line": 3, "message": "context is a number; expected a list of passages"}] == found[
        "bad_records"
    ]


def test_metadata_is_listed_where_the_dialect_is_ours(tmp_path: Path) -> None:
    attributes = {"seer.metadata": '{"env": "prod"}', "gen_ai.operation.name": "retrieval"}
    ours = span(1, attributes | {"seer.context": "[]"})
    theirs = span(2, attributes)
    found = as_json(inspect(write(tmp_path, ours, theirs)))["spans"]

    assert {"env": "prod"} == found[0]["metadata"]
    assert "metadata" not in found[1]


def test_passages_without_a_text_are_listed_where_they_have_an_id(tmp_path: Path) -> None:
    context = json.dumps(["t", " ", {"id": "a"}, {"id": "b", "text": ""}, {"score": 1}])
    (found,) = as_json(inspect(write(tmp_path, span(1, {"seer.context": context}))))["spans"]

    assert [("t", None), (None, "a")] == [(p["text"], p["id"]) for p in found["passages"]]


def test_the_order_is_that_of_the_ranks_where_every_passage_has_one(tmp_path: Path) -> None:
    ranked = json.dumps([{"text": "a", "rank": 2}, {"text": "b", "rank": 1}])
    partly = json.dumps([{"text": "a", "rank": 2}, {"text": "b"}])
    path = write(tmp_path, span(1, {"seer.context": ranked}), span(2, {"seer.context": partly}))

    orders = [[p["text"] for p in s["passages"]] for s in as_json(inspect(path))["spans"]]
    assert [["b", "a"], ["a", "b"]] == orders


def test_people_are_told_why_and_what_to_do(tmp_path: Path) -> None:
    documents = {"retrieval.documents.8.document.content": "t", "input.value": "Who?"}
    lost = span(1, {"openinference.span.kind": "RETRIEVER"} | documents, droppedAttributesCount=37)
    inner = span(2, {"openinference.span.kind": "RETRIEVER"}, parentSpanId=f"{1:016x}")

    output = " ".join(shown(write(tmp_path, lost, inner, beside=({"task": "t"},))).split())

    assert "9 documents, 8 evicted, with 37 attributes" in output
    assert "set OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT to 40 or more" in output
    assert "nested (1)" in output
    assert "0 of 2 retrieval spans can be judged." in output
    assert "spans.jsonl:2: context is missing" in output


def test_a_loss_is_told_in_numbers(tmp_path: Path) -> None:
    kind, first = {"openinference.span.kind": "RERANKER"}, "reranker.output_documents.3.document."
    store = {"db.system": "chroma", "db.operation": "query"}
    result = {"name": "db.query.result", "timeUnixNano": "1"}

    later = shown(write(tmp_path, span(1, kind | {f"{first}content": "t", f"{first}id": "3"})))
    events = shown(write(tmp_path, span(1, store, events=[result] * 128, droppedEventsCount=72)))

    assert "4 documents, 3 evicted: raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT." in later
    assert "200 events, 72 evicted: set OTEL_SPAN_EVENT_COUNT_LIMIT to 200 or more." in events


def test_a_file_without_retrievals_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    output = shown(write(tmp_path, span(1, {"openinference.span.kind": "TOOL"})))

    assert "No span is marked as a retrieval" in output


def test_what_a_span_holds_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    attributes = {"seer.context": "[]", "seer.subquery": "\x1b[31m[bold]?"}

    output = shown(write(tmp_path, span(1, attributes, name="\x1b]0;x\x07[red]")))

    assert "\x1b" not in output
    assert "[bold]?" in output


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_has_its_advice(reason: Reason) -> None:
    assert WHAT_TO_DO[reason].endswith(".")


def test_tools_that_return_documents_and_are_not_named_are_told_of(tmp_path: Path) -> None:
    def call(name: str, result: str) -> dict[str, str]:
        kind = {"openinference.span.kind": "TOOL", "tool.name": name}
        return {**kind, "output.value": result}

    path = write(
        tmp_path,
        span(1, call("lookup", '{"documents": [{"content": "t"}]}')),
        span(2, call("lookup", '["t"]')),
        span(3, call("weather", "Sunny, 20 degrees.")),
        span(4, call("clock", '{"hours": 12}')),
        span(5, call("search", "[]")),
    )

    assert ("lookup",) == inspect(path).tools
    assert "not named in `tools` hold documents: lookup." in shown(path)
    assert () == inspect(path, with_tools(["lookup"])).tools
