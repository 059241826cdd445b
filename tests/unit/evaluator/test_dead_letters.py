"""Dead letters: whole or not there, named by what they hold, told in an index."""

from pathlib import Path

import pytest

from seer_otel.errors import StorageFailed
from seer_otel.evaluator.forward.dead_letters import FOLDER, INDEX, DeadLetters, Entry, letters
from seer_otel.testing import ManualClock


async def test_a_letter_is_there_with_what_is_told_of_it(tmp_path: Path) -> None:
    clock = ManualClock()
    kept = DeadLetters(tmp_path, clock)
    await kept.keep(b"first", 1, "INVALID_ARGUMENT: no")
    await kept.keep(b"second", 3, "partial success: 3 rejected", partial=True)
    found = [(path.read_bytes(), entry) for path, entry in letters(tmp_path)]

    assert [b"first", b"second"] == [content for content, _ in found]
    assert [
        (1, "INVALID_ARGUMENT: no", False),
        (3, "partial success: 3 rejected", True),
    ] == [(e.spans, e.reason, e.partial) for _, e in found if e is not None]


async def test_the_same_request_twice_is_one_letter(tmp_path: Path) -> None:
    kept = DeadLetters(tmp_path, ManualClock())
    for _ in range(2):
        await kept.keep(b"request", 1, "no")

    assert 1 == len(list(letters(tmp_path)))


async def test_a_letter_without_a_line_is_one(tmp_path: Path) -> None:
    kept = DeadLetters(tmp_path, ManualClock())
    await kept.keep(b"request", 1, "no")
    (tmp_path / FOLDER / INDEX).write_bytes(b'{"file": "cut of\n[]\n{"other": 1}\n')

    assert [None] == [entry for _, entry in letters(tmp_path)]


async def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    await DeadLetters(tmp_path, ManualClock()).keep(b"request", 1, "no")

    assert 0o700 == (tmp_path / FOLDER).stat().st_mode & 0o777


async def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way")

    with pytest.raises(StorageFailed, match="could not be written"):
        await DeadLetters(tmp_path, ManualClock()).keep(b"request", 1, "no")


def test_no_folder_is_no_letters(tmp_path: Path) -> None:
    assert [] == list(letters(tmp_path))


def test_an_entry_is_what_it_was() -> None:
    assert Entry("f", 1, "r", 2.0) == Entry("f", 1, "r", 2.0, partial=False)
