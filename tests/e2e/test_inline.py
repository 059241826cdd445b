"""Application, Collector, evaluator, Collector, Jaeger: results on the retrievals themselves."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from .jaeger import Jaeger, StoredSpan, copies
from .peers import Peers
from .processes import wait_until
from .stack import (
    Addresses,
    Inline,
    Protocol,
    run_application,
    running_collector,
    running_evaluator,
    running_inline,
)

QUESTIONS = 5


@pytest.fixture(
    scope="module",
    params=[
        ("sidecar-jaeger.yaml", "grpc"),
        ("sidecar-tempo.yaml", "http/protobuf"),
        ("gateway-jaeger.yaml", "http/protobuf"),
        ("gateway-tempo.yaml", "grpc"),
    ],
    ids=lambda param: f"{param[0].removesuffix('.yaml')}-{param[1].partition('/')[0]}",
)
def inline(
    peers: Peers,
    jaeger: Jaeger,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Inline]:
    file: str
    protocol: Protocol
    file, protocol = request.param
    folder = tmp_path_factory.mktemp("inline")
    with running_inline(
        peers, jaeger, file, protocol=protocol, judge="local", folder=folder
    ) as inline:
        yield inline


def test_our_api_every_span_once_and_every_retrieval_with_its_results(
    inline: Inline, jaeger: Jaeger
) -> None:
    exported = run_application(
        "seer_app",
        count=QUESTIONS,
        endpoint=f"http://{inline.addresses.http}",
        service="seer-app",
        environment={"SEER_SEND": "off"},
    )
    stored = jaeger.await_spans([span.key for span in exported], explain=inline.said)
    retrievals = [span for span in stored if "seer.context" in span.attributes]

    assert Counter(span.key for span in exported) == copies(stored)
    assert {"first hop": 5, "second hop": 5, "final context": 5} == Counter(
        span.name for span in retrievals
    )
    for span in retrievals:
        check_results(span, task_source="seer.task")
    scopes = {span.name: _scopes(span) for span in retrievals}
    assert {
        "first hop": ["task"],
        "second hop": ["subquery", "task"],
        "final context": ["task", "trace"],
    } == scopes
    # The final context was marked and was here: nothing is left that needs a carrier.
    assert [] == [span for span in stored if span.is_carrier]


def test_openinference_alone_every_span_once_and_every_retrieval_with_its_results(
    inline: Inline, jaeger: Jaeger
) -> None:
    exported = run_application(
        "openinference_app",
        count=QUESTIONS,
        endpoint=f"http://{inline.addresses.http}",
        service="openinference-app",
    )
    stored = jaeger.await_spans([span.key for span in exported], explain=inline.said)
    retrievals = [span for span in stored if span.name == "Bm25Retriever"]

    assert Counter(span.key for span in exported) == copies(stored)
    assert 2 * QUESTIONS == len(retrievals)
    for span in retrievals:
        check_results(span, task_source="ancestor")
    # No final context was marked: the trace's result follows, once, beside its last retrieval.
    trace_ids = {span.key[0] for span in exported}
    carriers: list[StoredSpan] = []

    def all_traces_have_one() -> bool:
        carriers[:] = [span for span in jaeger.traces(trace_ids) if span.is_carrier]
        return len(carriers) >= QUESTIONS

    wait_until(all_traces_have_one, 20, inline.said)
    assert dict.fromkeys(trace_ids, 1) == Counter(c.key[0] for c in carriers)
    assert {"trace"} == {scope for carrier in carriers for scope in _scopes(carrier)}


def test_an_evaluator_that_comes_late_gets_what_waited_for_it(
    peers: Peers, jaeger: Jaeger, tmp_path: Path
) -> None:
    """Without it retrievals and roots wait in the Collector's queue; the rest does not."""
    addresses = Addresses.free()
    with running_collector(
        peers, "gateway-jaeger.yaml", addresses, backend=jaeger.otlp_grpc, folder=tmp_path
    ):
        exported = run_application(
            "openinference_app",
            count=QUESTIONS,
            endpoint=f"http://{addresses.http}",
            service="late-evaluator",
        )
        waiting = {span.key for span in exported if span.name in ("answer", "Bm25Retriever")}
        direct = {span.key for span in exported} - waiting
        before = jaeger.await_spans(direct)
        with running_evaluator(
            addresses, forward=addresses.judged_grpc, protocol="grpc", folder=tmp_path
        ) as evaluator:
            after = jaeger.await_spans([span.key for span in exported], explain=evaluator.said)

    assert direct == {span.key for span in before}
    assert Counter(span.key for span in exported) == copies(after)
    assert all(
        span.attributes["seer.evaluated"] == "scored"
        for span in after
        if span.name == "Bm25Retriever"
    )


def check_results(span: StoredSpan, *, task_source: str) -> None:
    """Check that a retrieval carries what it should, within what stores take."""
    assert "scored" == span.attributes["seer.evaluated"]
    results = {result["seer.scope"]: result for result in span.results()}
    task = results["task"]
    assert task_source == task["seer.task_source"]
    assert task["seer.recall"] == span.attributes["seer.eval.task.recall"]
    assert 0 <= task["seer.recall"] <= 1
    named = {
        result["gen_ai.evaluation.name"]: result["gen_ai.evaluation.score.value"]
        for result in span.results("gen_ai.evaluation.result")
    }
    assert task["seer.recall"] == named["seer.task.recall"]
    assert all(span.start_ns <= event.time_ns <= span.end_ns for event in span.events)
    assert len(span.events) <= 12


def _scopes(span: StoredSpan) -> list[str]:
    return sorted(result["seer.scope"] for result in span.results())
