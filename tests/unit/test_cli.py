"""The command line: what is printed where, and with which exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import seer_otel
from seer_otel.cli import main
from seer_otel.config import Config, load
from seer_otel.evaluator import serving
from seer_otel.harness import run
from seer_otel.judge import prompts

FIXTURES = Path(os.environ.get("SEER_FIXTURES") or Path(__file__).parents[1] / "data")
SPANS = str(FIXTURES / "spans" / "seer-dialect.json")
COMMANDS = (
    "accuracy",
    "compare",
    "config",
    "demo",
    "evaluate",
    "harness",
    "inspect",
    "key",
    "prompt",
    "serve",
)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("SEER_", "OTEL_", "OPENAI_")):
            monkeypatch.delenv(name)


def one_error(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on the standard error; nothing is on the standard output."""
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()

    assert printed.out == ""
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)])
def test_help_has_examples(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main([*command, "--help"])
    assert "Examples:\n    " in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--version"])
    assert f"seer-otel {seer_otel.__version__}\n" == capsys.readouterr().out


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main([])
    assert capsys.readouterr().out.startswith("Usage: seer-otel ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["evaluate", "no-such-file"], "no-such-file"),
        (["evaluate"], "FILE"),
        (["inspect", SPANS, "--format", "xml"], "xml"),
        (["serve", "--sample-rate", "2"], "--sample-rate"),
        (["serve", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
        (["demo", "--jaeger", "http://127.0.0.1"], "--endpoint"),
        (["evaluate", SPANS, "--judge", "openai"], "SEER_JUDGE_MODEL"),
        (["evaluate", SPANS, "--judge", "replay:nowhere"], "nowhere"),
        (["evaluate", SPANS, "--output", "nowhere/out.json"], "nowhere/out.json"),
        (["evaluate", SPANS, "--record", "nowhere/out.jsonl"], "nowhere/out.jsonl"),
        (["serve"], "--forward"),
        (["serve", "--grpc", "here", "--forward", "off"], "(from --grpc)"),
        (["config", "--config", "no-such-file"], "no-such-file"),
        (["demo", "--endpoint", "http://"], "http://"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(arguments)
    assert says in one_error(capsys)


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['click'] = None\n"
        "from seer_otel.cli import main; sys.exit(main(['--version']))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert 2 == ended.returncode
    assert "error: this needs click: pip install 'seer-otel[evaluator]'\n" == ended.stderr


def test_help_is_quick_for_it_loads_little() -> None:
    code = (
        "import sys; from seer_otel.cli import main; main(['serve', '--help'])\n"
        "print([m for m in ('grpc', 'pydantic', 'openai', 'httpx', 'rich') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "[]" == ended.stdout.splitlines()[-1]


def test_it_runs_as_a_module() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "seer_otel", "--version"], capture_output=True, text=True
    )

    assert (0, f"seer-otel {seer_otel.__version__}\n") == (ended.returncode, ended.stdout)


def test_an_interruption_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run", interrupted)

    assert 130 == main(["evaluate", SPANS])


def test_serve_takes_flags_before_environment_before_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served: list[Config] = []
    monkeypatch.setattr(serving, "serve", served.append)
    monkeypatch.setenv("SEER_HOLD", "7")
    monkeypatch.setenv("SEER_SAMPLE_RATE", "0.3")
    file = tmp_path / "seer.yaml"
    file.write_text("hold: 5\ntrace_results: {idle: 3}\n")
    flags = {
        "--config": str(file), "--grpc": "off", "--http": "127.0.0.1:0",
        "--forward": "http://127.0.0.1:9", "--forward-protocol": "http/protobuf",
        "--judge": "local", "--sample-rate": "0.5", "--data-dir": str(tmp_path),
    }  # fmt: skip

    assert 0 == main(["serve", *(word for pair in flags.items() for word in pair)])
    (config,) = served
    assert config.forward is not None
    assert (None, "127.0.0.1:0", "http://127.0.0.1:9", "http/protobuf", "local") == (
        config.grpc, config.http, config.forward.url, config.forward.protocol, config.judge.kind
    )  # fmt: skip
    assert (0.5, 7.0, 3.0, tmp_path) == (
        config.sample_rate, config.hold.seconds, config.trace_results.idle, config.data_dir
    )  # fmt: skip


def test_inspect_prints_what_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    expected = json.loads((FIXTURES / "expected" / "seer-dialect.json").read_text())

    assert 0 == main(["inspect", SPANS, "--format", "json"])
    assert expected == json.loads(capsys.readouterr().out)


def test_evaluate_says_by_its_exit_code_whether_all_is_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(json.dumps({"task": "Who directed Inception?", "context": []}))
    bad.write_text(json.dumps({"task": "Who directed Inception?", "context": [{"body": 1}]}))

    def evaluated(path: Path) -> tuple[int, Any]:
        code = main(["evaluate", str(path), "--format", "json"])
        return code, json.loads(capsys.readouterr().out)["summary"]["n_skipped"]

    assert (0, 0) == evaluated(good)
    assert (1, 1) == evaluated(bad)


def test_evaluate_writes_spans_with_scores(tmp_path: Path) -> None:
    output = tmp_path / "scored.otlp.json"
    main(["evaluate", SPANS, "--output", str(output)])

    assert 10 == output.read_text().count('"seer.scope"')


def test_a_prompt_can_be_read_and_kept_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["prompt", "show", "requirements"])
    shown = capsys.readouterr()

    assert prompts.load().requirements == shown.out
    assert prompts.revision(shown.out) in shown.err


def test_all_prompts_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = 'Reply in JSON: {"requirements": []}'
    (tmp_path / "requirements.txt").write_text(own)
    config = tmp_path / "seer.yaml"
    config.write_text(f"judge: {{prompts: {tmp_path}}}")

    assert 0 == main(["prompt", "show", "--config", str(config)])
    assert f"# requirements, revision {prompts.revision(own)}\n{own}" in capsys.readouterr().out


def test_config_prints_a_file_that_says_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SEER_SAMPLE_RATE", "0.25")
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")
    file = tmp_path / "seer.yaml"
    file.write_text("hold: 20\nhttp: off\nthresholds: {recall: 0.8}\ndata_dir: /tmp/a #b\n")

    assert 0 == main(["config", "--config", str(file)])
    printed = capsys.readouterr().out
    again = tmp_path / "again.yaml"
    again.write_text(printed)

    assert load(file).masked() == load(again, {}).masked()
    assert "secret-1" not in printed
    assert "sample_rate: 0.25  # from the environment\n" in printed
    assert f"  seconds: 20.0  # from {file}\n" in printed
    assert "http: off" in printed
    assert isinstance(yaml.safe_load(printed), dict)
