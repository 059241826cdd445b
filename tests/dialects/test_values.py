"""Plain values out of attributes."""

from typing import Any

import pytest

from seer_otel.dialects.values import flag, integer, json_object, parse_json, parse_literal


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, True), ("True", True), (" false ", False), ("yes", None), (1, None), (None, None)],
)
def test_flags_may_be_texts(value: Any, expected: bool | None) -> None:
    assert expected is flag(value)


@pytest.mark.parametrize(
    ("value", "expected"), [(2, 2), ("2", 2), (2.0, 2), (2.5, None), ("", None)]
)
def test_whole_numbers_may_be_texts(value: Any, expected: int | None) -> None:
    assert expected == integer(value)


@pytest.mark.parametrize("value", ["[]", "{", "x", None, 12, "{" * 100_000])
def test_what_is_no_object_is_an_empty_one(value: Any) -> None:
    assert {} == json_object(value)


def test_what_json_does_not_have_is_none() -> None:
    assert [None, None, None] == parse_json(f"[NaN, -Infinity, {'9' * 5_000}]")


@pytest.mark.parametrize("source", ["", "x", "{'a': 1}", "[" * 100_000])
def test_what_is_no_json_is_told(source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(source)


def test_a_repr_of_plain_values_is_read() -> None:
    assert {"id": 7, "text": "it's"} == parse_literal(" {'id': 7, 'text': \"it's\"}")


@pytest.mark.parametrize(
    "source",
    [
        "",
        "open('x')",
        "<Node object at 0x1>",
        "{'a': nan}",
        "{[]: 1}",
        "[" * 100_000,
        "-" * 900_000 + "1",
        "1+" * 100_000 + "1",
        "[" + "1," * 600_000 + "]",
        "'\0'",
    ],
    ids=range(10),
)
def test_what_is_no_literal_is_told_and_never_run(source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_literal(source)
