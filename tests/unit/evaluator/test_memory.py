"""What a judge said and cost is there after a restart; a disk that fails stops nobody."""

from pathlib import Path

import pytest

from seer_otel.errors import StorageFailed
from seer_otel.evaluator.hold import pruning
from seer_otel.evaluator.hold.memory import StoredAnswers, StoredRequirements, StoredSpending
from seer_otel.evaluator.hold.store import Store
from seer_otel.judge.budget import Spent
from seer_otel.judge.protocol import Support
from seer_otel.testing import ManualClock

ANSWER = Support({1: (1, 3), 2: ()}, low_confidence=frozenset({2}))


async def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    first = Store(tmp_path, clock)
    await StoredRequirements(first, clock).put("query", "judge", ("one", "dwa"))
    await StoredAnswers(first, clock).put(b"question", ANSWER)
    await StoredSpending(first, clock).put("2026-11-30", Spent(3, 1_000, 0.25))
    await first.aclose()
    second = Store(tmp_path, clock)
    requirements, answers = StoredRequirements(second, clock), StoredAnswers(second, clock)
    spending = StoredSpending(second, clock)

    assert ("one", "dwa") == await requirements.get("query", "judge")
    assert await requirements.get("query", "another judge") is None
    assert ANSWER == await answers.get(b"question")
    assert await answers.get(b"another question") is None
    assert Spent(3, 1_000, 0.25) == await spending.get("2026-11-30")
    await second.aclose()


async def test_the_first_list_of_requirements_stands(tmp_path: Path) -> None:
    clock = ManualClock()
    store = Store(tmp_path, clock)
    memory = StoredRequirements(store, clock)
    for texts in (("one",), ("two",)):
        await memory.put("query", "judge", texts)

    assert ("one",) == await memory.get("query", "judge")
    await store.aclose()


async def test_only_the_last_day_is_kept(tmp_path: Path) -> None:
    clock = ManualClock()
    store = Store(tmp_path, clock)
    memory = StoredSpending(store, clock)
    for day in ("2026-11-29", "2026-11-30"):
        await memory.put(day, Spent(1))

    assert await memory.get("2026-11-29") is None
    assert Spent(1) == await memory.get("2026-11-30")
    await store.aclose()


async def test_answers_are_bounded_by_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "ANSWERS_AT_MOST", 2)
    clock = ManualClock()
    store = Store(tmp_path, clock)
    memory = StoredAnswers(store, clock)
    for number in range(4):
        clock.advance(1.0)
        await memory.put(bytes([number]), ANSWER)
    await store.prune()
    kept = [number for number in range(4) if await memory.get(bytes([number])) is not None]

    assert [2, 3] == kept
    await store.aclose()


async def test_a_disk_that_refuses_is_a_memory_that_knows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = ManualClock()
    store = Store(tmp_path, clock)

    async def full(job: object) -> None:
        raise StorageFailed("the disk is full")

    monkeypatch.setattr(store, "run", full)
    memory = StoredAnswers(store, clock)
    for _ in range(3):
        await memory.put(b"question", ANSWER)

    assert await memory.get(b"question") is None
    assert ["the judge's memory cannot be used: the disk is full"] == caplog.messages
    await store.aclose()
