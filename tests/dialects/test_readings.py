"""What each dialect reads from one span."""

import json
from typing import Any

import pytest

from seer_otel import dialects
from seer_otel.dialects import Reading, Span, SpanEvent
from seer_otel.retrieval import GroundTruth, Passage

OPENINFERENCE = {"openinference.span.kind": "RETRIEVER", "input.value": "Who?"}
GENAI = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "Who?"}


def span(attributes: dict[str, Any], **fields: Any) -> Span:
    return Span(
        **{
            "trace_id": "7e" * 16,
            "span_id": "01" * 8,
            "parent_span_id": None,
            "name": "retrieval",
            "start_ns": 1,
            "end_ns": 2,
            **fields,
        },
        attributes=attributes,
    )


def reading(attributes: dict[str, Any], **fields: Any) -> Reading:
    found = dialects.read(span(attributes, **fields))
    assert found is not None
    return found


def texts(found: Reading) -> list[str | None]:
    return [passage.text for passage in found.context]


def flattened(key: str, count: int, first: int = 0) -> dict[str, Any]:
    return {
        f"{key}.{n}.document.{field}": f"{field} {n}"
        for n in range(first, first + count)
        for field in ("id", "content", "score", "metadata")
    }


# Which spans are retrievals


@pytest.mark.parametrize(
    ("attributes", "dialect"),
    [
        ({"seer.context": []}, "seer"),
        ({**GENAI, "seer.subquery": "Who?"}, "seer"),
        ({**GENAI, **OPENINFERENCE, "seer.context": []}, "seer"),
        ({"openinference.span.kind": "retriever"}, "openinference"),
        ({"openinference.span.kind": "Reranker"}, "openinference"),
        ({**GENAI, **OPENINFERENCE}, "openinference"),
        ({"gen_ai.operation.name": "retrieval"}, "genai"),
        ({**GENAI, "openinference.span.kind": "CHAIN"}, "genai"),
    ],
)
def test_a_marker_makes_a_retrieval(attributes: dict[str, Any], dialect: str) -> None:
    assert dialect == reading(attributes).dialect


def test_an_operation_in_our_own_scope_makes_a_retrieval() -> None:
    attributes = {"gen_ai.operation.name": "retrieval"}

    assert "seer" == reading(attributes, scope_name="seer_otel").dialect


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"seer.task": "Who?"},
        {"seer.subquery": "Who?"},
        {"gen_ai.operation.name": "chat"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": "[]"},
        {"gen_ai.operation.name": "embeddings"},
        {"gen_ai.operation.name": "search_memory"},
        {"openinference.span.kind": "TOOL", "output.value": '{"documents": [{"content": "t"}]}'},
        {"openinference.span.kind": 12},
        {"gen_ai.operation.name": "evaluation", "seer.context": ["t"]},
        {"openinference.span.kind": "evaluator", "seer.context": ["t"]},
    ],
)
def test_other_spans_are_none(attributes: dict[str, Any]) -> None:
    assert dialects.read(span(attributes)) is None


def test_a_carrier_of_ours_is_none() -> None:
    attributes = {"seer.context": ["t"]}
    carrier = span(attributes, name="seer.evaluation", scope_name="seer_otel")

    assert dialects.read(carrier) is None


def test_a_span_with_a_result_of_ours_is_evaluated() -> None:
    assert dialects.is_evaluated(span({"seer.evaluated": "scored"}))
    assert dialects.is_evaluated(span({}, events=(SpanEvent("seer.evaluation", 1, {}),)))
    assert not dialects.is_evaluated(span({"seer.task": "t"}, events=(SpanEvent("x", 1, {}),)))


# Our own dialect


