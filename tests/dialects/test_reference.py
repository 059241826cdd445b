"""The page of instrumentations."""

from pathlib import Path

import pytest

from seer_otel.dialects import DIALECTS
from seer_otel.dialects.reading import Instrumentation
from seer_otel.dialects.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "instrumentations.md"
ALL = [written_by for dialect in DIALECTS for written_by in dialect.instrumentations]


def test_the_page_says_what_the_dialects_say() -> None:
    assert page() == PAGE.read_text()


@pytest.mark.parametrize("name", [*(dialect.name for dialect in DIALECTS), "tool"])
def test_every_dialect_is_on_the_page(name: str) -> None:
    assert f"| `{name}` |" in page()


@pytest.mark.parametrize("written_by", ALL, ids=lambda written_by: written_by.name)
def test_what_is_said_fits_a_cell(written_by: Instrumentation) -> None:
    cells = (written_by.name, written_by.needs, written_by.lost)

    assert [] == [cell for cell in cells if not cell.strip() or "|" in cell or "\n" in cell]
