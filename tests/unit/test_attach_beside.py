"""Results beside a span that has left: the carrier and the log records."""

from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from seer_otel.dialects import attach
from seer_otel.dialects.attach import Target
from seer_otel.metrics import ground_truth, judgement
from seer_otel.retrieval import Passage
from seer_otel.verdict import (
    Evaluation,
    Judgement,
    Provenance,
    Requirement,
    Scope,
    TraceScores,
    Verdict,
)

START = 1_796_000_000_000_000_000
END = START + 250_000_000

TARGET = Target(
    trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
    span_id="00f067aa0ba902b7",
    start_ns=START,
    end_ns=END,
    flags=0x301,
    trace_state="vendor=1",
)

RESOURCE = Resource(
    attributes=[KeyValue(key="service.name", value=AnyValue(string_value="shop"))]
).SerializeToString()

UNKNOWN_FIELD = b"\xfa\x3f\x03new"


def evaluation(
    scope: Scope = "task", *, query: str = "Who directed Inception?", revision: str = "9f2c11d0"
) -> Evaluation:
    context = [Passage("Christopher Nolan directed it.", score=0.9), Passage("2010.", score=0.2)]
    requirements = (Requirement("the director", (1,)),)
    return Evaluation(
        scope=scope,
        status="scored",
        provenance=Provenance("openai/judge-1", revision, "2026-11-30T12:00:05.25Z"),
        judgement=Judgement(query, requirements),
        scores=judgement.score(context, [(1,)]),
        passages_total=2,
        passages_cited=(1,),
    )


VERDICT = Verdict((evaluation(),))


def carried(verdict: Verdict | None = VERDICT, target: Target = TARGET, **options: Any) -> Span:
    options.setdefault("resource", RESOURCE)
    request = ExportTraceServiceRequest.FromString(
        attach.carrier(target, verdict=verdict, **options)
    )
    return request.resource_spans[0].scope_spans[0].spans[0]


def logged(verdict: Verdict) -> list[LogRecord]:
    logs = attach.log_records(verdict, TARGET, resource=RESOURCE)
    return list(
        ExportLogsServiceRequest.FromString(logs).resource_logs[0].scope_logs[0].log_records
    )


def texts(message: Span | LogRecord) -> dict[str, str]:
    return {
        attribute.key: attribute.value.string_value
        for attribute in message.attributes
        if attribute.value.HasField("string_value")
    }


def numbers(message: Span | LogRecord) -> dict[str, float]:
    return {
        attribute.key: attribute.value.double_value
        for attribute in message.attributes
        if attribute.value.HasField("double_value")
    }


def test_a_carrier_is_a_child_of_its_target_in_the_same_trace() -> None:
    span = carried()

    assert span.trace_id.hex() == TARGET.trace_id
    assert span.parent_span_id.hex() == TARGET.span_id
    assert span.name == "seer.evaluation"
    assert span.trace_state == "vendor=1"


def test_a_carrier_has_one_link_to_its_target() -> None:
    (link,) = carried().links

    assert (link.trace_id.hex(), link.span_id.hex()) == (TARGET.trace_id, TARGET.span_id)
    assert (link.trace_state, link.flags) == ("vendor=1", 1)


def test_a_carrier_says_what_it_is() -> None:
    marks = {"openinference.span.kind": "EVALUATOR", "gen_ai.operation.name": "evaluation"}

    assert marks.items() <= texts(carried()).items()
    assert carried().kind == Span.SPAN_KIND_INTERNAL


def test_a_carrier_lengthens_no_trace() -> None:
    span = carried()

    assert span.start_time_unix_nano == span.end_time_unix_nano == END
    assert {event.time_unix_nano for event in span.events} == {END}


def test_a_clock_that_put_the_end_before_the_start_moves_nothing_out_of_the_span() -> None:
    span = carried(target=replace(TARGET, end_ns=0))

    assert span.start_time_unix_nano == span.end_time_unix_nano == START


@pytest.mark.parametrize(("flags", "trace_flags"), [(0x301, 1), (0x100, 0), (0x03, 3)])
def test_a_carrier_is_sampled_exactly_where_its_target_is(flags: int, trace_flags: int) -> None:
    assert carried(target=replace(TARGET, flags=flags)).flags == trace_flags


def test_a_carrier_brings_the_events_and_attributes_of_the_verdict() -> None:
    span = carried(thresholds={"recall": 0.5})

    assert list(span.events) == attach.events(VERDICT, at_ns=END, thresholds={"recall": 0.5})
    assert texts(span)["seer.verdict"] == "complete"
    assert numbers(span)["seer.eval.task.precision"] == 0.5


def test_a_carrier_without_a_verdict_says_why() -> None:
    span = carried(verdict=None, attributes=attach.unevaluated("skipped", "budget"))

    assert texts(span)["seer.skip_reason"] == "budget"
    assert list(span.events) == []


def test_the_bytes_of_the_resource_are_kept() -> None:
    resource = RESOURCE + UNKNOWN_FIELD + b"\x0a\x04\x0a\x02\xff\xfe"
    request = attach.carrier(
        TARGET, verdict=VERDICT, resource=resource, resource_schema_url=b"https://a.example/1"
    )

    assert resource in request
    assert request.count(b"https://a.example/1") == 1


