"""The worked lists of requirements: right ones pass, wrong ones do not, whatever is wrong."""

import pytest
from bench.requirements import Worked, is_right, worked

LISTS = worked()


@pytest.mark.parametrize("each", LISTS, ids=[each.query[:40] for each in LISTS])
def test_right_lists_pass_and_wrong_ones_do_not(each: Worked) -> None:
    passed = {why: is_right(each.pieces, wrong) for why, wrong in each.bad.items()}

    assert is_right(each.pieces, each.good)
    assert dict.fromkeys(each.bad, False) == passed


def test_order_does_not_matter_and_number_does() -> None:
    assert is_right(["a", "b"], ["b", "a"])
    assert not is_right(["a", "b"], ["a"])
    assert not is_right(["a"], ["a", "a"])
    assert is_right([], [])
