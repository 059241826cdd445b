"""What a judge says becomes a verdict: checked, scored, and never a guess."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from seer_otel.errors import JudgeError, JudgeFailed, JudgeParse, JudgeTimeout
from seer_otel.judge.assess import Assessor
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import Question, Requirements, Support
from seer_otel.judge.requirements import RecentRequirements
from seer_otel.retrieval import GroundTruth, Passage, Retrieval
from seer_otel.testing import ManualClock, ScriptedJudge
from seer_otel.verdict import Evaluation, Requirement, Scores, Usage, Verdict

TASK = "Who directed Inception and when?"
NOLAN = "Inception was directed by Christopher Nolan."
YEAR = "Inception came out in 2010."
ZOO = "Berlin has a zoo."
SCRIPT: Mapping[str, Sequence[tuple[str, Sequence[str]]]] = {
    TASK: [("director of Inception", [NOLAN]), ("year of Inception", [YEAR])],
    "When did Inception come out?": [("release of Inception", [YEAR])],
}


@dataclass
class CitingJudge:
    """Lists requirements r1..rK, and replies to support questions one after the other."""

    requirement_count: int
    replies: list[Support | Exception]
    name: str = "citing/test"
    revision: str = "1"
    questions: list[Question] = field(default_factory=list)

    async def requirements(self, query: str) -> Requirements:
        texts = (f"r{n}" for n in range(1, self.requirement_count + 1))
        return Requirements(tuple(texts), Usage(1, 50, 5))

    async def support(self, question: Question) -> Support:
        self.questions.append(question)
        reply = self.replies[len(self.questions) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def aclose(self) -> None:
        pass


def retrieval(
    *texts: str | None, task: str | None = TASK, subquery: str | None = None
) -> Retrieval:
    return Retrieval(tuple(Passage(text) for text in texts), task=task, subquery=subquery)


def of_task(verdict: Verdict) -> Evaluation:
    evaluation = verdict.of("task")
    assert evaluation is not None
    return evaluation


def requirements_of(evaluation: Evaluation) -> tuple[Requirement, ...]:
    assert evaluation.judgement is not None
    return evaluation.judgement.requirements


async def judged(
    judge: ScriptedJudge | CitingJudge, event: Retrieval, limits: Limits | None = None
) -> Evaluation:
    return of_task(await Assessor(judge, limits=limits).assess(event))


async def test_a_retrieval_is_scored_by_what_the_judge_cited() -> None:
    judge = ScriptedJudge(SCRIPT)
    event = replace(retrieval(NOLAN, ZOO, YEAR), list_is_ranked=True, task_source="ancestor")
    evaluation = await judged(judge, event)

    assert evaluation.status == "scored"
    assert requirements_of(evaluation) == (
        Requirement("director of Inception", (1,)),
        Requirement("year of Inception", (3,)),
    )
    assert evaluation.scores.recall == 1
    assert evaluation.scores.precision == pytest.approx(2 / 3)
    assert evaluation.scores.ranking == "list"
    assert evaluation.passages_total == 3
    assert evaluation.passages_cited == (1, 3)
    assert evaluation.task_source == "ancestor"
    assert evaluation.new_requirements is None


async def test_all_scopes_are_judged_in_one_call_the_task_first() -> None:
    judge = ScriptedJudge(SCRIPT)
    event = retrieval(YEAR, subquery="When did Inception come out?")
    verdict = await Assessor(judge).assess(event)

    assert [e.scope for e in verdict.evaluations] == ["task", "subquery"]
    assert [e.scores.recall for e in verdict.evaluations] == [0.5, 1.0]
    assert len(judge.questions) == 1
    assert [dict(asked.requirements) for asked in judge.questions[0].asked] == [
        {1: "director of Inception", 2: "year of Inception"},
        {3: "release of Inception"},
    ]


async def test_without_a_query_nothing_is_evaluated() -> None:
    judge = ScriptedJudge(SCRIPT)
    verdict = await Assessor(judge).assess(retrieval(NOLAN, task=None))

    assert verdict == Verdict(())
    assert judge.enumerated == []
    assert judge.questions == []


@pytest.mark.parametrize("texts", [(), ("",), (" \n",), (None, "\t")])
async def test_an_empty_context_has_recall_0_and_asks_no_support(
    texts: tuple[str | None, ...],
) -> None:
    clock = ManualClock()
    verdicts = []
    for _ in range(5):
        judge = ScriptedJudge(SCRIPT)
        verdicts.append(await Assessor(judge, clock=clock).assess(retrieval(*texts)))

        assert judge.questions == []

    scores = of_task(verdicts[0]).scores

    assert verdicts == verdicts[:1] * 5
    assert scores.recall == 0
    assert (scores.precision, scores.f1, scores.ndcg) == (None, None, None)
    assert set(scores.absent) == {"precision", "f1", "ndcg", "contextual_precision"}
    assert all(scores.absent.values())
    assert of_task(verdicts[0]).unreadable_passages == len(texts)


async def test_a_query_that_needs_nothing_is_not_applicable() -> None:
    judge = ScriptedJudge({"hi": []})
    evaluation = await judged(judge, retrieval(NOLAN, task="hi"))

    assert evaluation.status == "not_applicable"
    assert judge.questions == []
    assert evaluation.scores == Scores(absent=evaluation.scores.absent)
    assert evaluation.scores.absent


async def test_a_scope_that_needs_nothing_does_not_hinder_the_other() -> None:
    judge = ScriptedJudge({**SCRIPT, "hi": []})
    verdict = await Assessor(judge).assess(retrieval(NOLAN, subquery="hi"))

    assert [e.status for e in verdict.evaluations] == ["scored", "not_applicable"]
    assert [asked.scope for asked in judge.questions[0].asked] == ["task"]


async def test_ground_truth_is_never_shown_and_does_not_move_the_verdict() -> None:
    labels = GroundTruth(gold_doc_ids=("secret-id",), answer="Nolan, in 2010")
    event = replace(retrieval(ZOO), ground_truth=labels)
    judge = ScriptedJudge(SCRIPT)
    evaluation = await judged(judge, event)

    assert evaluation.scores.recall == 0
    assert evaluation.ground_truth is not None
    assert evaluation.ground_truth.gt_recall == 0
    assert evaluation.ground_truth.gold_ids_unmatched
    assert "secret-id" not in repr(judge.questions)
    assert "2010" not in repr(judge.questions)


async def test_labels_are_compared_with_the_task_alone() -> None:
    event = Retrieval(
        (Passage(NOLAN, id="n"), Passage(YEAR, id="y")),
        task=TASK,
        subquery="When did Inception come out?",
        ground_truth=GroundTruth(gold_doc_ids=("n",)),
    )
    verdict = await Assessor(ScriptedJudge(SCRIPT)).assess(event)
    task, subquery = (verdict.of(scope) for scope in ("task", "subquery"))

    assert task is not None
    assert task.ground_truth is not None
    assert task.ground_truth.evaluator_recall == 1
    assert task.ground_truth.evaluator_precision == 0.5
    assert subquery is not None
    assert subquery.ground_truth is None


async def test_no_gold_ids_leave_every_ground_truth_score_absent() -> None:
    labelled = replace(retrieval(NOLAN), ground_truth=GroundTruth())
    clock = ManualClock()
    with_labels = of_task(await Assessor(ScriptedJudge(SCRIPT), clock=clock).assess(labelled))
    without = of_task(await Assessor(ScriptedJudge(SCRIPT), clock=clock).assess(retrieval(NOLAN)))

    assert with_labels.ground_truth is not None
    assert with_labels.ground_truth.gt_recall is None
    assert replace(with_labels, ground_truth=None) == without


async def test_what_else_a_span_says_is_not_shown() -> None:
    event = replace(retrieval(ZOO), metadata={"output.value": NOLAN}, expected_outcome=NOLAN)
    judge = ScriptedJudge(SCRIPT)
    evaluation = await judged(judge, event)

    assert evaluation.scores.recall == 0
    assert NOLAN not in repr(judge.questions)


async def test_copies_are_shown_once_and_cited_together() -> None:
    judge = CitingJudge(1, [Support({1: (2,)})])
    evaluation = await judged(judge, retrieval(ZOO, NOLAN, f" {NOLAN}\n", task="q"))

    assert judge.questions[0].passages == {1: ZOO, 2: NOLAN}
    assert requirements_of(evaluation) == (Requirement("r1", (2, 3)),)
    assert evaluation.passages_cited == (2, 3)
    assert evaluation.scores.precision == pytest.approx(1 / 3)


async def test_positions_count_unreadable_items() -> None:
    evaluation = await judged(ScriptedJudge(SCRIPT), retrieval(None, NOLAN, "", YEAR))

    assert evaluation.passages_cited == (2, 4)
    assert evaluation.passages_total == 2
    assert evaluation.unreadable_passages == 2
    assert evaluation.scores.precision == 1


async def test_a_missing_requirement_is_asked_for_alone() -> None:
    judge = CitingJudge(4, [Support({1: (1,), 2: (), 4: (1,)}), Support({3: (1,)})])
    evaluation = await judged(judge, retrieval(NOLAN, task="q"))

    assert [list(q.asked[0].requirements) for q in judge.questions] == [[1, 2, 3, 4], [3]]
    assert evaluation.scores.recall == 0.75


async def test_what_is_still_missing_fails_the_judgement() -> None:
    judge = CitingJudge(4, [Support({1: (1,), 2: (1,), 3: (1,)}), Support({1: (1,)})])
    evaluation = await judged(judge, retrieval(NOLAN, task="q"))

    assert (evaluation.status, evaluation.reason) == ("failed", "judge_failed")
    assert evaluation.error_type == "incomplete"
    assert evaluation.judgement is None
    assert evaluation.scores == Scores()
    assert len(judge.questions) == 2


async def test_an_unknown_requirement_is_ignored_and_counted() -> None:
    judge = CitingJudge(4, [Support({1: (1,), 2: (1,), 3: (), 4: (), 7: (1,)})])
    evaluation = await judged(judge, retrieval(NOLAN, task="q"))

    assert evaluation.judgement is not None
    assert evaluation.scores.recall == 0.5
    assert evaluation.judgement.invalid_citations == 1
    assert len(judge.questions) == 1


async def test_a_citation_of_nothing_is_dropped_and_counted() -> None:
    judge = CitingJudge(2, [Support({1: (9,), 2: (0, 2, 2)})])
    evaluation = await judged(judge, retrieval(NOLAN, YEAR, ZOO, task="q"))

    assert evaluation.judgement is not None
    assert evaluation.judgement.invalid_citations == 2
    assert requirements_of(evaluation) == (Requirement("r1"), Requirement("r2", (2,)))
    assert evaluation.scores.recall == 0.5


async def test_five_of_seven_is_five_sevenths() -> None:
    judge = CitingJudge(7, [Support({n: (1,) if n <= 5 else () for n in range(1, 8)})])
    evaluation = await judged(judge, retrieval(NOLAN, task="q"))

    assert evaluation.scores.recall == pytest.approx(5 / 7)


async def test_one_of_eleven_is_one_eleventh() -> None:
    judge = CitingJudge(11, [Support({n: (1, 2, 3) if n == 1 else () for n in range(1, 12)})])
    evaluation = await judged(judge, retrieval(NOLAN, YEAR, ZOO, task="q"))

    assert evaluation.scores.recall == pytest.approx(1 / 11)


async def test_doubt_about_one_requirement_is_doubt_about_its_scope() -> None:
    judge = CitingJudge(1, [Support({1: (1,), 2: (1,)}, low_confidence=frozenset({2}))])
    verdict = await Assessor(judge).assess(retrieval(NOLAN, task="q", subquery="p"))

    assert [e.judgement and e.judgement.low_confidence for e in verdict.evaluations] == [
        False,
        True,
    ]


async def test_the_requirements_of_a_task_are_frozen_for_all_its_hops() -> None:
    judge = ScriptedJudge(SCRIPT)
    assessor = Assessor(judge, clock=ManualClock())
    verdicts = [await assessor.assess(retrieval(NOLAN)) for _ in range(3)]
    hop = of_task(await assessor.assess(retrieval(ZOO, subquery="When did Inception come out?")))

    assert [False, True, True] == [of_task(v).provenance.cached for v in verdicts]
    assert [of_task(verdicts[0]).judgement] * 3 == [of_task(v).judgement for v in verdicts]
    assert [r.text for r in requirements_of(hop)] == [
        r.text for r in requirements_of(of_task(verdicts[0]))
    ]
    assert judge.enumerated == [TASK, "When did Inception come out?"]


async def test_hops_judged_at_the_same_time_share_the_requirements() -> None:
    judge = ScriptedJudge(SCRIPT)
    assessor = Assessor(judge)
    await asyncio.gather(*(assessor.assess(retrieval(text)) for text in (NOLAN, YEAR, ZOO)))

    assert judge.enumerated == [TASK]
    assert len(judge.questions) == 3


async def test_requirements_are_remembered_where_they_are_told_to_be() -> None:
    memory = RecentRequirements()
    await Assessor(ScriptedJudge(SCRIPT), memory=memory).assess(retrieval(NOLAN))
    judge = ScriptedJudge(SCRIPT)
    await Assessor(judge, memory=memory).assess(retrieval(YEAR))

    assert judge.enumerated == []


async def test_a_long_context_takes_several_calls_over_the_same_requirements() -> None:
    texts = [f"{n}".ljust(4_000, ".") for n in range(51)]
    judge = ScriptedJudge({TASK: [("a", [texts[0], texts[50]]), ("b", [texts[49]]), ("c", [])]})
    evaluation = await judged(judge, retrieval(*texts))

    assert [len(q.passages) for q in judge.questions] == [50, 1]
    assert [next(iter(q.passages)) for q in judge.questions] == [1, 1]
    assert judge.questions[0].asked == judge.questions[1].asked
    assert requirements_of(evaluation) == (
        Requirement("a", (1, 51)),
        Requirement("b", (50,)),
        Requirement("c"),
    )
    assert (evaluation.passages_dropped, evaluation.characters_dropped) == (0, 0)
    assert evaluation.scores.precision == pytest.approx(3 / 51)


async def test_beyond_the_hard_limits_precision_is_over_what_was_judged() -> None:
    limits = Limits(max_passages=2, max_characters=len(NOLAN))
    event = replace(
        retrieval(NOLAN, ZOO + "." * 100, YEAR), passages_dropped=4, characters_dropped=7
    )
    evaluation = await judged(ScriptedJudge(SCRIPT), event, limits)

    assert evaluation.passages_total == 2
    assert evaluation.passages_dropped == 4 + 1
    assert evaluation.characters_dropped == 7 + len(ZOO) + 100 - len(NOLAN)
    assert evaluation.scores.precision == 0.5
    assert evaluation.scores.recall == 0.5


async def test_one_failed_call_of_several_fails_the_judgement() -> None:
    judge = CitingJudge(1, [Support({1: (1,)}), JudgeTimeout("too slow")])
    limits = Limits(passages_per_call=1)
    evaluation = await judged(judge, retrieval(NOLAN, YEAR, task="q"), limits)

    assert (evaluation.status, evaluation.reason) == ("failed", "judge_timeout")


@pytest.mark.parametrize(
    ("error", "reason", "error_type"),
    [
        (JudgeFailed("away", "503"), "judge_failed", "503"),
        (JudgeParse("prose"), "judge_parse", "judge_parse"),
        (JudgeTimeout("slow"), "judge_timeout", "judge_timeout"),
    ],
)
async def test_an_error_of_the_judge_is_an_evaluation_without_scores(
    error: JudgeError, reason: str, error_type: str
) -> None:
    evaluation = await judged(ScriptedJudge({TASK: error}), retrieval(NOLAN))

    assert (evaluation.status, evaluation.reason) == ("failed", reason)
    assert evaluation.error_type == error_type
    assert evaluation.scores == Scores()
    assert evaluation.passages_total == 1


async def test_scopes_fail_one_by_one() -> None:
    judge = ScriptedJudge({**SCRIPT, "p": JudgeParse("prose")})
    verdict = await Assessor(judge).assess(retrieval(NOLAN, subquery="p"))

    assert [e.status for e in verdict.evaluations] == ["scored", "failed"]


async def test_a_scope_left_unanswered_does_not_take_the_other_along() -> None:
    judge = CitingJudge(1, [Support({1: (1,)}), JudgeFailed("away", "503")])
    verdict = await Assessor(judge).assess(retrieval(NOLAN, task="q", subquery="p"))

    assert [(e.status, e.error_type) for e in verdict.evaluations] == [
        ("scored", None),
        ("failed", "503"),
    ]


async def test_five_failures_among_ten_leave_five_scored() -> None:
    judge = ScriptedJudge({TASK: SCRIPT[TASK], "p": JudgeFailed("away")})
    assessor = Assessor(judge)
    tasks = [TASK, "p"] * 5
    evaluations = [
        of_task(await assessor.assess(retrieval(NOLAN, YEAR, task=task))) for task in tasks
    ]

    assert [e.status for e in evaluations] == ["scored", "failed"] * 5
    assert [e.scores.recall for e in evaluations if e.status == "scored"] == [1.0] * 5


async def test_a_judge_that_hangs_is_cut_off() -> None:
    judge = ScriptedJudge(SCRIPT, delay_s=3600)
    evaluation = of_task(await Assessor(judge).assess(retrieval(NOLAN), timeout_s=0.01))

    assert (evaluation.status, evaluation.reason) == ("failed", "judge_timeout")


async def test_what_was_known_in_time_is_kept() -> None:
    judge = ScriptedJudge({**SCRIPT, "hi": []}, delay_s=3600)
    event = retrieval(NOLAN, task="hi", subquery="When did Inception come out?")
    verdict = await Assessor(judge).assess(event, timeout_s=0.01)

    assert [e.status for e in verdict.evaluations] == ["not_applicable", "failed"]


async def test_an_unexpected_error_is_named_and_its_message_kept_from_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    judge = CitingJudge(1, [ZeroDivisionError(f"while reading {NOLAN}")])
    with caplog.at_level(logging.DEBUG, "seer_otel"):
        evaluation = await judged(judge, retrieval(NOLAN, task="q"))

    assert (evaluation.reason, evaluation.error_type) == ("judge_failed", "ZeroDivisionError")
    assert "test_assess.py:" in caplog.text
    assert NOLAN not in caplog.text


async def test_the_same_trouble_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    assessor = Assessor(ScriptedJudge({TASK: JudgeFailed("away")}), clock=clock)
    for seconds in (0, 30, 29, 1):
        clock.advance(seconds)
        await assessor.assess(retrieval(NOLAN))

    assert [record.getMessage() for record in caplog.records] == ["judging failed: away"] * 2


async def test_a_cancelled_assessment_is_cancelled() -> None:
    judge = ScriptedJudge(SCRIPT, delay_s=3600)
    task = asyncio.create_task(Assessor(judge).assess(retrieval(NOLAN)))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_verdict_says_who_judged_when_and_at_what_cost() -> None:
    clock = ManualClock(1_796_000_000.25)
    judge = CitingJudge(1, [Support({}, Usage(1, 200, 20)), Support({1: (1,)}, Usage(1, 100, 10))])
    verdict = await Assessor(judge, clock=clock).assess(retrieval(NOLAN, task="q"))
    provenance = of_task(verdict).provenance

    assert (provenance.judge, provenance.revision) == ("citing/test", "1")
    assert provenance.evaluated_at == "2026-11-30T00:53:20.250Z"
    assert provenance.duration_ms == 0
    assert provenance.usage == Usage(3, 350, 35)
    assert provenance.cached is False


async def test_duration_is_the_time_from_question_to_verdict() -> None:
    clock = ManualClock()
    judge = ScriptedJudge(SCRIPT, before_reply=lambda: clock.advance(1.5))
    evaluation = of_task(await Assessor(judge, clock=clock).assess(retrieval(NOLAN)))

    assert evaluation.provenance.duration_ms == 1500


async def test_tokens_are_unknown_where_one_call_does_not_tell() -> None:
    judge = CitingJudge(1, [Support({1: (1,)}, Usage(1))])
    evaluation = await judged(judge, retrieval(NOLAN, task="q"))

    assert evaluation.provenance.usage == Usage(2, None, None)


async def test_closing_ends_what_is_under_way() -> None:
    assessor = Assessor(ScriptedJudge(SCRIPT))
    await assessor.assess(retrieval(NOLAN))
    await assessor.aclose()
