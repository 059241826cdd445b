"""
The life of a held retrieval, from the hold to its release.

    held ─► settle ─► resolve ─┬─ nested, not evaluable ───────────────► release, with the reason
                               └─ judge ─┬─ verdict in time ─► attach ─► release, inline
                                         └─ deadline ─► release ─► verdict ─► carrier

One task a retrieval; what they share is the trace. Times are those of the event loop.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter

from seer_otel.dialects import DIALECTS, Dialect, lookup
from seer_otel.dialects import trace as reading
from seer_otel.dialects.attach import unevaluated
from seer_otel.dialects.trace import Node, Resolution
from seer_otel.errors import BudgetSpent, StorageFailed
from seer_otel.evaluator.event_span import node_of
from seer_otel.evaluator.hold.store import Held, Key, Outgoing, Release, Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.work import results
from seer_otel.evaluator.work.hops import Hops
from seer_otel.evaluator.work.traces import Trace
from seer_otel.retrieval import Retrieval
from seer_otel.semconv import ERROR_TYPE, EVALUATED, REASON
from seer_otel.verdict import Outcome, Record, Verdict

log = logging.getLogger(__name__)

_NODE: TypeAdapter[Node] = TypeAdapter(Node)

T = TypeVar("T")

Resolve = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""From ids of documents to the texts that can be had, in a time that fits into the hold."""

DEFERRED = unevaluated("deferred", "deadline")


class Assess(Protocol):
    """How a retrieval is judged."""

    async def assess(self, retrieval: Retrieval, *, timeout_s: float | None = None) -> Verdict:
        """Judge all scopes of a retrieval; failures are part of the verdict."""
        ...


@dataclass(frozen=True, slots=True)
class Times:
    """How long to wait for what; seconds."""

    hold: float = 30.0
    settle: float = 2.0
    task_wait: float = 15.0
    trace_idle: float = 10.0
    judge: float = 60.0
    """For all of a verdict; after it the judgement has failed."""


