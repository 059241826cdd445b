"""Several runs of one judgement: the mean, its spread, and how far the runs agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.metrics import judgement, repetition
from seer_otel.retrieval import Passage
from seer_otel.verdict import GroundTruthScores, Scores

CONTEXT = (Passage("a"), Passage("b"), Passage("c"))


def scores_of(*runs: tuple[tuple[int, ...], ...]) -> list[Scores]:
    return [judgement.score(CONTEXT, run, list_is_ranked=True) for run in runs]


def test_a_score_is_the_mean_of_the_runs_and_its_spread_the_widest_gap() -> None:
    runs = scores_of(((1,), ()), ((1,), (2,)), ((1,), (2,)))

    assert pytest.approx(2.5 / 3) == repetition.mean(runs).recall
    assert 0.5 == repetition.spread(runs)["recall"]
    assert pytest.approx(1 / 3) == repetition.spread(runs)["precision"]


def test_one_run_is_its_own_mean() -> None:
    (run,) = scores_of(((1,), ()))

    assert run == repetition.mean([run])
    assert {0.0} == set(repetition.spread([run]).values())


def test_what_is_undefined_has_neither_mean_nor_spread() -> None:
    run = judgement.score(CONTEXT, ((1,),))

    assert repetition.mean([run, run]).ndcg is None
    assert "ndcg" in repetition.mean([run, run]).absent
    assert "ndcg" not in repetition.spread([run, run])


def test_a_score_against_labels_is_the_mean_of_the_runs_that_have_it() -> None:
    cited = GroundTruthScores(evaluator_recall=1.0, evaluator_precision=0.5)
    nothing = GroundTruthScores(
        evaluator_recall=0.0, absent={"evaluator_precision": "nothing was cited"}
    )
    merged = repetition.mean([nothing, cited])

    assert (0.5, 0.5) == (merged.evaluator_recall, merged.evaluator_precision)
    assert {} == merged.absent


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([((1,), (2,))] * 3, 1.0),
        ([((1,), ()), ((1,), (2,))], 0.5),
        ([((1,),), ((1, 2),)], 0.0),
        ([((1,),), ((1,),), ((2,),)], 1 / 3),
        ([((1,), (2,))], 1.0),
        ([(), ()], 1.0),
    ],
)
def test_agreement_is_the_share_of_requirements_with_the_same_citations(
    runs: list[repetition.Citations], expected: float
) -> None:
    assert pytest.approx(expected) == repetition.agreement(runs)


def test_a_citation_stands_where_most_runs_make_it() -> None:
    runs = [((1, 2), ()), ((2,), (3,)), ((2, 3), ())]

    assert ((2,), ()) == repetition.majority(runs)
    assert ((), ()) == repetition.majority([((1,), ()), ((2,), ())])


@given(
    st.integers(1, 3).flatmap(
        lambda k: st.lists(
            st.lists(st.sets(st.integers(1, 3)), min_size=k, max_size=k), min_size=1, max_size=5
        )
    )
)
def test_means_spreads_and_agreement_are_shares(runs: list[list[set[int]]]) -> None:
    scores = [judgement.score(CONTEXT, run, list_is_ranked=True) for run in runs]
    mean, spread = repetition.mean(scores), repetition.spread(scores)

    assert mean.recall is not None
    assert min(s.recall or 0 for s in scores) - 1e-9 <= mean.recall
    assert all(0 <= value <= 1 for value in spread.values())
    assert 0 <= repetition.agreement(runs) <= 1
