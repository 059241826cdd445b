"""OpenLLMetry's spans of LangChain, LlamaIndex and Haystack."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.dialects.trace import node, resolve
from seer_otel.retrieval import Passage
from tests.dialects.spans import reading, span, texts

RETRIEVE = {
    "gen_ai.operation.name": "vector_db_retrieve",
    "traceloop.span.kind": "task",
    "traceloop.entity.input": '{"query": "Who?", "tags": [], "metadata": {}, "kwargs": {}}',
}


def out(value: Any) -> dict[str, Any]:
    return {"traceloop.entity.output": json.dumps(value, ensure_ascii=False)}


def ask(value: Any) -> dict[str, Any]:
    return {"traceloop.entity.input": json.dumps(value, ensure_ascii=False)}


# LangChain


def test_documents_of_langchain_are_read_in_order_without_ids_and_scores() -> None:
    documents = [
        {"page_content": "Zażółć gęślą jaźń.", "metadata": {"score": 0.1, "id": "m"}},
        {"page_content": "b", "metadata": {"relevance_score": 0.9}},
    ]
    read = reading(RETRIEVE | out({"documents": documents, "count": 2}))

    expected = (
        Passage("Zażółć gęślą jaźń.", rank=1, metadata={"score": 0.1, "id": "m"}),
        Passage("b", rank=2, metadata={"relevance_score": 0.9}),
    )
    assert ("openllmetry", "Who?", expected) == (read.dialect, read.query, read.context)
    assert "retrieval" == read.state


def test_documents_of_langchain_may_be_texts() -> None:
    assert ["a", "b"] == texts(reading(RETRIEVE | out({"documents": ["a", "b"], "count": 2})))


@pytest.mark.parametrize(
    "output", [{"documents": [], "count": 0}, {"documents": []}, {"count": 0}, []]
)
def test_an_empty_list_and_a_count_of_0_are_an_empty_result(output: Any) -> None:
    assert "empty" == reading(RETRIEVE | out(output)).state
    assert "span_failed" == reading(RETRIEVE | out(output), status_code=2).reason


@pytest.mark.parametrize("output", [{}, out({"documents": None}), out({"count": 3}), out(None)])
def test_nothing_is_no_content(output: dict[str, Any]) -> None:
    assert "no_content" == reading(RETRIEVE | output).reason
    assert "Who?" == reading(RETRIEVE | output).query


def test_a_cut_output_is_truncated_and_lists_nothing() -> None:
    whole = json.dumps({"documents": [{"page_content": "a" * 3_000}], "count": 1})
    read = reading(RETRIEVE | {"traceloop.entity.output": whole[:2_048]})

    assert ("truncated", ()) == (read.reason, read.context)


def test_what_is_recorded_twice_serves_where_one_was_lost() -> None:
    whole = RETRIEVE | out({"documents": ["a"], "count": 1})
    renamed = {k.replace("traceloop.entity", "gen_ai.task"): value for k, value in whole.items()}

    assert reading(whole) == reading(renamed)
    assert reading(whole) == reading(whole | renamed, dropped_attributes=3)


@pytest.mark.parametrize("key", ["session_id", "conversation_id", "thread_id"])
def test_a_conversation_is_among_the_association_properties(key: str) -> None:
    attributes = RETRIEVE | {f"traceloop.association.properties.{key}": "c-1"}

    assert "c-1" == reading(attributes).conversation_id


@pytest.mark.parametrize("operation", ["execute_task", "invoke_agent", "chat", "execute_tool"])
def test_other_steps_of_langchain_are_none_even_if_they_put_out_documents(operation: str) -> None:
    documents = [{"page_content": "a", "metadata": {}}]
    attributes = {"gen_ai.operation.name": operation, "traceloop.entity.name": "grade"}

    for output in ({"outputs": {"documents": documents}}, {"documents": documents}):
        assert dialects.read(span(attributes | out(output))) is None


# LlamaIndex


def with_score(text: str | None, score: float | None, **fields: Any) -> dict[str, Any]:
    inner = {"id_": f"id of {text}", "metadata": {"score": 7, "text": "not this"}, "text": text}
    return {"node": inner | fields, "score": score, "class_name": "NodeWithScore"}


RETRIEVED = ask({"str_or_query_bundle": "Who?"})


def test_nodes_are_read_from_json_in_json_in_the_order_of_the_list() -> None:
    nodes = [json.dumps(with_score("低", 0.1)), json.dumps(with_score("高", 0.9))]
    read = reading(RETRIEVED | out(nodes))

    expected = [("低", "id of 低", 0.1, 1), ("高", "id of 高", 0.9, 2)]
    assert expected == [(p.text, p.id, p.score, p.rank) for p in read.context]
    assert ("openllmetry", "retrieval", "Who?") == (read.dialect, read.state, read.query)


def test_nodes_may_be_plain_json_or_structured() -> None:
    nodes = [with_score("a", 0.5), with_score("b", None)]
    readings = [
        reading(RETRIEVED | out([json.dumps(item) for item in nodes])),
        reading(RETRIEVED | out(nodes)),
        reading(RETRIEVED | {"traceloop.entity.output": nodes}),
    ]

    assert [readings[0]] * 3 == readings
    assert [0.5, None] == [p.score for p in readings[0].context]


def test_a_node_without_a_text_keeps_its_place() -> None:
    nodes: list[Any] = [with_score("a", 0.5), with_score(None, 0.4), "<Node>", None]

    assert ["a", None, None, None] == texts(reading(RETRIEVED | out(nodes)))


@pytest.mark.parametrize(
    "asked",
    [
        {"str_or_query_bundle": "Who?"},
        {"str_or_query_bundle": {"query_str": "Who?", "embedding": None}},
        {"query_bundle": {"query_str": "Who?", "embedding": [0.1]}},
        {"qb": {"query_str": "Who?"}},
        {"ns": [json.dumps(with_score("candidate", 0.2))], "qb": {"query_str": "Who?"}},
        {"nodes": [], "query_bundle": {"query_str": "Who?"}},
    ],
)
def test_a_query_is_found_in_every_parameter_and_tells_an_empty_result(asked: Any) -> None:
    read = reading(ask(asked) | out([]))

    assert ("empty", "Who?") == (read.state, read.query)


def test_a_reranking_without_a_query_is_a_retrieval_of_its_own() -> None:
    candidates = [json.dumps(with_score("candidate", 0.2))]
    read = reading(ask({"ns": candidates}) | out([json.dumps(with_score("best", 0.9))]))

    assert ("retrieval", None, ["best"]) == (read.state, read.query, texts(read))


@pytest.mark.parametrize(
    "output",
    [
        [],
        [[0.5, 0.5], [0.5, 0.5]],
        [0.5, 0.5],
        ["a", "b"],
        [json.dumps({"id_": "n1", "text": "a chunk of an indexed file"})],
        [{"node": "a"}],
        {"response": "Ines.", "metadata": {"quill-002": {}}},
        "",
        None,
    ],
)
def test_other_lists_and_outputs_are_none(output: Any) -> None:
    assert dialects.read(span(ask({"texts": ["a"]}) | out(output))) is None


def test_the_answer_to_a_query_is_no_retrieval() -> None:
    assert dialects.read(span(RETRIEVED | out({"response": "Ines.", "metadata": {}}))) is None


@pytest.mark.parametrize("nested", [True, False])
def test_a_cut_list_of_nodes_is_truncated(nested: bool) -> None:
    nodes = [with_score("a" * 3_000, 0.5)]
    whole = json.dumps([json.dumps(item) for item in nodes] if nested else nodes)

    read = reading(RETRIEVED | {"traceloop.entity.output": whole[:2_048]})
    assert ("truncated", ()) == (read.reason, read.context)


def test_another_cut_list_is_none() -> None:
    assert dialects.read(span(RETRIEVED | {"traceloop.entity.output": "[[0.5, 0."})) is None


def test_outer_and_inner_steps_of_one_retrieval_are_counted_once() -> None:
    output = out([json.dumps(with_score("a", 0.5))])
    outer = span(RETRIEVED | output, span_id="01" * 8)
    inner = span(
        ask({"qb": {"query_str": "Who?"}}) | output, span_id="02" * 8, parent_span_id="01" * 8
    )
    statuses = [r.status for r in resolve([node(outer), node(inner)]).resolutions.values()]

    assert ["retrieval", "nested"] == statuses


# Haystack

PIPELINE = {"traceloop.entity.name": "haystack_pipeline", "traceloop.span.kind": "workflow"}


def run(inputs: dict[str, Any], outputs: Any) -> dict[str, Any]:
    return PIPELINE | ask({"args": [], "kwargs": inputs}) | out(outputs)


def document(text: str | None, **fields: Any) -> dict[str, Any]:
    return {"id": f"id of {text}", "content": text, "meta": {"id": "m", "score": 3}, **fields}


def test_a_pipeline_that_ends_in_documents_is_a_retrieval() -> None:
    documents = [document("b", score=0.1), document("a", score=None)]
    read = reading(run({"bm25": {"query": "Who?"}}, {"bm25": {"documents": documents}}))

    assert ("retrieval", "Who?") == (read.state, read.query)
    expected = [("b", "id of b", 0.1), ("a", "id of a", None)]
    assert expected == [(p.text, p.id, p.score) for p in read.context]


def test_a_pipeline_that_found_nothing_is_empty() -> None:
    assert "empty" == reading(run({"r": {"query": "Who?"}}, {"r": {"documents": []}})).state


@pytest.mark.parametrize(
    "outputs",
    [
        {"prompt": {"prompt": "…"}},
        {"writer": {"documents_written": 4}},
        {"r": {"documents": None}},
        {},
        [],
        None,
    ],
)
def test_other_pipelines_are_none(outputs: Any) -> None:
    assert dialects.read(span(run({"r": {"query": "Who?"}}, outputs))) is None


def test_a_failed_pipeline_cannot_be_told_from_any_other() -> None:
    asked = ask({"args": [], "kwargs": {"r": {"query": "Who?"}}})

    assert dialects.read(span(PIPELINE | asked, status_code=2)) is None


def test_a_cut_pipeline_is_truncated_where_it_ends_in_documents() -> None:
    whole = json.dumps({"my retriever": {"documents": [document("a" * 3_000)]}})
    asked = PIPELINE | ask({"args": [], "kwargs": {"my retriever": {"query": "Who?"}}})
    read = reading(asked | {"traceloop.entity.output": whole[:2_048]})

    assert ("truncated", "Who?", ()) == (read.reason, read.query, read.context)
    other = asked | {"traceloop.entity.output": '{"prompt": {"prompt": "a'}
    assert dialects.read(span(other)) is None


def test_several_queries_in_one_pipeline_are_listed_and_not_judged() -> None:
    inputs = {"a": {"query": "Who?"}, "b": {"query": "When?"}}
    outputs = {"a": {"documents": [document("x")]}, "b": {"documents": [document("y")]}}
    read = reading(run(inputs, outputs))

    assert ("multiple_queries", None, ["x", "y"]) == (read.reason, read.query, texts(read))


def test_two_retrievers_with_one_query_are_one_retrieval() -> None:
    inputs = {"a": {"query": "Who?"}, "b": {"query": "Who?"}}
    outputs = {"a": {"documents": [document("x")]}, "b": {"documents": [document("y")]}}
    read = reading(run(inputs, outputs))

    assert ("retrieval", "Who?", ["x", "y"]) == (read.state, read.query, texts(read))


@pytest.mark.parametrize(
    ("inputs", "query"),
    [
        ({"r": {"query": "Who led it?"}, "prompt": {"question": "And who led it?"}}, "Who led it?"),
        ({"rewriter": {"query": "Who?"}}, "Who?"),
        ({"prompt": {"question": "Who?"}}, "Who?"),
        ({"data": {"r": {"query": "Who?"}}}, "Who?"),
        ({"r": {"query": "Who?"}, "include_outputs_from": ["r"]}, "Who?"),
        ({"r": {"query_embedding": [0.1, 0.2]}}, None),
        ({"embedder": {"text": "Who?"}}, None),
    ],
)
def test_the_query_is_that_of_the_component_that_has_the_documents(
    inputs: dict[str, Any], query: str | None
) -> None:
    read = reading(run(inputs, {"r": {"documents": [document("x")]}}))

    assert ("retrieval", query) == (read.state, read.query)


def test_the_retrievers_of_a_joined_pipeline_may_have_had_several_queries() -> None:
    inputs = {"a": {"query": "Who?"}, "b": {"query": "When?"}}

    read = reading(run(inputs, {"joiner": {"documents": [document("x")]}}))
    assert "multiple_queries" == read.reason


def test_documents_of_other_instrumentations_in_the_same_shape_are_none() -> None:
    output = out({"retriever": {"documents": [document("x")]}})

    assert dialects.read(span({"traceloop.entity.name": "rag"} | output)) is None