@pytest.mark.parametrize("size", [0, 1, 127, 128, 20_000])
def test_a_carrier_is_a_request_that_any_parser_reads(size: int) -> None:
    resource = Resource(attributes=[KeyValue(key="k", value=AnyValue(string_value="v" * size))])
    request = ExportTraceServiceRequest.FromString(
        attach.carrier(
            TARGET,
            verdict=VERDICT,
            resource=resource.SerializeToString(),
            resource_schema_url=b"https://a.example/1",
        )
    )
    (resource_spans,) = request.resource_spans

    assert resource_spans.resource == resource
    assert resource_spans.schema_url == "https://a.example/1"
    assert resource_spans.scope_spans[0].scope.name == "seer_otel"


def test_a_resource_without_a_schema_url_gets_none() -> None:
    request = attach.carrier(TARGET, verdict=VERDICT, resource=RESOURCE)
    (resource_spans,) = ExportTraceServiceRequest.FromString(request).resource_spans

    assert resource_spans == ResourceSpans(
        resource=Resource.FromString(RESOURCE), scope_spans=resource_spans.scope_spans
    )


def test_the_same_verdict_makes_the_same_bytes() -> None:
    assert attach.carrier(TARGET, verdict=VERDICT, resource=RESOURCE) == attach.carrier(
        TARGET, verdict=Verdict((evaluation(),)), resource=RESOURCE
    )


@pytest.mark.parametrize(
    ("verdict", "target"),
    [
        (Verdict((evaluation("trace"),)), TARGET),
        (Verdict((evaluation(), evaluation("subquery"))), TARGET),
        (Verdict((evaluation(revision="77aa00ff"),)), TARGET),
        (Verdict((evaluation(query="the task that came late"),)), TARGET),
        (VERDICT, replace(TARGET, span_id="00f067aa0ba902b8")),
        (VERDICT, replace(TARGET, trace_id="4bf92f3577b34da6a3ce929d0e0e4737")),
        (None, TARGET),
    ],
)
def test_other_results_make_another_span(verdict: Verdict | None, target: Target) -> None:
    assert carried(verdict, target).span_id != carried().span_id


def test_every_score_becomes_a_log_record() -> None:
    labelled = ground_truth.score([Passage("a", id="x")], ["x"], [[1]])
    trace = replace(evaluation("trace"), trace=TraceScores(0.75, 0.25))
    records = logged(Verdict((replace(evaluation(), ground_truth=labelled), trace)))
    values = {
        texts(record)["gen_ai.evaluation.name"]: numbers(record)["gen_ai.evaluation.score.value"]
        for record in records
    }

    assert values == pytest.approx(
        {
            "seer.task.recall": 1.0,
            "seer.task.precision": 0.5,
            "seer.task.f1": 2 / 3,
            "seer.task.ndcg": 1.0,
            "seer.task.contextual_precision": 1.0,
            "seer.task.gt_recall": 1.0,
            "seer.task.gt_precision": 1.0,
            "seer.task.evaluator_recall": 1.0,
            "seer.task.evaluator_precision": 1.0,
            "seer.task.evaluator_exact_match": 1.0,
            "seer.trace.recall": 1.0,
            "seer.trace.precision": 0.5,
            "seer.trace.f1": 2 / 3,
            "seer.trace.ndcg": 1.0,
            "seer.trace.contextual_precision": 1.0,
            "seer.trace.cumulative_recall": 0.75,
            "seer.trace.redundancy": 0.25,
        }
    )


def test_a_log_record_leads_to_the_span_and_to_the_judge() -> None:
    record = logged(VERDICT)[0]

    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id.hex(), record.span_id.hex()) == (TARGET.trace_id, TARGET.span_id)
    assert record.flags == 1
    assert texts(record)["seer.judge.name"] == "openai/judge-1"
    assert texts(record)["seer.judge.revision"] == "9f2c11d0"


def test_a_log_record_keeps_the_time_of_the_span_and_that_of_judging_apart() -> None:
    record = logged(VERDICT)[0]

    assert record.time_unix_nano == END
    assert record.observed_time_unix_nano == 1_796_040_005_250_000_000


def test_the_failure_of_a_scope_is_one_log_record() -> None:
    failure = replace(evaluation("trace"), status="failed", judgement=None, reason="judge_timeout")
    (record,) = logged(Verdict((replace(failure, scores=type(failure.scores)()),)))

    assert texts(record)["gen_ai.evaluation.name"] == "seer.trace.recall"
    assert texts(record)["error.type"] == "judge_timeout"
    assert numbers(record) == {}


def test_log_records_keep_the_bytes_of_the_resource() -> None:
    resource = RESOURCE + UNKNOWN_FIELD

    assert resource in attach.log_records(VERDICT, TARGET, resource=resource)


def test_without_scores_there_are_no_log_records() -> None:
    unneeded = replace(
        evaluation(),
        status="not_applicable",
        judgement=Judgement("Hello!", ()),
        scores=judgement.score([], []),
    )

    assert attach.log_records(Verdict((unneeded,)), TARGET, resource=RESOURCE) == b""
