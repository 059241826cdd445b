"""Tool calls that return documents: read where the tools are named, and ignored elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.dialects import otlp, with_tools
from seer_otel.dialects.trace import node, resolve
from tests.dialects.spans import reading, span, texts
from tests.dialects.test_fixtures import FIXTURES

OPENINFERENCE = {"openinference.span.kind": "TOOL", "input.value": '{"query": "Who?"}'}
GENAI = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "lookup",
    "gen_ai.tool.call.arguments": '{"query": "Who?"}',
}
VERCEL = {
    "ai.operationId": "ai.toolCall",
    "ai.toolCall.name": "lookup",
    "ai.toolCall.args": '{"query": "Who?"}',
}
RESULTS = (
    (OPENINFERENCE, "output.value"),
    (GENAI, "gen_ai.tool.call.result"),
    (VERCEL, "ai.toolCall.result"),
)
NAMED = with_tools(["lookup"])


@pytest.mark.parametrize(("asked", "key"), RESULTS)
@pytest.mark.parametrize(
    "result",
    [
        {"documents": [{"content": "a"}, {"text": "b"}]},
        {"results": [{"page_content": "a", "score": 0.5}, {"document": "b"}], "took": 3},
        ["a", "b"],
        [{"content": "a"}, "b"],
    ],
)
def test_documents_are_read_from_the_result_of_a_tool_that_is_named(
    asked: dict[str, Any], key: str, result: Any
) -> None:
    read = reading(asked | {key: json.dumps(result)}, NAMED)

    assert ("tool", "Who?", ["a", "b"]) == (read.dialect, read.query, texts(read))


@pytest.mark.parametrize(("asked", "key"), RESULTS)
def test_structured_results_are_read(asked: dict[str, Any], key: str) -> None:
    assert ["a"] == texts(reading(asked | {key: {"documents": [{"content": "a"}]}}, NAMED))


@pytest.mark.parametrize(("asked", "key"), RESULTS)
def test_a_tool_that_is_not_named_is_ignored(asked: dict[str, Any], key: str) -> None:
    call = span(asked | {key: '{"documents": [{"content": "a"}]}'})

    assert dialects.read(call) is None
    assert dialects.read(call, with_tools([])) is None
    assert dialects.read(call, with_tools(["other", "Lookup"])) is None


def test_the_name_on_the_span_goes_before_the_name_of_the_span() -> None:
    call = span(OPENINFERENCE | {"tool.name": "weather", "output.value": '["a"]'})

    assert dialects.read(call, NAMED) is None
    assert dialects.read(call, with_tools(["weather"])) is not None


def test_one_text_is_one_passage_and_nothing_is_no_content() -> None:
    key = "gen_ai.tool.call.result"

    assert ["Sunny, 20 degrees."] == texts(reading(GENAI | {key: "Sunny, 20 degrees."}, NAMED))
    assert "no_content" == reading(GENAI, NAMED).reason
    assert "no_content" == reading(GENAI | {key: '{"temperature": 20}'}, NAMED).reason
    assert "empty" == reading(GENAI | {key: '{"documents": []}'}, NAMED).state
    assert "truncated" == reading(GENAI | {key: '[{"content": "a'}, NAMED).reason
    assert "span_failed" == reading(GENAI | {key: "[]"}, NAMED, status_code=2).reason


def test_a_retriever_outranks_the_tool_that_is_named_like_it() -> None:
    attributes = GENAI | {"openinference.span.kind": "RETRIEVER"}

    assert "openinference" == reading(attributes, NAMED).dialect


def test_a_tool_around_a_retriever_is_judged_once() -> None:
    outer = GENAI | {"gen_ai.tool.call.result": '["a"]'}
    inner = {"openinference.span.kind": "RETRIEVER", "retrieval.documents": '["a", "b"]'}
    nodes = [
        node(span(inner, span_id="02" * 8, parent_span_id="01" * 8), NAMED),
        node(span(outer), NAMED),
    ]

    statuses = {i: r.status for i, r in resolve(nodes).resolutions.items()}
    assert {"01" * 8: "retrieval", "02" * 8: "nested"} == statuses


def test_a_real_agents_tool_is_read_with_its_users_question() -> None:
    body = Path(FIXTURES / "spans" / "pydantic-ai-tool.json").read_bytes()
    named = with_tools(["retrieve"])
    nodes = [node(s, named) for s in otlp.spans(otlp.parse_json(body))]
    (resolution,) = resolve(nodes).resolutions.values()
    (read,) = [n.reading for n in nodes if n.reading is not None]

    assert ["quill-002", "quill-004"] == [p.id for p in read.context]
    assert "Where did Ines Vardanyan study?" == resolution.query
    assert "Who led the re-aluminising of the Petra reflector?" == resolution.task


def test_calls_of_tools_carry_a_marker() -> None:
    for attributes in (OPENINFERENCE, GENAI, VERCEL):
        held = " ".join(f"{key} {value}" for key, value in attributes.items()).encode()

        assert any(marker in held for marker in dialects.MARKERS)
