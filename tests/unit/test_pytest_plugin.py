"""The gates as a fixture, in a pytest of its own."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

VERDICTS = {"query": "Who?", "requirements": [{"text": "who it is", "passages": ["It is Nolan."]}]}
GOOD = {"task": "Who?", "context": ["It is Nolan."]}


ENDED_SPANS = """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
with provider.get_tracer("test").start_as_current_span("search") as span:
    span.set_attribute("gen_ai.operation.name", "retrieval")
    span.set_attribute("seer.task", "Who?")
    span.set_attribute("seer.context", '["It is Nolan."]')
assert seer_gate(kept.get_finished_spans(), recall=1).spans == 1
"""
IN_A_LOOP = """
import asyncio
async def inside():
    seer_gate(GOOD, recall=1)
asyncio.run(inside())
"""


def run_pytest(folder: Path, *bodies: str) -> str:
    """Run tests with these bodies, which have `seer_gate`, and return what pytest said."""
    (folder / "verdicts.jsonl").write_text(json.dumps(VERDICTS))
    (folder / "good.jsonl").write_text(json.dumps(GOOD))
    tests = (
        f"def test_{number}(seer_gate):\n{textwrap.indent(body.strip(), '    ')}\n"
        for number, body in enumerate(bodies)
    )
    (folder / "test_it.py").write_text("\n".join([f"GOOD = {GOOD!r}", *tests]))
    settings = {name: value for name, value in os.environ.items() if not name.startswith("SEER_")}
    judge = f"--seer-judge=replay:{folder / 'verdicts.jsonl'}"
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "seer_otel.pytest"]
    ended = subprocess.run(
        [*command, "-p", "no:asyncio", "--rootdir", str(folder), judge, "test_it.py"],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
    )
    return ended.stdout + ended.stderr


def test_what_is_good_enough_passes(tmp_path: Path) -> None:
    said = run_pytest(
        tmp_path,
        'seer_gate("good.jsonl", recall=1)',
        'seer_gate("g*.jsonl", recall=1)',
        "seer_gate(GOOD, recall=1, precision=1)",
        "seer_gate([GOOD, GOOD], fail_under={'trace.recall': 1})",
        "assert len(seer_gate(GOOD, recall=1).outcomes) == 1",
        ENDED_SPANS,
        IN_A_LOOP,
    )

    assert "7 passed" in said


def test_what_is_not_fails_and_says_what_is_missing(tmp_path: Path) -> None:
    said = run_pytest(
        tmp_path,
        "seer_gate({'task': 'Who?', 'context': ['x']}, recall=0.5)",
        "seer_gate(GOOD)",
        "seer_gate(recall=0.25)",
        "seer_gate('nowhere/*.json', recall=0.5)",
        "seer_gate(GOOD, recal=0.5)",
    )

    assert "5 failed" in said
    assert "FAIL recall 0, at least 0.5; 1 of 1 have it" in said
    assert "Who?: who it is" in said
    assert "a gate needs a threshold" in said
    assert "FAIL recall no value, at least 0.25; 0 of 0 have it" in said
    assert "nowhere/*.json: there is no such file" in said
    assert "there is no score 'recal'" in said


def test_the_plugin_costs_next_to_nothing_until_it_is_used() -> None:
    code = (
        "import sys, seer_otel.pytest; "
        "print([m for m in ('pydantic', 'openai', 'rich.table', 'grpc') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "[]" == ended.stdout.strip()
