"""The spans of one trace together."""

from dataclasses import replace
from typing import Any

import pytest

from seer_otel.dialects.links import rooted
from seer_otel.dialects.reading import Reading, Reason
from seer_otel.dialects.span import Span
from seer_otel.dialects.trace import (
    Node,
    Resolution,
    TraceReading,
    is_settled,
    node,
    resolve,
    retrieval,
)
from seer_otel.retrieval import GroundTruth, Passage

TRACE = "7e" * 16


def plain(span_id: str, parent: str | None = None, **fields: Any) -> Node:
    """A span that is no retrieval."""
    return Node(TRACE, span_id, parent, **fields)


def good(span_id: str, parent: str | None = None, query: str | None = "q", **fields: Any) -> Node:
    reading = Reading("seer", "retrieval", query=query, context=(Passage("t"),))
    return plain(span_id, parent, reading=reading, input=query, **fields)


def bad(
    span_id: str, parent: str | None = None, reason: Reason = "no_content", **fields: Any
) -> Node:
    reading = Reading("seer", "not_evaluable", reason, query=fields.pop("query", None))
    return plain(span_id, parent, reading=reading, input=reading.query, **fields)


def with_reading(node: Node, **changes: Any) -> Node:
    assert node.reading is not None
    return replace(node, reading=replace(node.reading, **changes))


def outcomes(*nodes: Node) -> dict[str, str]:
    """Status of every retrieval; the reason, where there is one."""
    return {i: r.reason or r.status for i, r in resolve(nodes).resolutions.items()}


def task_of(*nodes: Node) -> tuple[str | None, str | None]:
    reading = resolve(nodes)
    return reading.task, reading.task_source


# Nesting


def test_the_outermost_that_can_be_judged_is_judged() -> None:
    nodes = [good("a"), plain("x", "a"), good("b", "x"), good("c", "b"), good("d", "a")]

    expected = {"a": "retrieval", "b": "nested", "c": "nested", "d": "nested"}
    assert expected == outcomes(*nodes)


def test_children_may_come_before_their_parents() -> None:
    assert {"b": "nested", "a": "retrieval"} == outcomes(good("b", "a"), good("a"))


def test_an_empty_result_outside_is_judged_and_the_inner_one_is_nested() -> None:
    empty = with_reading(good("a"), state="empty", context=())

    assert {"a": "empty", "b": "nested"} == outcomes(empty, good("b", "a"))


def test_what_cannot_be_judged_gives_way_to_what_it_holds() -> None:
    nodes = [bad("a"), good("b", "a"), good("c", "b"), good("d", "a")]

    expected = {"a": "nested", "b": "retrieval", "c": "nested", "d": "retrieval"}
    assert expected == outcomes(*nodes)


def test_a_failure_outside_shows_though_the_inner_one_is_judged() -> None:
    failed = bad("a", reason="span_failed")

    assert {"a": "span_failed", "b": "retrieval"} == outcomes(failed, good("b", "a"))


def test_where_nothing_can_be_judged_the_outermost_says_why() -> None:
    nodes = [bad("a", query="q"), bad("b", "a", reason="span_failed"), bad("c", "b")]

    assert {"a": "no_content", "b": "nested", "c": "nested"} == outcomes(*nodes)


def test_a_branch_without_anything_to_judge_says_why_where_nothing_above_it_does() -> None:
    silent = [bad("a"), good("b", "a"), bad("c", "a", reason="span_failed"), bad("d", "c")]
    failed = [bad("a", reason="span_failed"), *silent[1:]]

    b_and_d = {"b": "retrieval", "d": "nested"}
    assert {"a": "nested", "c": "span_failed"} | b_and_d == outcomes(*silent)
    assert {"a": "span_failed", "c": "nested"} | b_and_d == outcomes(*failed)


def test_two_spans_of_one_name_are_two_retrievals() -> None:
    nodes = [plain("x"), good("a", "x", name="retrieval"), good("b", "x", name="retrieval")]

    assert {"a": "retrieval", "b": "retrieval"} == outcomes(*nodes)


# Query


def test_a_query_that_was_lost_is_taken_from_the_nearest_nested_retrieval() -> None:
    lost = bad("a", reason="attributes_dropped")
    nodes = [lost, bad("b", "a"), good("c", "b", query="far"), good("d", "a", query="near")]

    assert "near" == resolve(nodes).resolutions["a"].query
    assert "far" == resolve(nodes[:3]).resolutions["a"].query
    assert "far" == resolve(nodes[:3]).resolutions["b"].query


def test_of_nested_queries_as_near_the_first_in_time_is_taken() -> None:
    late, early = good("b", "a", query="2", start_ns=2), good("c", "a", query="1", start_ns=1)

    assert "1" == resolve([bad("a"), late, early]).resolutions["a"].query


