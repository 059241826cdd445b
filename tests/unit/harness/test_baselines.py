"""Baselines are what they say, and nothing better."""

import pytest

from seer_otel.errors import ConfigError
from seer_otel.harness.baselines import bm25, cosine, everything, open_baseline
from seer_otel.judge.protocol import Asked, Question

QUERY = "Who directed Inception?"
PASSAGES = ("Berlin has a zoo.", "Inception was directed by Nolan.", "Nolan directed Tenet.")


async def citations(name: str, *passages: str) -> tuple[int, ...]:
    judge = open_baseline(f"baseline:{name}")
    (requirement,) = (await judge.requirements(QUERY)).texts
    question = Question(
        (Asked("task", QUERY, {1: requirement}),), dict(enumerate(passages, start=1))
    )
    return (await judge.support(question)).citations[1]


@pytest.mark.parametrize(
    ("name", "expected"), [("all", (1, 2, 3)), ("bm25", (2,)), ("cosine", (2,))]
)
async def test_passages_near_the_best_are_cited(name: str, expected: tuple[int, ...]) -> None:
    assert expected == await citations(name, *PASSAGES)


@pytest.mark.parametrize("name", ["bm25", "cosine"])
async def test_nothing_in_common_is_nothing_cited(name: str) -> None:
    assert () == await citations(name, "Berlin has a zoo.", "It rains.")


@pytest.mark.parametrize("rank", [bm25, cosine])
def test_the_only_document_with_a_term_ranks_first_in_a_tiny_corpus(rank: object) -> None:
    assert callable(rank)
    first, second = rank("error", ["Error in line 7.", "All is well."])

    assert first > second == 0


@pytest.mark.parametrize("rank", [everything, bm25, cosine])
def test_no_passages_have_no_scores(rank: object) -> None:
    assert callable(rank)
    assert [] == rank(QUERY, [])


def test_a_name_that_is_unknown_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="baseline:all, baseline:bm25, baseline:cosine"):
        open_baseline("baseline:best")
