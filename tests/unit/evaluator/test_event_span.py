"""An event in the hold: what its ids are, and where its node stands in the trace."""

from typing import Any

import pytest

from seer_otel.dialects import trace
from seer_otel.evaluator.event_span import Logged, logged, node_of
from seer_otel.evaluator.hold.entries import Held, Key
from tests.service.spans import TRACE, request, retrieval

NOW = 1_796_000_000.0
SPAN = "0a" * 8
PARENT = "0b" * 8


def event(**fields: Any) -> Logged:
    return logged({"task": "Who?", "context": ["a"], "record_id": "rec_1", **fields}, NOW)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"trace_id": TRACE.hex()},
        {"trace_id": TRACE.hex(), "span_id": SPAN},
        {"task": "Where?", "context": []},
    ],
)
def test_the_key_of_an_event_is_its_record_id_alone(fields: dict[str, str]) -> None:
    assert Key.of("rec_1") == event(**fields).held.key
    assert Key.of("rec_1") != Key.of("rec_2")


def test_the_key_of_a_span_is_its_ids() -> None:
    key = Key(TRACE, bytes.fromhex(SPAN))

    assert key == Key.of(f"{TRACE.hex()}-{SPAN}")


def test_an_event_alone_is_the_root_of_its_trace() -> None:
    alone = event()
    key = alone.held.key

    assert ("event", key.trace_id.hex(), key.span_id.hex(), None, None) == (
        alone.held.origin,
        alone.node.trace_id,
        alone.node.target_id,
        alone.node.parent_span_id,
        alone.node.about,
    )


def test_an_event_in_a_trace_is_a_span_more() -> None:
    within = event(trace_id=TRACE.hex().upper(), parent_span_id=PARENT)
    adrift = event(trace_id=TRACE.hex())

    assert ("event", TRACE.hex(), within.held.key.span_id.hex(), PARENT) == (
        within.held.origin,
        within.node.trace_id,
        within.node.target_id,
        within.node.parent_span_id,
    )
    assert adrift.node.parent_span_id is not None


def test_an_event_in_a_span_stands_beside_it() -> None:
    beside = event(trace_id=TRACE.hex(), span_id=SPAN.upper(), parent_span_id=PARENT)

    assert ("copy", beside.held.key.span_id.hex(), SPAN, SPAN, SPAN) == (
        beside.held.origin,
        beside.node.span_id,
        beside.node.target_id,
        beside.node.parent_span_id,
        beside.node.about,
    )


def test_an_event_is_nested_in_nothing_and_nothing_in_it() -> None:
    outer = node_of(_held(retrieval(10)))
    inner = event(trace_id=TRACE.hex(), span_id=f"{10:016x}").node
    resolutions = trace.resolve([outer, inner]).resolutions

    assert ["retrieval", "retrieval"] == [r.status for r in resolutions.values()]
    found = trace.retrieval(inner, resolutions[inner.span_id])
    assert ("rec_1", f"{10:016x}") == (found.record_id, found.span_id)


def test_an_attribute_alone_makes_no_event_of_a_span() -> None:
    span = node_of(_held(retrieval(10, seer__record_id="rec_1")))

    assert (None, f"{10:016x}") == (span.record_id, span.target_id)


def _held(span: Any) -> Held:
    return Held(Key(span.trace_id, span.span_id), request(span), "pipeline", NOW)
