"""What counts as one statement of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seer_otel.judge.statements import statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Refunds take 30 days. They cost 5.50 EUR.", 2),
        ("Refunds take 30 days; members pay nothing", 2),
        ("- Refunds take 30 days\n- Members pay nothing\n", 2),
        ("1. Refunds take 30 days\n2. Members pay nothing", 2),
        ("Dr. J. Smith signs it, e.g. on Jan. 5, at No. 7.", 1),
        ("退款需要三十天。费用是五元。", 2),
        ('He said: "It is closed." Then he left.', 2),
        ("The fee is waived. The fee is waived.", 1),
        ("", 0),
        ("--- \n ***", 0),
    ],
)
def test_sentences_items_and_clauses_are_statements(text: str, expected: int) -> None:
    assert expected == len(statements(text))


def test_bullets_are_no_part_of_a_statement() -> None:
    assert ("Refunds take 30 days", "Members pay nothing") == statements(
        "* Refunds take 30 days\n(b) Members pay nothing"
    )


@given(st.text(alphabet='ab .;!?\n-。1("', max_size=60))
def test_no_letter_is_lost(text: str) -> None:
    said = "".join(statements(text))

    assert set(filter(str.isalpha, text)) == set(filter(str.isalpha, said))