def test_our_own_dialect_is_read_in_full() -> None:
    item = {"text": "t", "id": 3, "source": "wiki", "score": "0.5", "distance": 0.2, "rank": 1}
    found = reading(
        {
            "seer.task": "Who manages it?",
            "seer.subquery": "Which depot?",
            "seer.context": json.dumps([item | {"rerank_score": 2, "metadata": {"page": 4}}]),
            "seer.is_final_context": True,
            "seer.sample_rate": 0.25,
            "seer.sampled": False,
            "seer.metadata": '{"env": "prod"}',
            "seer.ground_truth": '{"gold_doc_ids": ["a", 1], "answer": "Irena"}',
            "seer.conversation_id": "c-17",
            "seer.expected_outcome": "The manager is named.",
        },
        resource={"deployment.environment.name": "test", "service.version": "1.2"},
    )

    passage = Passage("t", "3", "wiki", 0.5, 0.2, 2.0, 1, {"page": 4})
    assert found == Reading(
        dialect="seer",
        state="retrieval",
        query="Which depot?",
        context=(passage,),
        list_is_ranked=False,
        task="Who manages it?",
        conversation_id="c-17",
        is_final_context=True,
        sampled=False,
        sample_rate=0.25,
        ground_truth=GroundTruth(("a", "1"), "Irena"),
        metadata={"env": "prod"},
        surroundings={"env": "test", "release": "1.2"},
        expected_outcome="The manager is named.",
    )


@pytest.mark.parametrize("context", [[], "[]", [""], '[" \\n"]', [{"text": "", "id": "a"}]])
def test_an_empty_context_and_blank_passages_are_an_empty_result(context: Any) -> None:
    found = reading({"seer.context": context, "seer.task": "Who directed Inception and when?"})

    assert ("empty", None) == (found.state, found.reason)


@pytest.mark.parametrize(
    "context",
    [None, "", "null", [{}], [{"body": "t"}], [{"id": "a"}], ["", {"id": "a"}], [{"score": 1}]],
)
def test_a_context_without_texts_is_no_empty_result(context: Any) -> None:
    found = reading({"seer.context": context, "seer.task": "Who?"})

    assert ("not_evaluable", "no_content") == (found.state, found.reason)


def test_passages_are_read_under_every_key_but_an_unknown_one() -> None:
    keys = ("content", "page_content", "document", "text", "body")
    found = reading({"seer.context": [{key: key} for key in keys]})

    assert ["content", "page_content", "document", "text", None] == texts(found)


def test_a_blank_task_counts_as_absent() -> None:
    found = reading({"seer.context": ["t"], "seer.task": " \n", "seer.subquery": ""})

    assert (None, None) == (found.task, found.query)


def test_an_empty_list_of_gold_ids_is_kept() -> None:
    found = reading({"seer.context": ["t"], "seer.ground_truth": '{"gold_doc_ids": []}'})

    assert GroundTruth() == found.ground_truth


@pytest.mark.parametrize("key", ["seer.ground_truth", "seer.metadata"])
@pytest.mark.parametrize("value", ["{", "[]", 12, None, "words", {"gold_doc_ids": 3, "answer": 4}])
def test_labels_and_metadata_of_another_shape_change_nothing_else(key: str, value: Any) -> None:
    found = reading({"seer.context": ["t"], key: value})

    assert ("retrieval", ["t"]) == (found.state, texts(found))


@pytest.mark.parametrize("rate", [-0.1, 1.1, "often", True, None])
def test_a_rate_outside_0_to_1_is_none(rate: Any) -> None:
    assert reading({"seer.context": [], "seer.sample_rate": rate}).sample_rate is None


def test_foreign_spans_may_carry_our_keys_too() -> None:
    found = reading({**OPENINFERENCE, "seer.task": "Why?", "seer.is_final_context": "true"})

    assert ("Why?", True) == (found.task, found.is_final_context)


def test_openinference_metadata_goes_before_the_resource() -> None:
    attributes = {**OPENINFERENCE, "metadata": '{"env": "beta", "tenant": "ridge"}'}
    found = reading(attributes, resource={"deployment.environment": "prod"})

    assert {"env": "beta", "tenant": "ridge"} == found.surroundings


# OpenInference


def test_documents_are_the_same_in_every_encoding_and_never_doubled() -> None:
    flat = {
        "retrieval.documents.0.document.content": "a",
        "retrieval.documents.0.document.id": "1",
        "retrieval.documents.1.document.content": "b",
        "retrieval.documents.1.document.id": "2",
    }
    single = json.dumps([{"document.content": "a", "document.id": "1"}, {"content": "b", "id": 2}])
    mirror = json.dumps([{"content": "a", "id": "1"}, {"content": "b", "id": "2"}])
    readings = [
        reading(OPENINFERENCE | encoded)
        for encoded in (
            flat,
            {"retrieval.documents": single},
            {"gen_ai.retrieval.documents": mirror},
            flat | {"retrieval.documents": single, "gen_ai.retrieval.documents": mirror},
        )
    ]

    assert [readings[0]] * 4 == readings
    assert (Passage("a", "1", rank=1), Passage("b", "2", rank=2)) == readings[0].context


