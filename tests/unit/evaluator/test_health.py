"""What `/healthz` and `/readyz` tell: who is silent is not alive, who is unwell is not ready."""

from seer_otel.evaluator.telemetry.health import MARGIN_S, Health
from seer_otel.testing import ManualClock


def test_a_part_that_gives_no_sign_of_life_is_not_alive_until_it_does() -> None:
    clock = ManualClock()
    health = Health(clock)
    pulse = health.pulse("forwarder")
    clock.advance(MARGIN_S + 1)
    silent = health.life(), health.alive, health.ready, health.report()
    pulse.beat()

    assert silent == (
        {"forwarder": "gives no sign of life (due 1 s ago)"},
        False,
        False,
        {"forwarder": "gives no sign of life (due 1 s ago)"},
    )
    assert ({"forwarder": "ok"}, True, True, {}) == (
        health.life(),
        health.alive,
        health.ready,
        health.report(),
    )


def test_a_part_may_say_that_it_will_be_busy() -> None:
    clock = ManualClock()
    health = Health(clock)
    health.pulse("forwarder").beat(300.0)
    clock.advance(300.0 + MARGIN_S)
    busy = health.alive
    clock.advance(1.0)

    assert (True, False) == (busy, health.alive)


def test_a_part_that_is_unwell_lives() -> None:
    health = Health(ManualClock())
    health.register("judge", lambda: "judge_timeout (judge_timeout)")
    health.register("intake", lambda: None)

    assert (True, False) == (health.alive, health.ready)
    assert {"judge": "judge_timeout (judge_timeout)", "intake": "ok"} == health.report()


def test_a_jump_of_the_clock_is_no_silence() -> None:
    clock = ManualClock()
    health = Health(clock)
    health.pulse("judging")
    clock.jump(1e6)

    assert health.alive
