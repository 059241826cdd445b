"""Gates: what passes, what does not, and that nothing passes by accident."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from seer_otel.cli import main
from seer_otel.errors import ConfigError
from seer_otel.harness import gates

RECORDED = [
    {
        "query": f"q{n}",
        "requirements": [{"text": "a", "passages": ["yes"]}, {"text": "b", "passages": ["both"]}],
    }
    for n in range(10)
]
SMALL_TALK = {"query": "hi", "requirements": []}


@pytest.fixture
def judge(tmp_path: Path) -> str:
    path = tmp_path / "verdicts.jsonl"
    path.write_text("\n".join(map(json.dumps, [*RECORDED, SMALL_TALK])))
    return f"replay:{path}"


def events(folder: Path, *contexts: Sequence[str], unknown: int = 0, talk: int = 0) -> str:
    path = folder / "events.jsonl"
    lines: list[Any] = [{"task": f"q{n}", "context": each} for n, each in enumerate(contexts)]
    lines += [{"task": f"unknown {n}", "context": ["x"]} for n in range(unknown)]
    lines += [{"task": "hi", "context": ["x"]}] * talk
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


def gated(file: str, judge: str, *arguments: str) -> int:
    return main(["evaluate", file, "--judge", judge, "--format", "json", *arguments])


@pytest.mark.parametrize(
    ("threshold", "code"), [("recall=0.75", 0), ("recall=0.7500000001", 0), ("recall=0.76", 1)]
)
def test_a_gate_passes_at_its_threshold(
    threshold: str, code: int, tmp_path: Path, judge: str
) -> None:
    file = events(tmp_path, ["yes", "both"], ["yes"])

    assert code == gated(file, judge, "--fail-under", threshold)


def test_all_gates_must_pass(
    tmp_path: Path, judge: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = events(tmp_path, ["yes", "x", "y", "z"])

    assert 1 == gated(file, judge, "--fail-under", "recall=0.5", "--fail-under", "precision=0.3")
    found = json.loads(capsys.readouterr().out)["gates"]
    assert [("recall", True, 0.5), ("precision", False, 0.25)] == [
        (each["gate"], each["passed"], each["value"]) for each in found
    ]


def test_a_good_mean_of_too_few_does_not_pass(tmp_path: Path, judge: str) -> None:
    file = events(tmp_path, *[["yes", "both"]] * 5, unknown=5)

    assert 1 == gated(file, judge, "--fail-under", "recall=0.9")
    assert 0 == gated(file, judge, "--fail-under", "recall=0.9", "--min-coverage", "0.5")


def test_enough_scored_is_well_though_one_failed(tmp_path: Path, judge: str) -> None:
    file = events(tmp_path, *[["yes", "both"]] * 9, unknown=1)

    assert 1 == gated(file, judge)
    assert 0 == gated(file, judge, "--fail-under", "recall=0.9")


def test_small_talk_lowers_no_coverage(tmp_path: Path, judge: str) -> None:
    file = events(tmp_path, ["yes", "both"], talk=9)

    assert 0 == gated(file, judge, "--fail-under", "recall=0.9")


@pytest.mark.parametrize("contexts", [[], [["x"]]])
def test_what_was_not_scored_does_not_pass(
    contexts: list[list[str]], tmp_path: Path, judge: str
) -> None:
    file = events(tmp_path, unknown=len(contexts))

    assert 1 == gated(file, judge, "--fail-under", "recall=0", "--min-coverage", "0")


def test_a_score_that_few_have_does_not_pass_for_all(tmp_path: Path, judge: str) -> None:
    file = events(tmp_path, ["yes", "both"], [])

    assert 0 == gated(file, judge, "--fail-under", "recall=0.5")
    assert 1 == gated(file, judge, "--fail-under", "precision=0.5")


def test_records_that_cannot_be_read_count_as_not_scored(tmp_path: Path, judge: str) -> None:
    file = Path(events(tmp_path, ["yes", "both"]))
    file.write_text(file.read_text() + "\n{broken")

    assert 1 == gated(str(file), judge, "--fail-under", "recall=0.9")


def test_other_scopes_have_gates_too(tmp_path: Path, judge: str) -> None:
    file = events(tmp_path, ["yes"])

    assert 0 == gated(file, judge, "--fail-under", "trace.recall=0.5,trace.cumulative_recall=0.5")
    assert 1 == gated(file, judge, "--fail-under", "subquery.recall=0")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--fail-under", ""),
        ("--fail-under", "recall"),
        ("--fail-under", "recall="),
        ("--fail-under", "recal=0.9"),
        ("--fail-under", "nowhere.recall=0.9"),
        ("--fail-under", "recall=90"),
        ("--fail-under", "recall=nan"),
        ("--min-coverage", "0.5"),
        ("--sample", "0"),
        ("--junit", "/no/such/folder/report.xml"),
    ],
)
def test_a_gate_that_would_pass_whatever_comes_is_a_mistake(
    arguments: tuple[str, ...], tmp_path: Path, judge: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == gated(events(tmp_path, ["yes"]), judge, *arguments)
    assert "" == capsys.readouterr().out


def test_without_thresholds_there_are_no_gates() -> None:
    with pytest.raises(ConfigError, match="needs a threshold"):
        gates.gates({})


def test_a_conversation_has_a_gate(tmp_path: Path) -> None:
    verdicts, file = tmp_path / "v.jsonl", tmp_path / "talk.json"
    verdicts.write_text(
        json.dumps(
            {"query": "It is so.", "requirements": [{"text": "It is so.", "passages": ["yes"]}]}
        )
    )
    turns = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "!", "retrieval_context": ["yes"]},
    ]
    file.write_text(json.dumps({"turns": turns, "expected_outcome": "It is so."}))

    assert 0 == gated(str(file), f"replay:{verdicts}", "--fail-under", "turn_contextual_recall=1")
    assert 1 == gated(str(file), f"replay:{verdicts}", "--fail-under", "recall=0")


def test_a_sample_leaves_the_rest_out_of_every_total(
    tmp_path: Path, judge: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = events(tmp_path, *[["yes", "both"]] * 10)
    gated(file, judge, "--sample", "0.5")
    first = json.loads(capsys.readouterr().out)["summary"]
    gated(file, judge, "--sample", "0.5")

    assert first == json.loads(capsys.readouterr().out)["summary"]
    assert 0 < first["n_total"] < 10
    assert 10 == first["n_total"] + first["n_not_sampled"]


def test_ci_is_told_of_each_gate_and_each_retrieval(tmp_path: Path, judge: str) -> None:
    report = tmp_path / "report.xml"
    file = Path(events(tmp_path, ["yes"], unknown=1))
    unreadable = json.dumps({"task": "q1", "context": [{"body": 1}]})
    file.write_text(file.read_text() + f"\n{unreadable}\n{{broken")
    gated(str(file), judge, "--fail-under", "recall=0.9", "--junit", str(report))
    gates_, retrievals = ElementTree.parse(report).getroot()

    assert ("1", "1") == (gates_.get("tests"), gates_.get("failures"))
    assert "recall >= 0.9" == gates_[0].get("name")
    assert "FAIL recall 0.5, at least 0.9; 1 of 4 have it" == gates_[0][0].get("message")
    assert ("4", "2", "1") == tuple(retrievals.get(name) for name in ("tests", "errors", "skipped"))
    assert ["judge_failed (not_recorded)"] == [
        case[0].get("message") for case in retrievals if case.find("error") is not None
    ][:1]
