"""Documents in the shapes that are in use."""

import json
import math
from typing import Any

import pytest

from seer_otel.dialects import passages
from seer_otel.dialects.passages import ABSENT, CUT, DROPPED, EMPTY, Documents
from seer_otel.retrieval import Passage


def only(documents: Documents) -> Passage:
    (passage,) = documents.passages
    return passage


@pytest.mark.parametrize(
    "item",
    [
        "A text.",
        {"content": "A text."},
        {"page_content": "A text."},
        {"text": "A text."},
        {"document": "A text."},
        {"document": {"content": "A text."}},
        {"document.content": "A text."},
        {"node": {"text": "A text."}},
        ["A text.", 0.5],
        [{"page_content": "A text."}, None],
        {"content": "", "text": "A text."},
        {"content": None, "page_content": "A text."},
        {"content": "A text.", "metadata": {"content": "Not this.", "text": "Nor this."}},
    ],
)
def test_a_text_is_read_under_every_key_in_use(item: Any) -> None:
    assert "A text." == only(passages.listed([item])).text


def test_the_dialects_own_key_goes_first() -> None:
    item = {"content": "Theirs.", "text": "Ours."}

    assert "Theirs." == only(passages.listed([item])).text
    assert "Ours." == only(passages.listed([item], "text")).text


@pytest.mark.parametrize(
    "item",
    [
        {"body": "A text."},
        {},
        {"content": 12},
        {"content": ["A text."]},
        None,
        12,
        ["x"],
        ["x", "y"],
    ],
)
def test_other_keys_and_other_items_hold_no_text_but_keep_their_place(item: Any) -> None:
    documents = passages.listed([item, "A text."])

    assert [None, "A text."] == [passage.text for passage in documents.passages]


def test_a_text_is_kept_as_it_stands_but_for_lone_surrogates() -> None:
    texts = ["  A\ttext. \n", "e\u0301", "a \ud83d b", "", " "]

    expected = ["  A\ttext. \n", "e\u0301", "a \ufffd b", "", " "]
    assert expected == [passage.text for passage in passages.listed(texts).passages]


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (0.5, 0.5),
        (2, 2.0),
        ("0.75", 0.75),
        (" -1e-3 ", -0.001),
        (math.nan, None),
        (math.inf, None),
        ("NaN", None),
        ("inf", None),
        ("1_000", None),
        ("high", None),
        (True, None),
        (None, None),
        ([0.5], None),
        (10**400, None),
        ("9" * 100_000, None),
    ],
)
def test_numbers_in_text_count_and_what_is_no_number_is_none(
    value: Any, score: float | None
) -> None:
    assert score == only(passages.listed([{"text": "t", "score": value}])).score


@pytest.mark.parametrize(
    ("value", "identifier"),
    [("a", "a"), (12, "12"), ("", None), (True, None), (None, None), ([1], None), (1.5, "1.5")],
)
def test_ids_are_texts(value: Any, identifier: str | None) -> None:
    assert identifier == only(passages.listed([{"text": "t", "id": value}])).id


def test_fields_inside_metadata_are_the_applications() -> None:
    metadata = {"id": "x", "score": 5, "rank": 1}
    item = {"text": "t", "metadata": metadata}

    assert Passage("t", metadata=metadata) == only(passages.listed([item]))


def test_a_wrapper_may_hold_the_id_or_the_score() -> None:
    item = {"node": {"id_": "n1", "text": "t"}, "score": 0.5}
    other = {"document": {"id": "d1", "content": "t", "score": 0.5}, "id": "row"}

    assert Passage("t", id="n1", score=0.5) == only(passages.listed([item]))
    assert Passage("t", id="d1", score=0.5) == only(passages.listed([other]))
    assert Passage("t", id="n1", score=0.5) == only(
        passages.listed([[{"id": "n1", "text": "t"}, 0.5]])
    )


def test_metadata_may_be_json() -> None:
    item = {"text": "t", "metadata": '{"source": "wiki"}'}

    assert {"source": "wiki"} == only(passages.listed([item])).metadata


@pytest.mark.parametrize(
    "value",
    [
        ["a", "b"],
        ("a", "b"),
        '["a", "b"]',
        json.dumps('["a", "b"]'),
        {"documents": ["a", "b"]},
        '{"documents": ["a", "b"], "count": 2}',
    ],
)
def test_an_attribute_holds_its_documents_in_every_encoding(value: Any) -> None:
    assert ["a", "b"] == [p.text for p in passages.in_attribute(value).passages]