def test_fifty_documents_through_the_default_limit_are_not_scored_as_if_complete() -> None:
    everything = OPENINFERENCE | flattened("retrieval.documents", 50)
    kept = dict(list(everything.items())[-128:]) | {"openinference.span.kind": "RETRIEVER"}

    found = reading(kept, dropped_attributes=74)

    assert ("attributes_dropped", ()) == (found.reason, found.context)


@pytest.mark.parametrize(
    "extra",
    [
        flattened("retrieval.documents", 3),
        flattened("retrieval.documents", 3) | {"gen_ai.retrieval.documents": '["whole"]'},
        {"gen_ai.retrieval.documents": '["whole"]'},
        {},
    ],
)
def test_lost_attributes_leave_no_context(extra: dict[str, Any]) -> None:
    assert "attributes_dropped" == reading(OPENINFERENCE | extra, dropped_attributes=1).reason


def test_documents_in_one_attribute_are_whole_whatever_else_was_lost() -> None:
    found = reading(OPENINFERENCE | {"retrieval.documents": '["whole"]'}, dropped_attributes=1)

    assert ("retrieval", ["whole"]) == (found.state, texts(found))


def test_a_reranker_brings_its_output_and_not_its_candidates() -> None:
    found = reading(
        {
            "openinference.span.kind": "RERANKER",
            "reranker.query": "Who?",
            "input.value": '{"query": "not this"}',
            **flattened("reranker.input_documents", 3),
            "reranker.output_documents.0.document.content": "best",
        }
    )

    assert ("retrieval", "Who?", ["best"]) == (found.state, found.query, texts(found))


def test_a_reranker_that_lost_attributes_is_not_scored_though_its_output_looks_whole() -> None:
    attributes = {"openinference.span.kind": "RERANKER"} | flattened("reranker.output_documents", 2)

    assert "attributes_dropped" == reading(attributes, dropped_attributes=3).reason


@pytest.mark.parametrize("output", ["[]", '{"documents": []}', '{"documents": [], "count": 0}'])
@pytest.mark.parametrize("kind", ["RETRIEVER", "RERANKER"])
def test_an_empty_output_is_an_empty_result(kind: str, output: str) -> None:
    found = reading({"openinference.span.kind": kind, "output.value": output})

    assert "empty" == found.state


def test_an_output_without_documents_is_no_empty_result() -> None:
    output = '["<NodeWithScore(node=TextNode(id_=a), score=1.0)>"]'

    assert "no_content" == reading(OPENINFERENCE | {"output.value": output}).reason


@pytest.mark.parametrize(
    "hidden",
    [
        {"retrieval.documents.0.document.content": "__REDACTED__"},
        {"retrieval.documents": "__REDACTED__"},
        {"output.value": "__REDACTED__"},
    ],
)
def test_hidden_documents_are_redacted(hidden: dict[str, Any]) -> None:
    assert "redacted" == reading(OPENINFERENCE | hidden).reason


def test_a_hidden_query_is_none_and_known_to_be_hidden() -> None:
    found = reading(OPENINFERENCE | {"input.value": "__REDACTED__"})

    assert (None, True) == (found.query, found.query_redacted)


def test_a_mime_type_of_plain_text_keeps_json_closed() -> None:
    query = {"input.value": '{"query": "Who?"}'}

    assert "Who?" == reading(OPENINFERENCE | query).query
    as_text = query | {"input.mime_type": "text/plain"}
    assert '{"query": "Who?"}' == reading(OPENINFERENCE | as_text).query


def test_foreign_documents_are_in_rank_order_and_scores_are_for_display() -> None:
    items = [{"content": "a", "score": 0.1, "rank": 9}, {"content": "b", "score": 0.9, "rank": 8}]
    found = reading(GENAI | {"gen_ai.retrieval.documents": items})

    assert [("a", 1, 0.1), ("b", 2, 0.9)] == [(p.text, p.rank, p.score) for p in found.context]
    assert found.list_is_ranked


# GenAI


@pytest.mark.parametrize(
    "documents", [["a", "b"], '["a", "b"]', [{"content": "a"}, {"content": "b"}]]
)
def test_documents_come_as_text_list_or_structure(documents: Any) -> None:
    assert ["a", "b"] == texts(reading(GENAI | {"gen_ai.retrieval.documents": documents}))


