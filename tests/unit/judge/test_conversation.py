"""What comes of conversations, judged by a script."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal

import pytest

from seer_otel.errors import JudgeError, JudgeFailed
from seer_otel.judge.conversation import SO_FAR, ConversationAssessor
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import Question, Support
from seer_otel.retrieval import Conversation, Passage, Turn
from seer_otel.testing import ScriptedJudge
from seer_otel.verdict import ConversationEvaluation

Script = Mapping[str, Sequence[tuple[str, Sequence[str]]] | JudgeError]

DAYS, FEE, WHO = "Refunds take 30 days.", "The fee is 5 EUR.", "Members pay nothing."
OUTCOME = f"{DAYS} {FEE} {WHO}"
SCRIPT: Script = {OUTCOME: [(DAYS, ["days"]), (FEE, ["fee"]), (WHO, ["who", "fee and who"])]}


def said(role: Literal["user", "assistant"], content: str = "…", *texts: str) -> Turn:
    return Turn(role, content, tuple(map(Passage, texts)))


def judged(
    judge: ScriptedJudge,
    *turns: Turn,
    expected: str | None = OUTCOME,
    window: int = 10,
    runs: int = 1,
) -> ConversationEvaluation:
    async def run() -> ConversationEvaluation:
        assessor = ConversationAssessor(judge, window=window, runs=runs)
        try:
            return (await assessor.assess(Conversation(turns, expected))).evaluation
        finally:
            await assessor.aclose()

    return asyncio.run(run())


def recalls(found: ConversationEvaluation) -> list[float | None]:
    return [turn.recall for turn in found.turns]


def test_a_turn_without_passages_in_its_window_scores_nothing() -> None:
    found = judged(
        ScriptedJudge(SCRIPT),
        said("user"),
        said("assistant"),
        said("user"),
        said("assistant", "…", "days", "fee"),
    )

    assert [0.0, pytest.approx(2 / 3)] == recalls(found)
    assert pytest.approx(1 / 3) == found.value
    assert ("turn_contextual_recall", "scored") == (found.measure, found.status)
    assert [(2, 0), (4, 2)] == [(turn.message, turn.passages) for turn in found.turns]


def test_every_assistant_message_after_the_first_of_the_user_is_a_turn() -> None:
    found = judged(
        ScriptedJudge(SCRIPT),
        said("assistant", "Hello!", "days"),
        said("user"),
        said("assistant", "…", "days"),
        said("assistant", "…", "fee"),
        said("user"),
    )

    assert [pytest.approx(1 / 3), pytest.approx(2 / 3)] == recalls(found)
    assert [3, 4] == [turn.message for turn in found.turns]


def test_statements_are_split_once_and_each_passage_is_judged_once() -> None:
    judge = ScriptedJudge(SCRIPT)
    turns = [
        turn for n in range(5) for turn in (said("user"), said("assistant", "…", "days", f"p{n}"))
    ]
    found = judged(judge, *turns, window=2)

    assert [3] * 5 == [len(turn.requirements) for turn in found.turns]
    assert 1 == len(judge.questions)
    assert ["days", "p0", "p1", "p2", "p3", "p4"] == list(judge.questions[0].passages.values())
    assert [] == judge.enumerated


def test_a_passage_that_has_left_the_window_supports_nothing() -> None:
    found = judged(
        ScriptedJudge(SCRIPT),
        said("user"),
        said("assistant", "…", "days"),
        said("user"),
        said("assistant", "…", "fee"),
        window=1,
    )

    assert [((1,), 1), ((2,), 1)] == [(turn.supported, turn.passages) for turn in found.turns]


def test_what_was_retrieved_for_the_question_counts_for_its_answer() -> None:
    found = judged(ScriptedJudge(SCRIPT), said("user", "?", "days"), said("assistant"))

    assert [(1,)] == [turn.supported for turn in found.turns]


def test_no_passage_at_all_is_a_recall_of_nothing_and_the_judge_is_not_asked() -> None:
    judge = ScriptedJudge(SCRIPT)
    found = judged(judge, said("user"), said("assistant", "…", " "))

    assert (0.0, "scored", []) == (found.value, found.status, judge.questions)


@pytest.mark.parametrize("expected", [OUTCOME, None])
def test_nobody_answered_so_there_is_nothing_to_score(expected: str | None) -> None:
    found = judged(ScriptedJudge(SCRIPT), said("assistant", "Hi!", "days"), expected=expected)

    assert ("not_applicable", "no_assistant_turns", None, ()) == (
        found.status, found.reason, found.value, found.turns
    )  # fmt: skip


def test_an_expectation_that_says_nothing_is_not_applicable() -> None:
    found = judged(ScriptedJudge({}), said("user"), said("assistant"), expected="…")

    assert ("not_applicable", None) == (found.status, found.value)


def test_a_failure_is_none_of_the_scores() -> None:
    class Failing(ScriptedJudge):
        async def support(self, question: Question) -> Support:
            raise JudgeFailed("away", "503")

    found = judged(Failing(SCRIPT), said("user"), said("assistant", "…", "days"))

    assert ("failed", "judge_failed", "503", None, [None]) == (
        found.status, found.reason, found.error_type, found.value, recalls(found)
    )  # fmt: skip


def test_without_an_expectation_each_question_is_read_in_the_light_of_the_talk() -> None:
    light = f"And for members?\n\n{SO_FAR}\nuser: What is the fee?\nassistant: 5 EUR."
    script: Script = {
        "What is the fee?": [("the fee", ["fee"])],
        light: [("members", ["who"]), ("fee", ["fee"])],
    }
    judge = ScriptedJudge(script)
    found = judged(
        judge,
        said("user", "What is the fee?"),
        said("assistant", "5 EUR.", "fee"),
        said("user", "And for members?"),
        said("assistant", "…", "days"),
        expected=None,
    )

    assert ["What is the fee?", light] == judge.enumerated
    assert [1.0, 0.5] == recalls(found)
    assert ("turn_recall", 0.75) == (found.measure, found.value)


def test_small_talk_is_not_applicable_and_in_no_mean() -> None:
    found = judged(
        ScriptedJudge({"What is the fee?": [("the fee", [])]}),
        said("user", "What is the fee?"),
        said("assistant"),
        said("user", "Thanks!"),
        said("assistant"),
        expected=None,
    )

    assert [("scored", 0.0), ("not_applicable", None)] == [
        (turn.status, turn.recall) for turn in found.turns
    ]
    assert 0.0 == found.value


def test_two_messages_in_a_row_are_one_question() -> None:
    judge = ScriptedJudge({})
    judged(
        judge,
        said("user", "What is the fee?"),
        said("user", "For members?"),
        said("assistant"),
        said("assistant"),
        expected=None,
    )

    assert ["What is the fee?\nFor members?"] == judge.enumerated


def test_the_local_judge_reads_a_question_by_itself() -> None:
    judge = ScriptedJudge({}, name="local/test")
    judged(
        judge,
        said("user", "a"),
        said("assistant"),
        said("user", "b"),
        said("assistant"),
        expected=None,
    )

    assert ["a", "b"] == judge.enumerated


def test_several_runs_have_a_spread() -> None:
    class Wavering(ScriptedJudge):
        async def support(self, question: Question) -> Support:
            return Support({1: (1,) if question.run == 1 else (), 2: (), 3: ()})

    found = judged(Wavering(SCRIPT), said("user"), said("assistant", "…", "days"), runs=2)

    assert pytest.approx(1 / 6) == found.value
    assert pytest.approx(1 / 3) == found.spread


def test_what_a_hard_limit_cut_is_told() -> None:
    async def run() -> ConversationEvaluation:
        assessor = ConversationAssessor(ScriptedJudge(SCRIPT), limits=Limits(max_passages=1))
        talk = Conversation((said("user"), said("assistant", "…", "days", "fee")), OUTCOME)
        return (await assessor.assess(talk)).evaluation

    assert 1 == asyncio.run(run()).passages_dropped
