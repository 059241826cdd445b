"""The gateway's detour: every retrieval of every instrumentation takes it, and every root span."""

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import httpx

from .jaeger import Jaeger, SpanKey
from .peers import Peers
from .processes import wait_until
from .stack import Addresses, running_collector, running_jaeger

FIXTURES = Path(os.environ.get("SEER_FIXTURES", Path(__file__).parents[1] / "data"))


def test_retrievals_of_every_instrumentation_and_roots_take_the_detour(
    peers: Peers, jaeger: Jaeger, tmp_path: Path
) -> None:
    """A second Jaeger stands where the evaluator would be."""
    files = sorted((FIXTURES / "spans").glob("*.json"))
    spans = [span for file in files for span in _spans(file)]
    sent = Counter(map(_key, spans))
    trace_ids = {trace_id for trace_id, _ in sent}
    roots = {_key(span) for span in spans if not span.get("parentSpanId")}
    retrievals = {key for file in files for key in _retrievals(file)}
    addresses = Addresses.free()
    (tmp_path / "evaluator").mkdir()
    with running_jaeger(peers, tmp_path / "evaluator") as evaluator:
        detour = dataclasses.replace(addresses, evaluator_grpc=evaluator.otlp_grpc)
        with running_collector(
            peers, "gateway-jaeger.yaml", detour, backend=jaeger.otlp_grpc, folder=tmp_path
        ):
            for file in files:
                httpx.post(
                    f"http://{addresses.http}/v1/traces",
                    content=file.read_bytes(),
                    headers={"Content-Type": "application/json"},
                ).raise_for_status()
            wait_until(
                lambda: _stored(evaluator, trace_ids) + _stored(jaeger, trace_ids) >= sent, 20
            )
        detoured = _stored(evaluator, trace_ids)
        direct = _stored(jaeger, trace_ids)

    assert set() == (retrievals | roots) - set(detoured)
    assert sent == detoured + direct
    assert direct


def _stored(jaeger: Jaeger, trace_ids: Collection[str]) -> Counter[SpanKey]:
    return Counter(span.key for span in jaeger.traces(trace_ids))


def _retrievals(file: Path) -> Iterator[SpanKey]:
    """Yield the spans of a fixture that are retrievals of whatever kind."""
    expected = json.loads((FIXTURES / "expected" / file.name).read_text())
    ids = {span["span_id"] for span in expected["spans"]}
    for span in _spans(file):
        if _key(span)[1] in ids:
            yield _key(span)


def _spans(file: Path) -> Iterator[dict[str, Any]]:
    for resource in json.loads(file.read_text())["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _key(span: dict[str, Any]) -> SpanKey:
    return (span["traceId"].lower(), span["spanId"].lower())