def test_without_a_query_and_a_task_nothing_can_be_judged() -> None:
    assert {"a": "no_query"} == outcomes(good("a", query=None))
    assert {"a": "retrieval"} == outcomes(plain("x", input="task"), good("a", "x", query=None))


def test_without_documents_too_that_is_the_reason() -> None:
    assert {"a": "no_content"} == outcomes(bad("a"))


def test_a_hidden_question_is_the_reason_where_there_is_no_other() -> None:
    hidden = with_reading(good("a", query=None), query_redacted=True)
    below_hidden = [plain("x", input_redacted=True), good("a", "x", query=None)]

    assert {"a": "redacted"} == outcomes(hidden)
    assert {"a": "redacted"} == outcomes(*below_hidden)
    assert {"a": "redacted"} == outcomes(with_reading(bad("a"), query_redacted=True))
    assert {"a": "retrieval"} == outcomes(
        plain("x", input="task"), replace(hidden, parent_span_id="x")
    )


def test_a_failed_span_has_failed_whatever_was_asked() -> None:
    failed = with_reading(bad("a", reason="span_failed"), query_redacted=True)

    assert {"a": "span_failed"} == outcomes(failed)


# Task


def test_the_task_is_that_on_the_span_then_the_outermost_input_then_the_query() -> None:
    above = [plain("x"), plain("y", "x", input="outer"), plain("z", "y", input="inner")]
    hop = good("a", "z")

    assert ("own", "seer.task") == task_of(*above, with_reading(hop, task="own"))
    assert ("outer", "ancestor") == task_of(*above, hop)
    assert ("q", "query") == task_of(plain("x"), good("a", "x"))


def test_a_retrieval_may_be_the_ancestor_that_was_asked() -> None:
    nodes = [good("a", query="outer"), good("b", "a", query="inner")]

    assert "outer" == resolve(nodes).resolutions["b"].task
    assert "ancestor" == resolve(nodes).resolutions["b"].task_source


def test_the_root_is_above_all_even_where_links_are_missing() -> None:
    nodes = [plain("x", input="task", conversation_id="c"), good("a", "gone")]

    assert ("task", "ancestor") == task_of(*nodes)
    assert "c" == resolve(nodes).resolutions["a"].conversation_id


def test_a_span_whose_parent_never_comes_is_no_root() -> None:
    nodes = [plain("x", "gone", input="not the task"), good("a", "gone too")]

    assert ("q", "query") == task_of(*nodes)


def test_another_root_is_not_above_a_span_whose_own_root_is_there() -> None:
    nodes = [plain("x", input="another"), plain("y"), good("a", "y")]

    assert ("q", "query") == task_of(*nodes)


def test_a_missing_link_nests_nothing() -> None:
    assert {"a": "retrieval", "b": "retrieval"} == outcomes(good("a"), good("b", "gone"))


def test_bare_links_connect_what_is_above_them() -> None:
    nodes = [plain("x", input="task"), Node(TRACE, "y", "x"), good("a", "y")]

    assert ("task", "ancestor") == task_of(*nodes)


def test_the_task_of_the_trace_is_that_of_its_final_retrieval() -> None:
    first, last = good("a", query="1", end_ns=1), good("b", query="2", end_ns=2)
    failed = bad("c", reason="span_failed", query="3", end_ns=3)
    marked = with_reading(first, is_final_context=True)

    assert ("2", "query") == task_of(last, first, failed)
    assert ("1", "query") == task_of(last, marked, failed)
    assert ("3", "query") == task_of(failed)
    assert "b" == resolve([last, first, failed]).final_span_id


def test_of_several_marked_retrievals_the_last_to_end_is_final() -> None:
    nodes = [with_reading(good(i, end_ns=ns), is_final_context=True) for i, ns in [("a", 2)]]
    nodes += [with_reading(good(i, end_ns=ns), is_final_context=True) for i, ns in [("b", 1)]]

    assert "a" == resolve(nodes).final_span_id


def test_a_trace_without_retrievals_has_no_task() -> None:
    assert TraceReading() == resolve([plain("x", input="task")])
    assert TraceReading() == resolve([])


# Conversation


def test_a_conversation_is_the_spans_then_the_nearest_above_then_one_below() -> None:
    above = [plain("x", conversation_id="far"), plain("y", "x", conversation_id="near")]
    hop = good("a", "y")
    inner = with_reading(good("b", "a", conversation_id="inner"), conversation_id="inner")

    own = with_reading(hop, conversation_id="own")
    assert "own" == resolve([*above, own, inner]).resolutions["a"].conversation_id
    assert "near" == resolve([*above, hop, inner]).resolutions["a"].conversation_id
    assert (
        "inner"
        == resolve([replace(hop, parent_span_id=None), inner]).resolutions["a"].conversation_id
    )


