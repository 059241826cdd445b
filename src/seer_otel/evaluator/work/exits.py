"""
Every way out of the hold.

A retrieval leaves inline, with its results or the reason why there are none, or it is judged only
and a carrier leaves in its stead. Each exit is one transaction, has a name, and is counted.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from seer_otel.dialects.attach import unevaluated
from seer_otel.dialects.trace import Node
from seer_otel.errors import StorageFailed
from seer_otel.evaluator.hold.entries import Held, Key, Outgoing, Release
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.work import results
from seer_otel.retrieval import Retrieval
from seer_otel.semconv import ERROR_TYPE, EVALUATED, REASON
from seer_otel.verdict import Outcome, Record, Verdict

log = logging.getLogger(__name__)

FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 15.0
"""Between two attempts, while the disk refuses."""

T = TypeVar("T")


class Exits:
    """Writes what leaves into the outbox, and says that it is there."""

    def __init__(
        self,
        store: Store,
        writer: results.Writer,
        telemetry: Telemetry,
        *,
        forwarding: bool = True,
        released: Callable[[], None] = lambda: None,
        log_records: Callable[[bytes], None] | None = None,
    ) -> None:
        self._store = store
        self._writer = writer
        self._telemetry = telemetry
        self._forwarding = forwarding
        self._released = released
        self._log_records = log_records

    async def scored(self, key: Key, retrieval: Retrieval, verdict: Verdict) -> None:
        """Let a retrieval leave with its verdict, which may say that judging it failed."""
        before = await self._leave(key, verdict, {}, results.record(retrieval, verdict))
        if before is None:
            return
        first = verdict.evaluations[0]
        self._count(retrieval.dialect, first.status, first.reason or "")
        self._record_scores(verdict, retrieval)
        if self._log_records is not None:
            self._log_records(self._writer.logs(before.request, verdict))

    async def unscored(
        self, key: Key, node: Node, reason: str, *, error_type: str | None = None
    ) -> None:
        """Let a retrieval leave without a verdict: skipped, or failed where there is an error."""
        evaluated: Outcome = "skipped" if error_type is None else "failed"
        attributes = (
            unevaluated("skipped", reason)
            if error_type is None
            else {EVALUATED: evaluated, REASON: reason, ERROR_TYPE: error_type}
        )
        # The records of spans are of verdicts alone; an event is asked for by its record id.
        record = results.unjudged(node, evaluated, reason) if node.record_id else None
        nested = reason == "nested"
        if await self._leave(key, None, attributes, record, silent=nested) is not None:
            self._count(node.reading.dialect if node.reading else None, evaluated, reason)

    async def deferred(self, key: Key) -> None:
        """Let a retrieval leave at its deadline; its verdict follows, and is counted then."""
        await self._leave(key, None, unevaluated("deferred", "deadline"), None, carrier_due=True)

    async def untouched(self, key: Key) -> None:
        """Let a retrieval leave as it came, where nothing can be written on it."""

        def build(held: Held) -> Release:
            span = [] if held.origin == "copy" else [Outgoing(held.request, 1, "retrieval")]
            return Release([] if held.origin == "left" else span)

        before = await self._persist(lambda: self._store.release(key, build))
        if before is not None:
            self._gone(before)
            self._count(None, "failed", "judge_failed")

    async def beside(self, carrier: Outgoing) -> None:
        """Let a carrier leave whose retrieval has left before."""
        await self._persist(lambda: self._store.queue(carrier))
        self._telemetry.count(metrics.CARRIERS)
        self._released()

    async def scored_late(self, carrier: Outgoing, retrieval: Retrieval, verdict: Verdict) -> None:
        """Let a second verdict leave, against a task that came after the first."""
        await self.beside(carrier)
        self._record_scores(verdict, retrieval)

    async def _leave(
        self,
        key: Key,
        verdict: Verdict | None,
        attributes: Mapping[str, str],
        record: Record | None,
        *,
        silent: bool = False,
        carrier_due: bool = False,
    ) -> Held | None:
        """
        Move a retrieval on, in one transaction; return what was held.

        None where it had left before. `silent`: no carrier is made in the stead of a copy.
        """

        def build(held: Held) -> Release:
            outgoing: list[Outgoing] = []
            if held.origin in ("pipeline", "event"):
                outgoing = [self._writer.inline(held.request, verdict, attributes)]
            elif not silent:
                outgoing = [self._writer.beside(held.request, verdict, attributes)]
            return Release(outgoing, carrier_due, results.kept(record) if record else None)

        before = await self._persist(lambda: self._store.release(key, build))
        if before is None:
            return None
        self._gone(before)
        if before.origin in ("copy", "left") and not silent:
            self._telemetry.count(metrics.CARRIERS)
        return before

    def _gone(self, before: Held) -> None:
        self._released()
        if before.origin == "copy" or (before.origin != "left" and not self._forwarding):
            self._telemetry.count(metrics.JUDGED_ONLY)

    def _count(self, dialect: str | None, evaluated: Outcome, reason: str) -> None:
        self._telemetry.count(
            metrics.RETRIEVALS, dialect=dialect or "", evaluated=evaluated, reason=reason
        )

    def _record_scores(self, verdict: Verdict, retrieval: Retrieval) -> None:
        for evaluation in verdict.evaluations:
            for metric, value in (
                (metrics.RECALL, evaluation.scores.recall),
                (metrics.PRECISION, evaluation.scores.precision),
                (metrics.F1, evaluation.scores.f1),
                (metrics.NDCG, evaluation.scores.ndcg),
            ):
                if value is not None:
                    self._telemetry.record(
                        metric,
                        value,
                        trace_id=retrieval.trace_id,
                        span_id=retrieval.span_id,
                        metadata=retrieval.metadata,
                        scope=evaluation.scope,
                    )

    async def _persist(self, write: Callable[[], Awaitable[T]]) -> T:
        """Write; while the disk refuses, wait and try again: nothing is lost meanwhile."""
        delay_s = FIRST_DELAY_S
        while True:
            try:
                return await write()
            except StorageFailed as error:
                log.warning("%s; trying again", error)
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, LONGEST_DELAY_S)
