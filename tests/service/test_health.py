"""A part that hangs shows at `/healthz`; one that dies ends the process."""

import asyncio
import threading
from typing import Any

import pytest

from seer_otel.evaluator import wiring
from seer_otel.evaluator.app import PartFailed
from seer_otel.evaluator.forward.forwarder import Forwarder
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.receive.http_server import HttpServer
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.health import MARGIN_S
from seer_otel.evaluator.work.hops import Hops
from seer_otel.evaluator.work.judging import Judging
from seer_otel.evaluator.work.results import Writer
from seer_otel.testing import ManualClock, ScriptedJudge
from tests.service.conftest import Start
from tests.service.spans import SCRIPT, attributes, request, retrieval, span


class Bug(Exception):
    """What nobody expects; its text is content."""


async def hang(*_: Any) -> None:
    await asyncio.Event().wait()


async def test_all_parts_give_signs_of_life(start: Start) -> None:
    service = await start()
    alive = await service.http.get("/healthz")

    assert (200, {"forwarder": "ok", "judging": "ok", "hold": "ok"}) == (
        alive.status_code,
        alive.json(),
    )


@pytest.mark.parametrize(("part", "owner"), [("forwarder", Forwarder), ("judging", Judging)])
async def test_a_part_that_hangs_is_not_alive(
    start: Start, monkeypatch: pytest.MonkeyPatch, part: str, owner: type
) -> None:
    monkeypatch.setattr(owner, "run", hang)
    clock = ManualClock()
    service = await start(clock=clock, shutdown__grace=0.2)
    before = await service.http.get("/healthz")
    clock.advance(MARGIN_S + 5)
    after = await service.http.get("/healthz")

    assert (200, 503) == (before.status_code, after.status_code)
    assert "gives no sign of life (due 5 s ago)" == after.json()[part]
    assert "gives no sign of life (due 5 s ago)" == (await service.http.get("/readyz")).json()[part]


async def test_a_disk_that_hangs_is_not_alive(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "STUCK_S", 0.05)
    service = await start()
    may_go_on = threading.Event()
    writing = asyncio.create_task(service.evaluator.store.run(lambda _: may_go_on.wait(30) or None))

    async def until(status: int) -> str:
        async with asyncio.timeout(10):
            while (told := await service.http.get("/healthz")).status_code != status:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        said: str = told.json()["hold"]
        return said

    silent = await until(503)
    may_go_on.set()
    await writing

    assert silent.startswith("a write takes")
    assert "ok" == await until(200)


@pytest.mark.parametrize(
    ("owner", "part"),
    [
        (Forwarder, "the forwarding"),
        (Judging, "the judging"),
    ],
)
async def test_a_part_that_fails_ends_the_service_and_says_where(
    start: Start, monkeypatch: pytest.MonkeyPatch, owner: type, part: str
) -> None:
    async def fail(*_: Any) -> None:
        raise Bug("what was retrieved")

    monkeypatch.setattr(owner, "run", fail)

    async def serve() -> None:
        await (await start()).ended()

    with pytest.raises(PartFailed) as failed:
        await serve()

    assert str(failed.value).startswith(f"{part} failed: Bug at test_health.py:")
    assert "retrieved" not in str(failed.value)


async def test_a_listener_that_ends_by_itself_ends_the_service(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def end(_: HttpServer) -> None:
        return

    monkeypatch.setattr(HttpServer, "attend", end)

    async def serve() -> None:
        await (await start()).ended()

    with pytest.raises(PartFailed, match="the HTTP listener failed"):
        await serve()


async def test_what_was_accepted_goes_on_after_a_part_has_failed(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = Store.waiting

    async def fail(*_: Any) -> None:
        raise Bug

    service = await start(trace_results__send="marked")
    monkeypatch.setattr(Store, "waiting", fail)
    await service.send(request(retrieval(1), span(2)))
    with pytest.raises(PartFailed):
        await service.ended()
    monkeypatch.setattr(Store, "waiting", waiting)
    service = await start(trace_results__send="marked")
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    await service.stop()

    assert {1} == set(service.backend.counts.values())
    service.assert_accounted()


@pytest.mark.parametrize(
    ("owner", "method"),
    [(Hops, "complete"), (Hops, "add"), (Judging, "_settle"), (Writer, "inline")],
)
async def test_a_retrieval_that_meets_a_bug_leaves_all_the_same(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    owner: type, method: str,
) -> None:  # fmt: skip
    def fail(*_: Any) -> None:
        raise Bug("what was retrieved")

    monkeypatch.setattr(owner, method, fail)
    service = await start(trace_results__send="marked")
    await service.send(request(retrieval(1), span(2)))
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    monkeypatch.undo()
    await service.send(request(retrieval(3)))
    await service.backend.until(lambda: len(service.backend.spans) == 3)
    await service.stop()
    first, last = sorted(service.backend.named("retrieval"), key=lambda s: s.span_id)

    if owner is Writer:  # then nothing can be written on it
        assert "seer.evaluated" not in attributes(first)
    else:
        assert ("failed", "Bug") == tuple(
            attributes(first)[key] for key in ("seer.evaluated", "error.type")
        )
    assert "scored" == attributes(last)["seer.evaluated"]
    assert "Bug at" in caplog.text
    assert "retrieved" not in caplog.text
    service.assert_accounted()


async def test_what_an_earlier_release_held_and_this_one_cannot_read_leaves_as_it_came(
    start: Start,
) -> None:
    service = await start(judge=ScriptedJudge(SCRIPT, delay_s=60), shutdown__held="keep")
    await service.send(request(retrieval(1)))
    await service.evaluator.store.run(
        lambda db: db.execute("UPDATE held SET request = CAST('nonsense' AS BLOB)")
    )
    await service.stop()
    service = await start()
    await service.backend.until(lambda: bool(service.backend.requests))
    await service.stop()

    assert [("traces", b"nonsense")] == service.backend.requests
    assert 1 == service.total(metrics.FORWARDED)
    service.assert_accounted()
