"""The demo shows what it promises, and leaves nothing behind."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from seer_otel.demo import run
from seer_otel.testing import ChatReply, ChatStub


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of this process and its children."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_demo_shows_complete_and_incomplete_retrievals(
    temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.run({})
    shown = capsys.readouterr().out

    assert shown.startswith("judge local: nothing leaves this machine\n")
    assert 4 == shown.count("final context")
    assert "Complete: all that the question needs was there to answer from." in shown
    assert "missing   " in shown
    assert "What is missing " in shown
    assert [] == list(temporary.iterdir())


async def test_with_a_model_the_model_judges(
    temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(request: dict[str, Any]) -> ChatReply:
        if "verdicts" not in request["messages"][0]["content"]:
            return ChatReply('{"requirements": ["what a model would ask for"]}')
        reply = {"verdicts": [{"requirement": n, "passages": [1], "unsure": False} for n in (1, 2)]}
        return ChatReply(json.dumps(reply))

    async with ChatStub(answer) as model:
        environment = {"SEER_JUDGE_MODEL": "big", "OPENAI_BASE_URL": model.base_url}

        assert await asyncio.to_thread(run.run, environment)
    shown = capsys.readouterr().out
    assert shown.startswith("judge openai/big at 127.0.0.1")
    assert 4 == shown.count("Complete: all that the question needs")


def test_the_readme_shows_what_the_demo_shows(
    temporary: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    run.run({})
    shown = {line.rstrip() for line in capsys.readouterr().out.splitlines()}
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    picture = readme.split("```")[1].strip().splitlines()

    assert [] == [line for line in picture if line not in shown]


@contextmanager
def hanging_judge() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_an_interrupted_demo_leaves_nothing(tmp_path: Path) -> None:
    with hanging_judge() as url:
        environment = {
            **os.environ,
            "TMPDIR": str(tmp_path),
            "SEER_JUDGE_MODEL": "slow",
            "OPENAI_BASE_URL": url,
        }
        demo = subprocess.Popen(
            [sys.executable, "-m", "seer_otel", "demo"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert demo.stdout is not None
        assert "judge openai/slow at 127.0.0.1" in demo.stdout.readline()
        demo.send_signal(signal.SIGINT)
        _, complaints = demo.communicate(timeout=30)

    assert (130, "") == (demo.returncode, complaints.strip())
    assert [] == list(tmp_path.iterdir())
    with pytest.raises(ProcessLookupError):
        os.killpg(demo.pid, 0)
