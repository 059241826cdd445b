"""One decision a trace, whoever takes it."""

import math
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace.sampling import Decision, TraceIdRatioBased

from seer_otel.sampling import decide, point, sampled

RATES = st.floats(0, 1)
TRACE_IDS = st.binary(min_size=16, max_size=16).map(bytes.hex)


def trace_ids(count: int, seed: int = 7) -> list[str]:
    chance = random.Random(seed)
    return [f"{chance.getrandbits(128):032x}" for _ in range(count)]


def within_five_sigma(kept: int, total: int, rate: float) -> bool:
    return abs(kept - total * rate) <= 5 * math.sqrt(total * rate * (1 - rate))


def test_the_point_of_a_trace_is_the_documented_one() -> None:
    assert point("4bf92f3577b34da6a3ce929d0e0e4736") == 0.007917617528331644


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_about_the_asked_share_of_traces_is_sampled(rate: float) -> None:
    kept = sum(sampled(trace_id, rate) for trace_id in trace_ids(20_000))

    assert within_five_sigma(kept, 20_000, rate)


def test_the_decision_is_independent_of_a_head_sampler() -> None:
    head = TraceIdRatioBased(0.1)
    let_through = [
        trace_id
        for trace_id in trace_ids(50_000)
        if head.should_sample(None, int(trace_id, 16), "").decision is Decision.RECORD_AND_SAMPLE
    ]
    kept = sum(sampled(trace_id, 0.5) for trace_id in let_through)

    assert within_five_sigma(kept, len(let_through), 0.5)


@settings(deadline=None)
@given(TRACE_IDS, RATES, RATES)
def test_what_is_sampled_at_a_rate_is_sampled_at_every_higher_one(
    trace_id: str, one: float, other: float
) -> None:
    lower, higher = sorted((one, other))

    assert sampled(trace_id, lower) <= sampled(trace_id, higher)


@settings(deadline=None)
@given(TRACE_IDS)
def test_rate_0_samples_nothing_and_rate_1_everything(trace_id: str) -> None:
    assert not sampled(trace_id, 0)
    assert sampled(trace_id, 1)


def test_two_processes_agree_about_every_trace() -> None:
    code = (
        "import sys; from seer_otel.sampling import sampled; "
        "print([sampled(line.strip(), 0.5) for line in sys.stdin])"
    )
    ids = trace_ids(1_000)
    elsewhere = subprocess.run(
        [sys.executable, "-c", code],
        input="\n".join(ids),
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    assert elsewhere.strip() == str([sampled(trace_id, 0.5) for trace_id in ids])


def test_spans_of_a_trace_are_sampled_all_or_none() -> None:
    decisions = {
        trace_id: {decide(trace_id, sampled=None, rate=0.5, default_rate=0.1) for _ in range(4)}
        for trace_id in trace_ids(1_000)
    }

    assert {len(taken) for taken in decisions.values()} == {1}
    assert within_five_sigma(sum(taken == {True} for taken in decisions.values()), 1_000, 0.5)


@pytest.mark.parametrize("decision", [True, False])
def test_a_decision_made_upstream_is_obeyed(decision: bool) -> None:
    rate = 0.0 if decision else 1.0

    assert decide("ab" * 16, sampled=decision, rate=rate, default_rate=rate) is decision


def test_the_rate_of_the_request_outranks_the_configured_one() -> None:
    assert decide("ab" * 16, sampled=None, rate=1.0, default_rate=0.0)
    assert not decide("ab" * 16, sampled=None, rate=0.0, default_rate=1.0)


def test_the_configured_rate_serves_a_request_without_one() -> None:
    assert decide("ab" * 16, sampled=None, rate=None, default_rate=1.0)
    assert not decide("ab" * 16, sampled=None, rate=None, default_rate=0.0)


@pytest.mark.parametrize("rate", [-0.1, 1.1, 10, math.nan, math.inf])
def test_a_rate_outside_0_and_1_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        sampled("ab" * 16, rate)
    with pytest.raises(ValueError, match="between 0 and 1"):
        decide("ab" * 16, sampled=None, rate=rate, default_rate=0.5)