# Links


def test_a_span_delivered_twice_counts_once_and_its_bare_link_not_at_all() -> None:
    nodes = [Node(TRACE, "a", None), good("b", "a"), good("a"), good("a", query="again")]

    assert {"a": "retrieval", "b": "nested"} == outcomes(*nodes)
    assert "q" == resolve(nodes).resolutions["a"].query


@pytest.mark.parametrize(
    "nodes",
    [
        [good("a", "a")],
        [good("a", "b"), good("b", "a")],
        [good("a", "b"), good("b", "c"), good("c", "b"), good("d", "a")],
        [plain("r", input="task"), good("a", "b"), plain("b", "a")],
    ],
)
def test_spans_in_a_circle_are_each_accounted_for(nodes: list[Node]) -> None:
    found = outcomes(*nodes)

    assert {n.span_id for n in nodes if n.reading} == set(found)
    assert "retrieval" in found.values()


def test_links_are_followed_from_the_top() -> None:
    parents = {"c": "b", "b": "a", "a": None, "d": "gone", "f": "e", "e": "f", "g": "f"}

    found = rooted(parents)

    assert {**parents, "d": None, "f": None} == found
    assert list(found).index("a") < list(found).index("b") < list(found).index("c")


def test_a_hundred_thousand_spans_within_each_other_come_to_an_end() -> None:
    nodes = [good(str(n), str(n - 1) if n else None, query=None) for n in range(100_000)]

    assert len(nodes) == len(resolve(nodes).resolutions)


def test_a_chain_is_settled_when_it_reaches_a_span_without_a_parent() -> None:
    nodes = {n.span_id: n for n in [plain("x"), plain("y", "x"), good("a", "y")]}

    assert is_settled("a", nodes)
    assert is_settled("x", nodes)
    assert not is_settled("a", {k: n for k, n in nodes.items() if k != "x"})
    assert not is_settled("gone", nodes)


def test_a_chain_in_a_circle_is_settled() -> None:
    assert is_settled("a", {"a": plain("a", "b"), "b": plain("b", "a")})


# From spans, and to what is judged


def span(attributes: dict[str, Any], **fields: Any) -> Span:
    return Span(
        **{
            "trace_id": TRACE,
            "span_id": "a",
            "parent_span_id": "x",
            "name": "lookup",
            "start_ns": 1,
            "end_ns": 2,
            **fields,
        },
        attributes=attributes,
    )


def test_a_node_keeps_what_the_trace_needs() -> None:
    asked = span({"input.value": '{"question": "Who?"}', "session.id": "c"})

    expected = Node(TRACE, "a", "x", 1, 2, "lookup", input="Who?", conversation_id="c")
    assert expected == node(asked)
    assert node(span({"input.value": "__REDACTED__"})).input_redacted


def test_a_retrieval_is_built_with_its_task_and_its_query() -> None:
    found = node(
        span(
            {
                "seer.context": ["t"],
                "seer.task": "Who manages it?",
                "seer.subquery": "Which depot?",
                "seer.metadata": '{"env": "prod"}',
                "seer.ground_truth": '{"gold_doc_ids": ["t9"]}',
                "session.id": "c",
            },
            resource={"deployment.environment.name": "test", "service.version": "1.2"},
        )
    )
    built = retrieval(found, resolve([found]).resolutions["a"])

    assert (("task", "Who manages it?"), ("subquery", "Which depot?")) == built.queries
    assert ("seer.task", "seer", False) == (built.task_source, built.dialect, built.list_is_ranked)
    assert {"env": "prod", "release": "1.2"} == built.metadata
    assert GroundTruth(("t9",)) == built.ground_truth
    assert (f"{TRACE}-a", "a", "x") == (built.record_id, built.span_id, built.parent_span_id)
    assert ("lookup", "c", 1, 2) == (
        built.span_name,
        built.conversation_id,
        built.start_ns,
        built.end_ns,
    )
    assert (Passage("t"),) == built.context


def test_a_query_that_serves_as_the_task_is_one_scope() -> None:
    found = good("a")
    built = retrieval(found, resolve([found]).resolutions["a"])

    assert (("task", "q"),) == built.queries
    assert "query" == built.task_source


def test_a_query_that_repeats_the_task_is_one_scope() -> None:
    nodes = [plain("x", input="q"), good("a", "x")]
    built = retrieval(nodes[1], resolve(nodes).resolutions["a"])

    assert (("task", "q"),) == built.queries


def test_what_is_no_retrieval_is_not_built() -> None:
    with pytest.raises(ValueError, match="no retrieval"):
        retrieval(plain("x"), Resolution("retrieval"))