def test_ids_without_texts_are_no_content_and_are_kept() -> None:
    found = reading(GENAI | {"gen_ai.retrieval.documents": '[{"id": "a", "score": null}]'})

    assert "no_content" == found.reason
    assert (Passage(None, "a", rank=1),) == found.context


def test_a_cut_attribute_is_truncated_and_lists_nothing() -> None:
    documents = json.dumps([{"content": "a" * 3_000}])[:2_048]
    found = reading(GENAI | {"gen_ai.retrieval.documents": documents})

    assert ("truncated", ()) == (found.reason, found.context)


def test_a_count_of_0_is_an_empty_result() -> None:
    assert "empty" == reading(GENAI | {"gen_ai.retrieval.document_count": 0}).state
    assert "no_content" == reading(GENAI | {"gen_ai.retrieval.document_count": 3}).reason


@pytest.mark.parametrize("documents", [None, [], "[]"])
def test_a_failed_span_without_documents_has_failed(documents: Any) -> None:
    attributes = GENAI | {"gen_ai.retrieval.documents": documents}

    assert "span_failed" == reading(attributes, status_code=2).reason


def test_a_failed_span_with_documents_is_a_retrieval() -> None:
    attributes = GENAI | {"gen_ai.retrieval.documents": ["a"]}

    assert "retrieval" == reading(attributes, status_code=2).state


# Inputs and conversations of other spans


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seer.task", "Who?"),
        ("input.value", '{"question": "Who?"}'),
        ("gen_ai.input.messages", '[{"role": "user", "parts": [{"content": "Who?"}]}]'),
        ("pydantic_ai.all_messages", '[{"role": "user", "content": "Who?"}]'),
        ("langfuse.observation.input", '{"args": ["Who?"], "kwargs": {}}'),
        ("mlflow.spanInputs", '"Who?"'),
        ("ai.observability.record_root.input", "Who?"),
        ("traceloop.entity.input", '{"inputs": {"question": "Who?"}}'),
        ("gen_ai.task.input", '{"inputs": {"question": "Who?"}}'),
        ("haystack.pipeline.input_data", '{"retriever": {"query": "Who?"}}'),
        ("gen_ai.workflow.input", "Who?"),
        ("gen_ai.prompt", '{"query": "Who?"}'),
        ("ai.prompt", '{"prompt": "Who?"}'),
        ("gen_ai.tool.call.arguments", {"query": "Who?"}),
        ("ai.toolCall.args", '{"query": "Who?"}'),
        ("seer.subquery", "Who?"),
        ("gen_ai.retrieval.query.text", "Who?"),
        ("reranker.query", "Who?"),
        ("ai.observability.retrieval.query_text", "Who?"),
        ("db.vector.query.content", "Who?"),
    ],
)
def test_an_input_is_read_by_every_convention(key: str, value: Any) -> None:
    assert "Who?" == dialects.readable_input(span({key: value}))


@pytest.mark.parametrize("key", ["seer.task", "gen_ai.retrieval.query.text", "reranker.query"])
def test_keys_that_are_text_by_convention_are_not_opened(key: str) -> None:
    assert '["Who?"]' == dialects.readable_input(span({key: '["Who?"]'}))


@pytest.mark.parametrize(
    "key",
    [
        "seer.conversation_id",
        "gen_ai.conversation.id",
        "session.id",
        "traceloop.association.properties.session_id",
        "traceloop.association.properties.conversation_id",
        "traceloop.association.properties.thread_id",
        "langsmith.metadata.session_id",
        "langsmith.metadata.conversation_id",
        "langsmith.metadata.thread_id",
        "ai.observability.conversation_id",
        "spring.ai.chat.client.conversation.id",
        "ai.telemetry.metadata.sessionId",
        "ai.telemetry.metadata.conversationId",
        "ai.telemetry.metadata.threadId",
    ],
)
def test_a_conversation_is_read_by_every_convention(key: str) -> None:
    assert "c-17" == dialects.conversation_id(span({"seer.conversation_id": " ", key: "c-17"}))


@pytest.mark.parametrize(
    "key",
    ["langsmith.trace.session_name", "ai.observability.record_id", "mlflow.traceRequestId"],
)
def test_projects_records_and_traces_are_no_conversations(key: str) -> None:
    assert dialects.conversation_id(span({key: "x"})) is None
