"""What the judge costs is counted under our own names, and under those of the GenAI conventions."""

from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.judge.calls import Call
from seer_otel.verdict import Usage

ANSWERED = Call("m", "judge.test", 0.5, Usage(1, 100, 10, 0.25))
BUSY = Call("m", "judge.test", 0.1, error_type="429")


def exported(*calls: Call) -> dict[str, list[Any]]:
    """The data points of each metric, as they go out over OTLP."""
    reader = InMemoryMetricReader()
    telemetry = Telemetry(reader=reader)
    for call in calls:
        telemetry.called(call)
    data = reader.get_metrics_data()
    telemetry.shutdown()
    assert data is not None
    return {
        metric.name: list(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def test_a_request_is_a_genai_client_operation() -> None:
    points = exported(ANSWERED, BUSY)
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "server.address": "judge.test",
    }
    durations = {
        str(p.attributes.get("error.type")): p for p in points[metrics.GENAI_DURATION.name]
    }
    tokens = {p.attributes["gen_ai.token.type"]: p.sum for p in points[metrics.GENAI_TOKENS.name]}

    assert {"None": 0.5, "429": 0.1} == {error: p.sum for error, p in durations.items()}
    assert model == dict(durations["None"].attributes)
    assert {**model, "error.type": "429"} == dict(durations["429"].attributes)
    assert {"input": 100, "output": 10} == tokens


def test_buckets_are_those_that_the_conventions_advise() -> None:
    points = exported(ANSWERED)

    assert (1.0, 4.0, 16.0) == points[metrics.GENAI_TOKENS.name][0].explicit_bounds[:3]
    assert (0.01, 0.02, 0.04) == points[metrics.GENAI_DURATION.name][0].explicit_bounds[:3]


def test_calls_tokens_and_cost_are_counted() -> None:
    telemetry = Telemetry()
    for call in (ANSWERED, ANSWERED, BUSY):
        telemetry.called(call)
    text = telemetry.exposition("text/plain")[0].decode()
    telemetry.shutdown()

    assert 3 == telemetry.total(metrics.JUDGE_CALLS)
    assert pytest.approx(0.5) == telemetry.total(metrics.JUDGE_COST)
    for line in (
        'seer_judge_calls_total{error_type=""} 2.0',
        'seer_judge_calls_total{error_type="429"} 1.0',
        'seer_judge_tokens_total{type="input"} 200.0',
        "seer_judge_cost_total 0.5",
    ):
        assert line in text


def test_an_unknown_cost_adds_nothing() -> None:
    telemetry = Telemetry()
    telemetry.called(Call("m", "judge.test", 0.5, Usage(1, 100, 10)))
    telemetry.shutdown()

    assert 0 == telemetry.total(metrics.JUDGE_COST)
