"""A context comes before a judge within limits, each document once, nothing lost unsaid."""

from seer_otel.judge.layout import Document, Layout, Limits, lay_out
from seer_otel.retrieval import Passage


def laid(*texts: str | None, limits: Limits | None = None) -> Layout:
    return lay_out([Passage(text) for text in texts], limits or Limits())


def numbered(count: int, length: int) -> list[str]:
    return [f"{n:04}".ljust(length, "x") for n in range(count)]


def sizes(layout: Layout) -> list[int]:
    return [len(call) for call in layout.calls]


def test_identical_texts_are_one_document() -> None:
    layout = laid("a b", "caf\u00e9", "a \n b", "cafe\u0301")

    assert layout.calls == ((Document("a b", (1, 3)), Document("caf\u00e9", (2, 4))),)
    assert layout.passages == 4


def test_unreadable_items_keep_their_place_and_are_not_shown() -> None:
    layout = laid(None, "a", " \n", "", "b")

    assert layout.calls == ((Document("a", (2,)), Document("b", (5,))),)
    assert layout.passages == 2
    assert layout.unreadable == 3
    assert len(layout.context) == 5


def test_nothing_readable_takes_no_call() -> None:
    assert laid().calls == laid("", " ").calls == ()


def test_fifty_passages_of_four_thousand_characters_are_one_call() -> None:
    assert sizes(laid(*numbered(50, 4_000))) == [50]


def test_the_fifty_first_passage_takes_a_second_call() -> None:
    assert sizes(laid(*numbered(51, 4_000))) == [50, 1]


def test_a_longer_passage_counts_as_several_and_is_not_cut() -> None:
    layout = laid(*numbered(49, 10), "y" * 4_001)

    assert sizes(layout) == [49, 1]
    assert len(layout.calls[1][0].text) == 4_001
    assert (layout.passages_dropped, layout.characters_dropped) == (0, 0)


def test_a_passage_too_long_for_a_call_has_one_to_itself() -> None:
    limits = Limits(passages_per_call=2, characters_per_passage=10)

    assert sizes(laid("a", "b" * 100, "c", "d", limits=limits)) == [1, 1, 2]


def test_what_is_beyond_the_hard_limits_is_cut_and_counted() -> None:
    limits = Limits(max_passages=2, max_characters=5)
    layout = laid("", "abcdefg", "hijklm", "n", "", "o", limits=limits)

    assert [p.text for p in layout.context] == ["", "abcde", "hijkl"]
    assert [p.truncated for p in layout.context] == [False, True, True]
    assert layout.passages == 2
    assert layout.passages_dropped == 2
    assert layout.characters_dropped == 3


def test_an_unreadable_tail_is_no_surplus() -> None:
    layout = laid("a", "", limits=Limits(max_passages=1))

    assert layout.unreadable == 1
    assert layout.passages_dropped == 0
