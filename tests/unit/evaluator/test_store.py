"""The hold: each change whole, each span once, all of it on disk when it says so."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from seer_otel.errors import ConfigError, StorageFailed
from seer_otel.evaluator.hold.entries import Held, Key, Origin, Outgoing, Release
from seer_otel.evaluator.hold.pruning import Memory
from seer_otel.evaluator.hold.store import Store
from seer_otel.testing import ManualClock
from tests.service.disk import refuse_writes, take_writes

KEY = Key(b"t" * 16, b"s" * 8)


def held(number: int = 0, origin: Origin = "pipeline", request: bytes = b"request") -> Held:
    return Held(Key(b"t" * 16, number.to_bytes(8, "big")), request, origin, 1.0)


def sent(entry: Held) -> Release:
    return Release([Outgoing(entry.request + b"+", 1, "retrieval")])


async def left_behind(store: Store) -> list[Held]:
    await store.count()
    return [entry async for entry in store.left_behind()]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    store = Store(tmp_path, clock)
    yield store
    await store.aclose()


async def test_a_retrieval_is_held_once(store: Store) -> None:
    outcomes = await store.hold([held(1), held(1), held(2)])

    assert ["held", "duplicate", "held"] == outcomes
    assert 2 == store.statistics.held_spans


async def test_it_is_known_after_it_has_left(store: Store, clock: ManualClock) -> None:
    await store.hold([held(1)])
    await store.release(held(1).key, sent)

    assert ["duplicate"] == await store.hold([held(1)])
    clock.advance(Memory().seconds + 1)
    await store.prune()
    assert ["held"] == await store.hold([held(1)])


async def test_a_copy_gives_way_to_the_span_itself(store: Store) -> None:
    await store.hold([held(1, "copy", b"copy")])

    assert ["upgraded"] == await store.hold([held(1, "pipeline", b"span")])
    released = await store.release(held(1).key, sent)
    assert released is not None
    assert ("pipeline", b"span") == (released.origin, released.request)


async def test_a_span_whose_copy_has_left_is_queued_as_it_is_and_once(store: Store) -> None:
    await store.hold([held(1, "copy")])
    await store.release(held(1).key, lambda _: Release([]))
    outcomes = [
        (await store.hold([held(1)]))[0],
        (await store.hold([held(1)]))[0],
        (await store.hold([held(1, "copy")]))[0],
    ]

    assert ["queued", "duplicate", "duplicate"] == outcomes
    assert [b"request"] == [q.outgoing.request for q in await store.waiting(1000, ())]


async def test_a_retrieval_that_left_without_its_verdict_owes_a_carrier(store: Store) -> None:
    await store.hold([held(1)])
    await store.release(held(1).key, lambda entry: Release(sent(entry).outgoing, True))

    assert ["left"] == [entry.origin for entry in await left_behind(store)]
    assert 0 == store.statistics.held_spans
    await store.release(held(1).key, lambda _: Release([Outgoing(b"carrier", 1, "carrier")]))
    assert [] == await left_behind(store)
    assert (1, 1) == (store.statistics.queued_spans, store.statistics.queued_carriers)


async def test_a_release_that_fails_changes_nothing(store: Store) -> None:
    await store.hold([held(1)])

    with pytest.raises(ZeroDivisionError):
        await store.release(held(1).key, lambda _: Release([Outgoing(b"", 1 // 0, "plain")]))
    assert 1 == len(await left_behind(store))
    assert [] == await store.waiting(1000, ())


async def test_the_outbox_is_read_in_order_and_in_measure(store: Store) -> None:
    for letter in (b"a", b"b", b"c"):
        await store.queue(Outgoing(letter * 10, 1, "plain"))
    batch = await store.waiting(20, ())
    rest = await store.waiting(5, {entry.id for entry in batch})

    assert [b"a" * 10, b"b" * 10] == [entry.outgoing.request for entry in batch]
    assert [b"c" * 10] == [entry.outgoing.request for entry in rest]
    await store.sent([entry.id for entry in (*batch, *rest)])
    assert (0, 0) == (store.statistics.queued_spans, store.statistics.queued_bytes)


async def test_all_is_there_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    first = Store(tmp_path, clock)
    await first.hold([held(1), held(2, "copy")])
    await first.queue(Outgoing(b"plain", 3, "plain"))
    await first.keep_record("r1", "{}")
    await first.aclose()
    second = Store(tmp_path, clock)
    entries = await left_behind(second)

    assert [held(1), held(2, "copy")] == entries
    assert (2, 3) == (second.statistics.held_spans, second.statistics.queued_spans)
    assert ("{}", None) == (await second.record("r1"), await second.record("r2"))
    await second.aclose()


async def test_one_commit_answers_many(store: Store) -> None:
    outcomes = await asyncio.gather(*(store.hold([held(number)]) for number in range(500)))

    assert [["held"]] * 500 == outcomes


async def test_what_finds_no_room_does_not_keep_others_from_making_some(store: Store) -> None:
    """One commit serves many: where the disk refuses it, each is tried alone."""
    await store.hold([held(1)])
    await store.run(
        lambda db: db.execute(
            f"PRAGMA max_page_count={db.execute('PRAGMA page_count').fetchone()[0] + 5}"
        )
    )
    may_go_on = threading.Event()
    together = asyncio.gather(
        store.run(lambda _: may_go_on.wait(10)),
        store.hold([held(2, request=b"x" * 100_000)]),
        store.release(held(1).key, sent),
        return_exceptions=True,
    )
    asyncio.get_running_loop().call_soon(may_go_on.set)
    _, refused, released = await together

    assert isinstance(refused, StorageFailed)
    assert "full" in str(refused)
    assert isinstance(released, Held)
    assert [] == await left_behind(store)


async def test_a_disk_that_refuses_is_said_until_it_takes_again(store: Store) -> None:
    await refuse_writes(store)
    with pytest.raises(StorageFailed):
        await store.hold([held(1)])
    refusing = store.trouble
    await take_writes(store)
    await store.hold([held(1)])

    assert refusing is not None
    assert store.trouble is None


async def test_no_jump_of_the_clock_makes_it_forget(tmp_path: Path) -> None:
    clock = ManualClock()
    store = Store(tmp_path, clock)
    await store.hold([held(1)])
    await store.release(held(1).key, sent)
    for jump in (10 * Memory().seconds, -20 * Memory().seconds):
        clock.jump(jump)
        await store.prune()

    assert ["duplicate"] == await store.hold([held(1)])
    await store.aclose()


async def test_a_folder_has_one_owner(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="in use by another evaluator"):
        Store(tmp_path, ManualClock())


def test_a_folder_that_cannot_be_used_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be used"):
        Store(tmp_path / "file" / "folder", ManualClock())


def test_a_file_that_is_no_hold_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "hold.sqlite3").write_bytes(os.urandom(4096))

    with pytest.raises(ConfigError, match="cannot be opened"):
        Store(tmp_path, ManualClock())
