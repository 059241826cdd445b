"""One run over files: what is said, shown and written."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from seer_otel.config import load
from seer_otel.errors import ConfigError
from seer_otel.harness import report
from seer_otel.harness.report import Report
from seer_otel.harness.run import run

FIXTURES = Path(os.environ.get("SEER_FIXTURES") or Path(__file__).parents[2] / "data")
EVENTS = [
    {"task": "Who directed Inception?", "context": ["Christopher Nolan directed Inception."]},
    {"task": "When did Inception come out?", "context": []},
    {"task": "hi", "context": ["x"]},
]


def judge(kind: str) -> Any:
    return load(None, {}, {"judge.kind": kind})


@pytest.fixture
def events(tmp_path: Path) -> str:
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(map(json.dumps, EVENTS)))
    return str(path)


def shown(made: Report) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(report.render(made))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_the_first_line_names_the_judge_and_where_text_goes(
    events: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run([events], judge("local"))

    assert "judge local: nothing leaves this machine\n" == capsys.readouterr().err


def test_a_recording_replays_the_same_scores(events: str, tmp_path: Path) -> None:
    recorded = tmp_path / "verdicts.jsonl"
    first = run([events], judge("local"), record=recorded)
    second = run([events], judge(f"replay:{recorded}"))

    assert report.as_json(first)["summary"] == report.as_json(second)["summary"]
    assert 3 == len(recorded.read_text().splitlines())


def test_what_was_not_recorded_has_failed(events: str, tmp_path: Path) -> None:
    recorded = tmp_path / "empty.jsonl"
    recorded.write_text("")
    made = run([events], judge(f"replay:{recorded}"))

    assert not made.all_is_well
    assert 3 == report.as_json(made)["summary"]["n_failed"]
    assert "judge_failed (not_recorded)" in shown(made)


def test_a_retrieval_may_be_judged_in_several_runs(events: str) -> None:
    made = run([events], load(None, {}, {"judge.kind": "local", "judge.runs": 3}))
    first = report.as_json(made)["results"][0]

    assert (3, 1.0) == (first["repetition"]["runs"], first["repetition"]["agreement"])


def test_tools_are_retrievals_where_they_are_named(tmp_path: Path) -> None:
    spans = FIXTURES / "spans" / "pydantic-ai-tool.json"
    named = load(None, {}, {"judge.kind": "local", "tools": ["retrieve"]})

    assert 0 == len(run([str(spans)], judge("local")).outcomes)
    assert 1 <= len(run([str(spans)], named).outcomes)


def test_nothing_is_said_or_sent_where_there_is_no_judge(
    events: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match="SEER_JUDGE_MODEL"):
        run([events], judge("openai"))

    assert "" == capsys.readouterr().err


def test_a_report_shows_scores_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    unreadable = {"task": "Who?", "context": [{"body": "?"}]}
    path.write_text("\n".join(map(json.dumps, [*EVENTS, unreadable, {"task": 1}])))
    text = shown(run([str(path)], judge("local")))

    assert "When did Inception come out; (no nDCG: the context is empty)" in text
    assert "the query needs no retrieval" in text
    assert "no_content (1): The span has no texts of documents." in text
    assert "Retrievals: 4; scored 2; not applicable 1; failed 0; skipped 1" in text
    assert "events.jsonl:5: task is a number" in text


def test_spans_without_a_retrieval_are_not_passed_over_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "2", "name": "tool"}
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    made = run([str(path)], judge("local"))

    assert made.all_is_well
    assert "Of 1 spans none is known as a retrieval." in shown(made)


def test_text_cannot_command_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps({"task": "[red]\x1b[2Jwhat\x07 now?", "context": []}))
    text = shown(run([str(path)], judge("local")))

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[red]" in text
