"""A verdict that was recorded comes back the same; what was not recorded is never guessed."""

import json
import os
from pathlib import Path

import pytest

from seer_otel.errors import ConfigError, JudgeFailed
from seer_otel.judge.assess import Assessor
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import Asked, Judge, Question
from seer_otel.judge.recording import Recording
from seer_otel.judge.replay import ReplayJudge
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.testing import ScriptedJudge
from seer_otel.verdict import Verdict

TASK = "Who directed Inception and when?"
SUBQUERY = "When did Inception come out?"
NOLAN = "Inception was directed by Christopher Nolan."
YEAR = "Inception came out in 2010."
SCRIPT = {
    TASK: [("director", [NOLAN]), ("year", [YEAR])],
    SUBQUERY: [("release", [YEAR])],
    "hi": [],
}


def retrieval(*texts: str, task: str = TASK, subquery: str | None = None) -> Retrieval:
    return Retrieval(tuple(map(Passage, texts)), task=task, subquery=subquery)


async def record(recording: Recording, *events: Retrieval, judge: Judge | None = None) -> None:
    assessor = Assessor(judge or ScriptedJudge(SCRIPT))
    for event in events:
        recording.add_verdict(event, await assessor.assess(event))


def written(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def found(verdict: Verdict) -> list[object]:
    return [(e.scope, e.status, e.judgement, e.scores) for e in verdict.evaluations]


async def test_contexts_of_one_query_are_united_in_one_line(tmp_path: Path) -> None:
    recording = Recording()
    copy = f"  {NOLAN} "
    await record(recording, retrieval(NOLAN, "x"), retrieval(YEAR, NOLAN, copy))
    recording.write(tmp_path / "v.jsonl")

    assert written(tmp_path / "v.jsonl") == [
        {
            "query": TASK,
            "requirements": [
                {"text": "director", "passages": [NOLAN]},
                {"text": "year", "passages": [YEAR]},
            ],
        }
    ]
    assert os.listdir(tmp_path) == ["v.jsonl"]


async def test_every_scope_and_every_empty_list_is_recorded(tmp_path: Path) -> None:
    recording = Recording()
    await record(recording, retrieval(YEAR, subquery=SUBQUERY), retrieval("x", task="hi"))

    assert [q.query for q in recording.queries.values()] == [TASK, SUBQUERY, "hi"]
    assert recording.queries["hi"].requirements == []


async def test_what_failed_is_not_recorded() -> None:
    recording = Recording()
    failing = ScriptedJudge({TASK: JudgeFailed("away")})
    await record(recording, retrieval(NOLAN), judge=failing)

    assert recording.queries == {}


async def test_another_judges_requirements_do_not_mix_in() -> None:
    recording = Recording()
    await record(recording, retrieval(NOLAN))
    other = ScriptedJudge({TASK: [("everything", [])]})
    with pytest.raises(ValueError, match="other requirements"):
        await record(recording, retrieval(NOLAN), judge=other)


async def test_a_recorded_verdict_is_replayed(tmp_path: Path) -> None:
    events = [
        retrieval("x", NOLAN, YEAR, subquery=SUBQUERY),
        retrieval(YEAR),
        retrieval("x", task="hi"),
        retrieval(),
    ]
    recording = Recording()
    await record(recording, *events)
    recording.write(tmp_path / "inception.v1.jsonl")
    judge = ReplayJudge(tmp_path / "inception.v1.jsonl")

    assert judge.name == "replay/inception.v1"
    for event in events:
        live = await Assessor(ScriptedJudge(SCRIPT)).assess(event)
        replayed = await Assessor(judge).assess(event)

        assert found(replayed) == found(live)


async def test_a_passage_cut_by_a_limit_is_replayed_too(tmp_path: Path) -> None:
    limits = Limits(max_characters=len(NOLAN))
    event = retrieval(NOLAN + " He also wrote it.")
    recording = Recording()
    verdict = await Assessor(ScriptedJudge(SCRIPT), limits=limits).assess(event)
    recording.add_verdict(event, verdict, limits)
    recording.write(tmp_path / "v.jsonl")
    replayed = await Assessor(ReplayJudge(tmp_path / "v.jsonl"), limits=limits).assess(event)

    assert found(replayed) == found(verdict)
    assert replayed.evaluations[0].scores.recall == 0.5


def file(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "verdicts.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def line(query: str, *requirements: tuple[str, list[str]]) -> str:
    return json.dumps(
        {"query": query, "requirements": [{"text": t, "passages": p} for t, p in requirements]}
    )


async def test_queries_and_passages_are_known_by_their_words(tmp_path: Path) -> None:
    path = file(tmp_path, line("caf\u00e9?", ("r", ["cafe\u0301  noir"])))
    judge = ReplayJudge(path)
    asked = Asked("task", " cafe\u0301? ", {1: "r"})
    support = await judge.support(Question((asked,), {1: "tea", 2: "caf\u00e9 noir"}))

    assert support.citations == {1: (2,)}


async def test_a_query_that_was_not_recorded_is_no_verdict(tmp_path: Path) -> None:
    verdict = await Assessor(ReplayJudge(file(tmp_path))).assess(retrieval(NOLAN))
    evaluation = verdict.evaluations[0]

    assert (evaluation.reason, evaluation.error_type) == ("judge_failed", "not_recorded")


async def test_a_requirement_that_was_not_recorded_stays_unanswered(tmp_path: Path) -> None:
    judge = ReplayJudge(file(tmp_path, line("q", ("r", []))))
    support = await judge.support(Question((Asked("task", "q", {1: "r", 2: "s"}),), {1: "x"}))

    assert support.citations == {1: ()}


def test_the_revision_changes_with_the_recording(tmp_path: Path) -> None:
    one = ReplayJudge(file(tmp_path, line("q", ("r", []))))
    same = ReplayJudge(file(tmp_path, line("q", ("r", []))))
    other = ReplayJudge(file(tmp_path, line("q", ("r", ["x"]))))

    assert one.revision == same.revision != other.revision


def test_lines_of_one_query_are_united_when_read(tmp_path: Path) -> None:
    path = file(tmp_path, line("q", ("r", ["a"])), "", line("q", ("r", ["b", " a"])), "")
    recorded = Recording.read(path).queries["q"]

    assert [r.passages for r in recorded.requirements] == [["a", "b"]]


def test_other_line_breaks_belong_to_the_text(tmp_path: Path) -> None:
    path = file(tmp_path, '{"query": "a\u2028b", "requirements": []}')

    assert len(Recording.read(path).queries) == 1


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("{", "the line: Invalid JSON"),
        ("[]", "the line"),
        ('{"query": "p"}', "requirements: Field required"),
        ('{"query": "p", "requirements": [{"text": "r"}]}', "requirements.0.passages"),
        ('{"query": "p", "requirements": [], "passages": []}', "passages: Extra inputs"),
        (line("q", ("s", [])), "other requirements"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, fault: str, what: str) -> None:
    path = file(tmp_path, line("q", ("r", [])), "", fault)
    with pytest.raises(ConfigError) as caught:
        ReplayJudge(path)

    assert str(caught.value).startswith(f"{path}, line 3: ")
    assert what in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.jsonl: cannot be read"):
        ReplayJudge(tmp_path / "missing.jsonl")
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        ReplayJudge(binary)
