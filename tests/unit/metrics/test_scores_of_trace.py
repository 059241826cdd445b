"""What hops show together means what the documentation says."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.metrics.trace import (
    Hop,
    cumulative_recall,
    final_hop,
    new_requirements,
    redundancy,
)
from seer_otel.retrieval import Passage

contexts = st.lists(st.builds(Passage, text=st.sampled_from(["", "a", " a", "b", "c"])), max_size=5)


@st.composite
def traces(draw: st.DrawFn) -> list[Hop]:
    requirements = draw(st.integers(0, 4))
    cited = st.lists(st.integers(0, 6), max_size=3)
    hops = st.builds(
        Hop,
        context=contexts,
        requirements=st.lists(cited, min_size=requirements, max_size=requirements),
        end_ns=st.integers(0, 10**6),
        is_final_context=st.booleans(),
    )
    return draw(st.lists(hops, min_size=1, max_size=5, unique_by=lambda hop: hop.end_ns))


def hop(*texts: str, cites: list[list[int]], end: int, final: bool = False) -> Hop:
    return Hop([Passage(text) for text in texts], cites, end, final)


def test_hops_together_support_what_none_supports_alone() -> None:
    hops = [hop("a", cites=[[1], [], []], end=1), hop("b", cites=[[], [1], []], end=2)]

    assert cumulative_recall(hops) == 2 / 3
    assert new_requirements(hops) == ((1,), (2,))


def test_a_requirement_is_new_in_the_hop_that_ended_first() -> None:
    hops = [hop("a", cites=[[1], [1]], end=2), hop("b", cites=[[1], []], end=1)]

    assert new_requirements(hops) == ((2,), (1,))


def test_a_marked_hop_is_final_though_another_ended_later() -> None:
    marked = hop("a", cites=[], end=1, final=True)

    assert final_hop([marked, hop("b", cites=[], end=2)]) is marked


def test_of_several_marked_hops_the_last_to_end_is_final() -> None:
    first = hop("a", cites=[], end=1, final=True)
    last = hop("b", cites=[], end=3, final=True)

    assert final_hop([last, first, hop("c", cites=[], end=9)]) is last


def test_with_none_marked_the_last_to_end_is_final() -> None:
    last = hop("a", cites=[], end=2)

    assert final_hop([last, hop("b", cites=[], end=1)]) is last


def test_a_trace_without_hops_has_no_final_hop() -> None:
    with pytest.raises(ValueError, match="empty"):
        final_hop([])


def test_a_copy_within_a_hop_is_not_redundant() -> None:
    hops = [hop("a", cites=[], end=1), hop("b", "b", " a ", "", cites=[], end=2)]

    assert redundancy(hops) == 1 / 3


def test_a_single_hop_has_no_redundancy() -> None:
    assert redundancy([hop("a", "a", cites=[], end=1)]) is None


def test_a_task_that_needs_nothing_has_no_cumulative_recall() -> None:
    assert cumulative_recall([hop("a", cites=[], end=1)]) is None


def test_recalls_over_different_requirements_are_refused() -> None:
    hops = [hop("a", cites=[[1]], end=1), hop("a", cites=[[1], []], end=2)]

    with pytest.raises(ValueError, match=r"differ in their requirements: \[1, 2\]"):
        cumulative_recall(hops)


@given(traces())
def test_shares_of_a_trace_lie_between_0_and_1(hops: list[Hop]) -> None:
    assert all(0 <= share <= 1 for share in (cumulative_recall(hops), redundancy(hops)) if share)


@given(traces())
def test_every_supported_requirement_is_new_exactly_once(hops: list[Hop]) -> None:
    new = [requirement for found in new_requirements(hops) for requirement in found]
    supported = set().union(*(hop.supported() for hop in hops))

    assert sorted(new) == sorted(supported)


@given(traces(), st.randoms())
def test_the_order_in_which_hops_arrive_is_nothing(hops: list[Hop], chance: random.Random) -> None:
    arrived = chance.sample(hops, len(hops))

    assert final_hop(arrived) is final_hop(hops)
    assert cumulative_recall(arrived) == cumulative_recall(hops)
    assert redundancy(arrived) == redundancy(hops)
    assert {
        hop.end_ns: new for hop, new in zip(arrived, new_requirements(arrived), strict=True)
    } == {hop.end_ns: new for hop, new in zip(hops, new_requirements(hops), strict=True)}
