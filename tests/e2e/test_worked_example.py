"""The worked example of the documentation, read back from Jaeger."""

import json
from pathlib import Path

import pytest

from .jaeger import Jaeger
from .peers import Peers
from .rag.worked_example import PASSAGES, QUESTION
from .stack import run_application, running_inline

RECORDED = {
    "query": QUESTION,
    "requirements": [
        {"text": "the director of Inception", "passages": [PASSAGES[0]["text"]]},
        {"text": "the director's nationality", "passages": [PASSAGES[1]["text"]]},
    ],
}


@pytest.mark.parametrize("judge", ["replay", "local"])
def test_two_of_three_passages_are_needed_and_found(
    peers: Peers, jaeger: Jaeger, judge: str, tmp_path: Path
) -> None:
    """Recall 1, precision 2/3, F1 0.8, nDCG 1; and the trace is found by its scores."""
    recording = tmp_path / "inception.jsonl"
    recording.write_text(json.dumps(RECORDED) + "\n")
    service = f"worked-example-{judge}"
    with running_inline(
        peers,
        jaeger,
        "sidecar-jaeger.yaml",
        protocol="grpc",
        judge=f"replay:{recording}" if judge == "replay" else judge,
        folder=tmp_path,
    ) as inline:
        exported = run_application(
            "worked_example",
            endpoint=f"http://{inline.addresses.http}",
            service=service,
            environment={"SEER_SEND": "off"},
        )
        stored = jaeger.await_spans([span.key for span in exported], explain=inline.said)
    (retrieval,) = [span for span in stored if span.name == "retrieval"]
    (result,) = [r for r in retrieval.results() if r["seer.scope"] == "task"]

    assert (1.0, 0.667, 0.8, 1.0) == (
        result["seer.recall"],
        round(result["seer.precision"], 3),
        round(result["seer.f1"], 3),
        result["seer.ndcg"],
    )
    assert [1, 2] == result["seer.passages.cited"]
    assert "complete" == retrieval.attributes["seer.verdict"]
    assert {retrieval.key[0]} == jaeger.search(service, '{"seer.verdict": "complete"}')
    assert {retrieval.key[0]} == jaeger.search(service, '{"seer.eval.task.recall": "1"}')
    assert set() == jaeger.search(service, '{"seer.verdict": "none"}')
