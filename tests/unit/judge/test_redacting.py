"""A judge of files is shown what may be seen of them, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from seer_otel.cli import main
from seer_otel.errors import JudgeFailed
from seer_otel.judge.protocol import Asked, Question
from seer_otel.judge.redacting import RedactingJudge
from seer_otel.testing import ScriptedJudge

SECRET = "ada@example.org"


def hide(text: str) -> str:
    return text.replace(SECRET, "[redacted]")


async def test_nothing_that_is_hidden_reaches_the_judge() -> None:
    inner = ScriptedJudge({"who is [redacted]": [("name of [redacted]", ["[redacted] is Ada"])]})
    judge = RedactingJudge(inner, hide)
    listed = await judge.requirements(f"who is {SECRET}")
    asked = Asked("task", f"who is {SECRET}", {1: f"name of {SECRET}"})
    found = await judge.support(Question((asked,), {1: f"{SECRET} is Ada", 2: "else"}, run=2))
    await judge.aclose()

    assert ("name of [redacted]",) == listed.texts
    assert {1: (1,)} == found.citations
    assert SECRET not in repr((inner.enumerated, inner.questions))
    assert (inner.name, inner.revision, 2) == (judge.name, judge.revision, inner.questions[0].run)


async def test_what_cannot_be_redacted_is_not_asked() -> None:
    def fail(text: str) -> str:
        raise ValueError(text)

    inner = ScriptedJudge({})
    with pytest.raises(JudgeFailed) as error:
        await RedactingJudge(inner, fail).requirements(SECRET)

    assert ("ValueError", []) == (error.value.error_type, inner.enumerated)
    assert SECRET not in str(error.value)


def test_evaluate_redacts_what_it_shows_the_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Any] = []

    class Local(ScriptedJudge):
        def __init__(self) -> None:
            super().__init__({"who is [redacted]": [("name", ["[redacted] is Ada"])]})

        async def aclose(self) -> None:
            heard.extend([self.enumerated, self.questions])

    monkeypatch.setattr("seer_otel.judge.local.LocalJudge", Local)
    monkeypatch.delenv("SEER_JUDGE_MODEL", raising=False)
    events = tmp_path / "events.jsonl"
    events.write_text(json.dumps({"task": f"who is {SECRET}", "context": [f"{SECRET} is Ada"]}))
    settings = tmp_path / "seer.yaml"
    settings.write_text("judge: local\nredact: {patterns: ['[a-z]+@[a-z.]+']}\n")

    assert 0 == main(["evaluate", str(events), "--config", str(settings), "--format", "json"])
    assert heard[0]
    assert SECRET not in repr(heard)
    capsys.readouterr()
