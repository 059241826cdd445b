"""Rates of the last minute, and labels one by one."""

from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.telemetry.recent import EVERY_S, Recent
from seer_otel.testing import ManualClock


def test_a_rate_is_over_the_last_minute() -> None:
    clock, telemetry = ManualClock(), Telemetry()
    recent = Recent(telemetry, clock, [metrics.ACCEPTED])
    rates = []
    for growth in (100,) * 6 + (0,) * 6:
        telemetry.count(metrics.ACCEPTED, growth)
        clock.advance(EVERY_S)
        recent.look()
        rates.append(recent.per_minute()["seer.spans.accepted"])

    assert [600.0] * 6 == rates[:6]
    assert [500.0, 400.0, 300.0, 200.0, 100.0, 0.0] == rates[6:]


def test_at_the_start_it_is_over_what_has_gone_by() -> None:
    clock, telemetry = ManualClock(), Telemetry()
    recent = Recent(telemetry, clock, [metrics.ACCEPTED])
    telemetry.count(metrics.ACCEPTED, 10)
    clock.advance(30.0)

    assert {"seer.spans.accepted": 20.0} == recent.per_minute()


def test_what_was_counted_is_told_by_its_labels() -> None:
    telemetry = Telemetry()
    telemetry.count(metrics.REFUSED, 2, reason="storage")
    telemetry.count(metrics.RETRIEVALS, dialect="seer", evaluated="scored", reason="")

    assert [{"reason": "storage", "count": 2.0}] == telemetry.by_labels(metrics.REFUSED)
    assert [{"dialect": "seer", "evaluated": "scored", "count": 1.0}] == telemetry.by_labels(
        metrics.RETRIEVALS
    )