@dataclass(slots=True)
class Item:
    """A retrieval on its way through."""

    held: Held
    node: Node
    arrived_s: float
    left: bool = False
    """It has been released without its verdict."""
    upgraded: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the span itself came after its copy."""

    @property
    def delays_a_span(self) -> bool:
        """Whether a span waits for its verdict; copies, events, what has left delay nothing."""
        return not self.left and self.held.origin == "pipeline"


class Judging:
    """Everything between the hold and the outbox."""

    def __init__(
        self,
        store: Store,
        assessor: Assess,
        writer: results.Writer,
        hops: Hops,
        telemetry: Telemetry,
        *,
        times: Times,
        concurrency: int = 8,
        forwarding: bool = True,
        released: Callable[[], None] = lambda: None,
        log_records: Callable[[bytes], None] | None = None,
        resolve: Resolve | None = None,
        dialects: Sequence[Dialect] = DIALECTS,
    ) -> None:
        self._store = store
        self._assessor = assessor
        self._writer = writer
        self._hops = hops
        self._telemetry = telemetry
        self._times = times
        self._forwarding = forwarding
        self._slots = asyncio.Semaphore(concurrency)
        self._released = released
        self._log_records = log_records
        self._resolve = resolve
        self._dialects = dialects
        self._traces = hops.traces
        self._items: dict[Key, Item] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.trouble: str | None = None
        """What the last judgement failed with; None where it did not."""
        telemetry.watch(metrics.OLDEST_AGE, self._oldest_age)

    @property
    def pending(self) -> int:
        """Retrievals on their way."""
        return len(self._items)

    def _oldest_age(self) -> float:
        oldest = next(iter(self._items.values()), None)
        return 0.0 if oldest is None else asyncio.get_running_loop().time() - oldest.arrived_s

    def knows(self, trace_id: str) -> bool:
        """Whether a trace is in view."""
        return trace_id in self._traces

    def note(self, nodes: Iterable[Node]) -> None:
        """Take in the spans of traces that are in view."""
        nodes = list(nodes)
        self._traces.note(nodes, asyncio.get_running_loop().time())
        for node in nodes:
            if node.input is None:
                continue
            trace = self._traces.of(node.trace_id, asyncio.get_running_loop().time())
            if trace.open and node.reading is None:
                self._spawn(self._keep_ancestor(node))
            for span_id, retrieval in list(self._hops.late_tasks(trace)):
                self._spawn(self._judge_late(trace, span_id, retrieval))

    def start(self, held: Held, *, age_s: float = 0.0, node: Node | None = None) -> None:
        """
        Begin the work on a retrieval that is in the hold; its node has been noted.

        Without `node`, it is the one with the ids of the key.
        """
        now = asyncio.get_running_loop().time()
        trace = self._traces.of(node.trace_id if node else held.key.trace_id.hex(), now)
        node = node or trace.nodes[held.key.span_id.hex()]
        trace.open.add(node.span_id)
        item = Item(held, node, now - age_s, left=held.origin == "left")
        self._items[held.key] = item
        self._spawn(self._live(item, trace))

    async def recover(self, left_behind: Iterable[Held], now: float) -> None:
        """Take up what an earlier process left in the hold; `now` is wall-clock time."""
        loop_s = asyncio.get_running_loop().time()
        ancestors = [_NODE.validate_json(node) for node in await self._store.ancestors()]
        found = [(held, node_of(held, self._dialects)) for held in left_behind]
        self._traces.note([*ancestors, *(node for _, node in found)], loop_s)
        for held, node in found:
            age_s = min(max(0.0, now - held.received), self._times.hold)
            self.start(held, age_s=age_s, node=node)

    def upgrade(self, key: Key) -> None:
        """Take note that a span came whose copy is held: its time counts from now."""
        item = self._items.get(key)
        if item is not None:
            item.held = replace(item.held, origin="pipeline")
            item.arrived_s = asyncio.get_running_loop().time()
            item.upgraded.set()

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Name the owner of the tasks."""
        self._group = group

    async def run(self) -> None:
        """Send the results of traces that have ended, for ever."""
        while True:
            await asyncio.sleep(min(1.0, self._times.trace_idle / 4))
            now = asyncio.get_running_loop().time()
            for trace in list(self._traces.idle(now, self._times.trace_idle)):
                await self._end(trace)

    async def end_all(self) -> None:
        """Send the results of all traces, ended or not."""
        for trace in list(self._traces.idle(math.inf, 0.0)):
            await self._end(trace)

    def cancel(self) -> None:
        """Stop all work; what is in the hold stays there."""
        for task in self._tasks:
            task.cancel()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        assert self._group is not None
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def release_all(self, reason: str) -> None:
        """Release what is to be forwarded and still waits, unevaluated, with a reason."""
        for item in list(self._items.values()):
            if item.delays_a_span:
                await self._skip(item, reason)

    # One retrieval.

    async def _live(self, item: Item, trace: Trace) -> None:
        try:
            resolution = await self._settle(item, trace)
            if resolution.reason == "no_content":
                item.node = await self.with_texts(item.node)
                trace.nodes[item.node.span_id] = item.node
                resolution = trace.resolution(item.node.span_id)
            if resolution.status in ("retrieval", "empty"):
                await self._judge(item, trace, reading.retrieval(item.node, resolution))
            else:
                reason = "nested" if resolution.status == "nested" else resolution.reason
                await self._skip(item, reason or "no_content")
        except Exception as error:
            log.exception("a retrieval could not be judged; it leaves without scores")
            fault = {
                EVALUATED: "failed",
                REASON: "judge_failed",
                ERROR_TYPE: type(error).__name__,
            }
            await self._release(item, None, fault, evaluated="failed", reason="judge_failed")
        finally:
            trace.open.discard(item.node.span_id)
            trace.changed()
            self._traces.revive(trace)
            self._items.pop(item.held.key, None)

    async def _settle(self, item: Item, trace: Trace) -> Resolution:
        """Wait for what encloses the retrieval, and for its task, as long as may be."""
        is_event = item.node.record_id is not None  # nothing that encloses it matters
        settled_s = item.arrived_s + (0.0 if is_event else self._times.settle)
        task_s = item.arrived_s + self._times.task_wait
        has_task = item.node.reading is not None and item.node.reading.task is not None
        while True:
            now = asyncio.get_running_loop().time()
            complete = trace.is_complete_above(item.node.span_id)
            settled = now >= settled_s and (has_task or trace.has_root)
            if complete or settled or now >= task_s or item.left:
                return trace.resolution(item.node.span_id)
            await trace.change((settled_s if now < settled_s else task_s) - now)

    async def with_texts(self, node: Node) -> Node:
        """Find the texts of documents that came as ids alone, as far as they can be found."""
        if node.reading is None or self._resolve is None:
            return node
        ids = lookup.missing(node.reading)
        if not ids:
            return node
        return replace(node, reading=lookup.with_texts(node.reading, await self._resolve(ids)))

    async def _skip(self, item: Item, reason: str) -> None:
        await self._release(item, None, unevaluated("skipped", reason), reason=reason)

    async def _judge(self, item: Item, trace: Trace, retrieval: Retrieval) -> None:
        if not retrieval.queries:
            await self._skip(item, "no_query")
            return
        judging = asyncio.ensure_future(self.assess(retrieval))
        try:
            await self._wait(item, judging)
        finally:
            judging.cancel()
        try:
            verdict = await judging
        except BudgetSpent as spent:
            await self._skip(item, spent.reason)
            return
        trace.open.discard(item.node.span_id)
        self._hops.add(trace, item.node, retrieval, verdict, item.held.request)
        trace.changed()
        deadline_s = item.arrived_s + self._times.hold
        while trace.waits_before(item.node):
            remaining = deadline_s - asyncio.get_running_loop().time()
            if remaining <= 0:
                break
            await trace.change(remaining)
        verdict = self._hops.complete(trace, item.node, verdict)
        await self._release(item, verdict, {}, retrieval=retrieval)

    async def _wait(self, item: Item, judging: asyncio.Future[Verdict]) -> None:
        """Wait for the verdict; at the deadline the span leaves without it."""
        loop = asyncio.get_running_loop()
        while not judging.done():
            timeout_s = None
            if item.delays_a_span:
                timeout_s = item.arrived_s + self._times.hold - loop.time()
                if timeout_s <= 0:
                    await self._release(item, None, DEFERRED, carrier_is_due=True)
                    continue
            upgraded = asyncio.ensure_future(item.upgraded.wait())
            waiting: set[asyncio.Future[Any]] = {judging}
            if not item.upgraded.is_set():
                waiting.add(upgraded)
            await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            upgraded.cancel()

    async def assess(self, retrieval: Retrieval) -> Verdict:
        """
        Judge a retrieval, as soon as a place is free; count what that took.

        Raises:
            BudgetSpent: The judge may not be asked.
        """
        async with self._slots:
            verdict = await self._assessor.assess(retrieval, timeout_s=self._times.judge)
        failed = next((e for e in verdict.evaluations if e.status == "failed"), None)
        self.trouble = f"{failed.reason} ({failed.error_type})" if failed else None
        provenance = verdict.evaluations[0].provenance
        self._telemetry.record(metrics.JUDGE_DURATION, provenance.duration_ms / 1000)
        self._telemetry.count(metrics.JUDGE_CACHED, int(provenance.cached))
        for evaluation in verdict.evaluations:
            if evaluation.repetition is not None:
                agreement = evaluation.repetition.agreement
                self._telemetry.record(metrics.JUDGE_AGREEMENT, agreement, scope=evaluation.scope)
        return verdict

    async def _judge_late(self, trace: Trace, span_id: str, retrieval: Retrieval) -> None:
        """Judge the task that came after its retrieval was; the result goes on a carrier."""
        try:
            verdict = await self.assess(retrieval)
        except BudgetSpent:
            return  # what was said of the query stands
        carrier = self._hops.judged_late(trace, span_id, verdict)
        await self._persist(lambda: self._store.queue(carrier))
        self._telemetry.count(metrics.CARRIERS)
        self._record_scores(verdict, retrieval)
        self._released()

    # Leaving.

    async def _release(
        self,
        item: Item,
        verdict: Verdict | None,
        attributes: Mapping[str, str],
        *,
        retrieval: Retrieval | None = None,
        evaluated: Outcome = "skipped",
        reason: str = "",
        carrier_is_due: bool = False,
    ) -> None:
        nested = reason == "nested"
        record: Record | None = None
        if verdict is not None and retrieval is not None:
            record = results.record(retrieval, verdict)
        elif item.node.record_id is not None:
            record = results.unjudged(item.node, evaluated, reason)

        def build(held: Held) -> Release:
            outgoing: list[Outgoing] = []
            if held.origin in ("pipeline", "event"):
                outgoing = [self._writer.inline(held.request, verdict, attributes)]
            elif not nested:
                outgoing = [self._writer.beside(held.request, verdict, attributes)]
            return Release(outgoing, carrier_is_due, results.kept(record) if record else None)

        before = await self._persist(lambda: self._store.release(item.held.key, build))
        if before is None:
            return  # released meanwhile, at shutdown
        item.left = True
        self._released()
        if before.origin == "copy" or (before.origin != "left" and not self._forwarding):
            self._telemetry.count(metrics.JUDGED_ONLY)
        if before.origin in ("copy", "left") and not nested:
            self._telemetry.count(metrics.CARRIERS)
        if carrier_is_due:
            return  # counted with its verdict
        if verdict is not None and retrieval is not None:
            first = verdict.evaluations[0]
            self._telemetry.count(
                metrics.RETRIEVALS,
                dialect=retrieval.dialect or "",
                evaluated=first.status,
                reason=first.reason or "",
            )
            self._record_scores(verdict, retrieval)
            if self._log_records is not None:
                self._log_records(self._writer.logs(before.request, verdict))
        else:
            dialect = item.node.reading.dialect if item.node.reading else ""
            self._telemetry.count(
                metrics.RETRIEVALS, dialect=dialect, evaluated=evaluated, reason=reason
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

    # Traces.

    async def _end(self, trace: Trace) -> None:
        """Send the result of a trace that has ended, if it is due."""
        due = self._hops.result_beside(trace)
        if due is not None:
            await self._persist(lambda: self._store.queue(due))
            self._telemetry.count(metrics.CARRIERS)
            self._released()

    async def _persist(self, write: Callable[[], Awaitable[T]]) -> T:
        """Write; while the disk refuses, wait and try again: nothing is lost meanwhile."""
        delay_s = 0.5
        while True:
            try:
                return await write()
            except StorageFailed as error:
                log.warning("%s; trying again", error)
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, 15.0)

    async def _keep_ancestor(self, node: Node) -> None:
        try:
            await self._store.keep_ancestor(bytes.fromhex(node.trace_id), _NODE.dump_json(node))
        except StorageFailed as error:
            log.warning("an ancestor was not kept for a restart: %s", error)
