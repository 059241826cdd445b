"""Clocks are set, forwards and backwards, while the service works."""

from pathlib import Path

import pytest

from seer_otel.clock import SystemClock
from seer_otel.evaluator.telemetry import metrics
from seer_otel.testing import ScriptedJudge
from tests.service.backend import Backend
from tests.service.conftest import Start, running
from tests.service.spans import SCRIPT, attributes, request, retrieval, span


class WrongClock:
    """The machine's, set by hand."""

    def __init__(self) -> None:
        self._system = SystemClock()
        self.wrong_by_s = 0.0

    def now(self) -> float:
        return self._system.now() + self.wrong_by_s

    def monotonic(self) -> float:
        return self._system.monotonic()


JUMPS = [3600 * 24 * 400.0, -3600 * 24 * 400.0]


@pytest.mark.parametrize("jump_s", JUMPS, ids=["forwards", "backwards"])
async def test_a_jump_releases_nothing_early_and_forgets_nothing(
    start: Start, jump_s: float
) -> None:
    clock = WrongClock()
    service = await start(
        judge=ScriptedJudge(SCRIPT, delay_s=0.5), clock=clock, trace_results__send="marked"
    )
    await service.send(request(retrieval(1), span(2)))
    clock.wrong_by_s = jump_s
    await service.backend.until(lambda: len(service.backend.spans) == 2)
    await service.evaluator.store.prune()
    await service.send(request(retrieval(1)))
    ready = await service.http.get("/readyz")
    await service.stop()

    (scored,) = service.backend.named("retrieval")
    assert "scored" == attributes(scored)["seer.evaluated"]
    assert 1 == service.total(metrics.DUPLICATE)
    assert 200 == ready.status_code
    service.assert_accounted()


@pytest.mark.parametrize("jump_s", JUMPS, ids=["forwards", "backwards"])
async def test_what_was_held_before_a_jump_and_a_restart_leaves_after_it(
    next_hop: Backend, tmp_path: Path, jump_s: float
) -> None:
    clock = WrongClock()
    hanging = ScriptedJudge(SCRIPT, delay_s=60)
    async with running(tmp_path, hanging, next_hop, clock=clock, shutdown__held="keep") as service:
        await service.send(request(retrieval(1)))
    clock.wrong_by_s = jump_s
    async with running(
        tmp_path, ScriptedJudge(SCRIPT), next_hop, clock=clock, hold__seconds=5
    ) as service:
        await next_hop.until(lambda: len(next_hop.named("retrieval")) == 1, timeout_s=8)
        await service.stop()
        service.assert_accounted()

    assert {1} == set(next_hop.counts.values())
