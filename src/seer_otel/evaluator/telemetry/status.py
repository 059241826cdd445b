"""What the service is doing, in one page of JSON: for people, and for `seer-otel status`."""

from collections.abc import Mapping
from typing import Any, Final

from seer_otel import __version__
from seer_otel.clock import Clock
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.health import Health
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.telemetry.recent import Recent

SPANS: Final = {
    "accepted": metrics.ACCEPTED,
    "forwarded": metrics.FORWARDED,
    "held": metrics.HELD,
    "dead_lettered": metrics.DEAD_LETTERED,
    "duplicate": metrics.DUPLICATE,
    "judged_only": metrics.JUDGED_ONLY,
}
RATES: Final = (metrics.ACCEPTED, metrics.FORWARDED, metrics.RETRIEVALS, metrics.JUDGE_CALLS)


class Status:
    """Puts the page together."""

    def __init__(
        self,
        telemetry: Telemetry,
        health: Health,
        store: Store,
        clock: Clock,
        *,
        max_bytes: int,
        judge: str,
        next_hop: str | None,
    ) -> None:
        self._telemetry = telemetry
        self._health = health
        self._store = store
        self._clock = clock
        self._max_bytes = max_bytes
        self._judge = judge
        self._next_hop = next_hop
        self._started_s = clock.monotonic()
        self.recent = Recent(telemetry, clock, RATES)

    def page(self) -> Mapping[str, Any]:
        """Return what is to be said now."""
        total = self._telemetry.total
        report = self._health.report()
        statistics = self._store.statistics
        return {
            "version": __version__,
            "uptime_s": round(self._clock.monotonic() - self._started_s, 1),
            "ready": self._health.ready,
            "parts": report,
            "hold": {
                "retrievals_waiting": statistics.held_spans,
                "spans_queued": statistics.queued_spans,
                "carriers_queued": statistics.queued_carriers,
                "bytes": statistics.held_bytes + statistics.queued_bytes,
                "max_bytes": self._max_bytes,
                "oldest_age_s": round(total(metrics.OLDEST_AGE), 1),
            },
            "spans": {name: total(metric) for name, metric in SPANS.items()},
            "per_minute": {n: round(rate, 1) for n, rate in self.recent.per_minute().items()},
            "retrievals": self._telemetry.by_labels(metrics.RETRIEVALS),
            "refused": self._telemetry.by_labels(metrics.REFUSED),
            "judge": {"name": self._judge, "calls": self._telemetry.by_labels(metrics.JUDGE_CALLS)},
            "next_hop": self._next_hop,
        }