@pytest.mark.parametrize("value", [[], (), "[]", " [ ] ", {"documents": []}, '{"documents": []}'])
def test_an_empty_list_is_an_empty_result(value: Any) -> None:
    assert EMPTY == passages.in_attribute(value)
    assert passages.is_empty_result(value)


@pytest.mark.parametrize("value", [None, "", " ", "null", 12, True, b"[]", "12"])
def test_nothing_is_no_empty_result(value: Any) -> None:
    assert ABSENT == passages.in_attribute(value)
    assert not passages.is_empty_result(value)


@pytest.mark.parametrize("value", ['["a", "b', '[{"content": "a"}, {"cont', "[" * 100_000, "words"])
def test_what_does_not_parse_was_cut(value: str) -> None:
    assert CUT == passages.in_attribute(value)


@pytest.mark.parametrize(
    "value",
    [
        "__REDACTED__",
        '"__REDACTED__"',
        ["__REDACTED__"],
        [{"id": "a", "content": "__REDACTED__"}],
    ],
)
def test_documents_may_be_hidden(value: Any) -> None:
    assert "hidden" == passages.in_attribute(value).kind


def test_one_readable_text_among_hidden_ones_is_a_context() -> None:
    documents = passages.in_attribute(["__REDACTED__", "A text."])

    assert Documents("listed", (Passage(None), Passage("A text."))) == documents


def test_what_a_function_returned_may_be_one_text() -> None:
    assert ["A text."] == [p.text for p in passages.returned("A text.").passages]
    assert ["A text."] == [p.text for p in passages.returned('"A text."').passages]
    assert passages.in_attribute('["a"]') == passages.returned('["a"]')


@pytest.mark.parametrize("value", [None, "", " ", "null", 12])
def test_a_function_that_returned_nothing_returned_no_documents(value: Any) -> None:
    assert ABSENT == passages.returned(value)


def test_what_a_function_returned_may_be_cut() -> None:
    assert CUT == passages.returned('["a", "b')


def flat(count: int, first: int = 0) -> dict[str, Any]:
    return {
        f"docs.{n}.document.{field}": f"{field} {n}"
        for n in range(first, first + count)
        for field in ("id", "content")
    }


def test_flattened_keys_go_by_their_number() -> None:
    shuffled = dict(sorted(flat(12).items()))

    documents = passages.flattened(shuffled, "docs", dropped=0)

    assert [f"content {n}" for n in range(12)] == [p.text for p in documents.passages]
    assert [f"id {n}" for n in range(12)] == [p.id for p in documents.passages]


@pytest.mark.parametrize(
    ("attributes", "dropped"), [(flat(3, first=1), 0), (flat(3), 1), (flat(3, first=8), 37)]
)
def test_a_remnant_of_flattened_keys_is_no_context(
    attributes: dict[str, Any], dropped: int
) -> None:
    assert DROPPED == passages.flattened(attributes, "docs", dropped=dropped)


@pytest.mark.parametrize(
    "key",
    [
        "docs",
        "docs.",
        "docs.0",
        "docs.x.document.content",
        "docsX0.document.content",
        "docs.-1.document.content",
        f"docs.{'9' * 5_000}.document.content",
        "other.0.document.content",
    ],
)
def test_other_keys_are_no_documents(key: str) -> None:
    assert ABSENT == passages.flattened({key: "t"}, "docs", dropped=0)


def test_ids_are_taken_from_another_listing_of_the_same_documents_only() -> None:
    documents = passages.listed(["a", "b"])
    same = {"documents": [{"id": 1, "page_content": "a"}, {"id": 2, "page_content": "b"}]}
    other = {"documents": [{"id": 1, "page_content": "b"}, {"id": 2, "page_content": "a"}]}
    fewer = {"documents": [{"id": 1, "page_content": "a"}]}

    assert ["1", "2"] == [p.id for p in passages.with_ids(documents, same).passages]
    assert documents == passages.with_ids(documents, other)
    assert documents == passages.with_ids(documents, fewer)
    assert documents == passages.with_ids(documents, "no list")
    assert documents == passages.with_ids(documents, None)


def test_a_list_beyond_all_measure_is_cut_and_says_so() -> None:
    documents = passages.listed(["t"] * 10_003)

    assert (10_000, 3) == (len(documents.passages), documents.left_out)
