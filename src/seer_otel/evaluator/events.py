"""
Take logged retrieval events: hold those that are to be judged, and only then answer.

    event ─► sampled? ─┬─ no ──► answered, not kept
                       └─ yes ─► on disk ─► answered ─► judged ─► next hop, and a record
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from seer_otel import sampling
from seer_otel.dialects import trace
from seer_otel.errors import BudgetSpent, Overloaded, StorageFailed
from seer_otel.evaluator.admission import MAX_PENDING, Admission
from seer_otel.evaluator.event_span import Logged
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.intake import Intake
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.work import results
from seer_otel.evaluator.work.assessing import Assessing
from seer_otel.evaluator.work.judging import Judging

log = logging.getLogger(__name__)

MAX_WAITING: Final = 256
"""Evaluations that somebody waits for at once; more are refused for now."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to an event that was taken."""

    record_id: str
    sampled: bool
    """Whether it is judged."""


class Events:
    """Where events come in, whatever they came over."""

    def __init__(
        self,
        intake: Intake,
        admission: Admission,
        store: Store,
        judging: Judging,
        assessing: Assessing,
        telemetry: Telemetry,
        *,
        sample_rate: float,
    ) -> None:
        self._intake = intake
        self._admission = admission
        self._store = store
        self._judging = judging
        self._assessing = assessing
        self._telemetry = telemetry
        self._sample_rate = sample_rate
        self._waiting = 0

    async def log(self, events: Sequence[Logged]) -> list[Receipt]:
        """
        Take events; return a receipt for each.

        Returns only when all that are to be judged are on disk. What was begun is finished also
        where the caller is cancelled. An event whose record id is known is that event once more.

        Raises:
            Overloaded, StorageFailed: Not now; none was taken.
        """
        await self._admission.wait()
        return await self._intake.through(self._log(events))

    async def _log(self, events: Sequence[Logged]) -> list[Receipt]:
        if self._judging.pending + len(events) > MAX_PENDING:
            raise Overloaded("too many retrievals wait for the judge", 2.0)
        receipts = [Receipt(event.record_id, self._is_sampled(event)) for event in events]
        pairs = zip(events, receipts, strict=True)
        sampled = [event for event, receipt in pairs if receipt.sampled]
        await self._hold(sampled)
        others = len(events) - len(sampled)
        self._telemetry.count(metrics.ACCEPTED, len(events))
        self._telemetry.count(metrics.JUDGED_ONLY, others)
        self._telemetry.count(
            metrics.RETRIEVALS, others, dialect="seer", evaluated="skipped", reason="not_sampled"
        )
        return receipts

    def _is_sampled(self, event: Logged) -> bool:
        return sampling.decide(
            event.node.trace_id,
            sampled=None,
            rate=event.sample_rate,
            default_rate=self._sample_rate,
        )

    async def _hold(self, events: Sequence[Logged]) -> None:
        outcomes = await self._store.hold([event.held for event in events])
        for event, outcome in zip(events, outcomes, strict=True):
            if outcome == "held":
                self._judging.note([event.node])
                self._judging.start(event.held, event.node)
            else:
                self._telemetry.count(metrics.DUPLICATE)

    async def evaluate(self, event: Logged) -> str:
        """
        Judge an event at once; return its record as JSON.

        Nothing is held, sampled or forwarded. A record that is kept under its id already is
        returned as it is.

        Raises:
            Overloaded, StorageFailed: Not now.
        """
        if self._intake.stopping:
            raise Overloaded("the evaluator is stopping", 1.0)
        if self._waiting >= MAX_WAITING:
            raise Overloaded("too many evaluations wait for the judge", 2.0)
        self._waiting += 1
        try:
            known = await self._store.record(event.record_id)
            return known or await self._evaluate(event)
        finally:
            self._waiting -= 1

    async def _evaluate(self, event: Logged) -> str:
        node = event.node
        resolution = trace.resolve([node]).resolutions[node.span_id]
        if resolution.reason == "no_content":
            node = await self._assessing.with_texts(node)
            resolution = trace.resolve([node]).resolutions[node.span_id]
        if resolution.judged:
            retrieval = trace.retrieval(node, resolution)
            try:
                record = results.record(retrieval, await self._assessing.assess(retrieval))
            except BudgetSpent as spent:
                record = results.unjudged(node, "skipped", spent.reason)
        else:
            record = results.unjudged(node, "skipped", resolution.reason or "no_content")
        # The ids that stand in for missing ones are on no span that anybody could find.
        record = replace(record, trace_id=event.trace_id, span_id=event.span_id)
        record_id, content = results.kept(record)
        if record.evaluated in ("scored", "not_applicable"):  # else it may go better next time
            try:
                await self._store.keep_record(record_id, content)
            except StorageFailed as error:
                log.warning("a record was not kept: %s", error)
        return content

    async def record(self, record_id: str) -> str | Literal["pending"] | None:
        """Return what is kept under a record id, as JSON; `pending`: it is not judged yet."""
        if await self._store.holds(record_id):
            return "pending"
        return await self._store.record(record_id)
