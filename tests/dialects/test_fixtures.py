"""Spans of real instrumentations read as a person read them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1 import trace_pb2

from seer_otel import dialects
from seer_otel.dialects import otlp
from seer_otel.harness.inspect import as_json, inspect

FIXTURES = Path(os.environ.get("SEER_FIXTURES") or Path(__file__).parents[1] / "data")
FILES = sorted((FIXTURES / "spans").glob("*.json"))


def expected(path: Path) -> Any:
    return json.loads((FIXTURES / "expected" / path.name).read_text())


def encoded(path: Path) -> list[tuple[trace_pb2.Span, dialects.Span]]:
    """Every span as the wire has it, and as dialects see it."""
    traces = otlp.parse_json(path.read_bytes())
    messages = [s for r in traces.resource_spans for scope in r.scope_spans for s in scope.spans]
    return list(zip(messages, otlp.spans(traces), strict=True))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_file_reads_as_expected(path: Path) -> None:
    assert expected(path) == as_json(inspect(path))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_retrieval_carries_a_marker_in_its_bytes(path: Path) -> None:
    unmarked = [
        span.span_id
        for message, span in encoded(path)
        if dialects.read(span) is not None
        and not any(marker in message.SerializeToString() for marker in dialects.MARKERS)
    ]

    assert unmarked == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_input_and_conversation_carries_an_input_marker_in_its_bytes(path: Path) -> None:
    unmarked = [
        span.span_id
        for message, span in encoded(path)
        if (dialects.readable_input(span) or dialects.conversation_id(span))
        and not any(marker in message.SerializeToString() for marker in dialects.INPUT_MARKERS)
    ]

    assert unmarked == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_json_survives_a_round_trip(path: Path) -> None:
    traces = otlp.parse_json(path.read_bytes())

    assert traces == otlp.parse_json(otlp.to_json(traces))


def test_there_are_fixtures() -> None:
    assert FILES != []
