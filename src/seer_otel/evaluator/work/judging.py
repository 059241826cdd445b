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
from collections.abc import AsyncIterable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from seer_otel.dialects import READER, Reader
from seer_otel.dialects import trace as reading
from seer_otel.dialects.trace import Node, Resolution
from seer_otel.errors import BudgetSpent, StorageFailed
from seer_otel.evaluator.event_span import node_of
from seer_otel.evaluator.hold.entries import Held, Key, Origin
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.health import Pulse
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.evaluator.telemetry.whereabouts import whereabouts
from seer_otel.evaluator.work import results
from seer_otel.evaluator.work.assessing import Assessing
from seer_otel.evaluator.work.exits import Exits
from seer_otel.evaluator.work.hops import Hops
from seer_otel.evaluator.work.traces import Trace
from seer_otel.retrieval import Retrieval
from seer_otel.verdict import Verdict

log = logging.getLogger(__name__)

_NODE: TypeAdapter[Node] = TypeAdapter(Node)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Times:
    """How long to wait for what; seconds."""

    hold: float = 30.0
    settle: float = 2.0
    task_wait: float = 15.0
    trace_idle: float = 10.0


@dataclass(slots=True)
class Item:
    """A retrieval on its way through."""

    key: Key
    origin: Origin
    node: Node
    skeleton: bytes
    """Export request with its span, less its content; the whole is on disk."""
    arrived_s: float
    left: bool = False
    """It has been released without its verdict."""
    upgraded: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the span itself came after its copy."""

    @property
    def delays_a_span(self) -> bool:
        """Whether a span waits for its verdict; copies, events, what has left delay nothing."""
        return not self.left and self.origin == "pipeline"


class Judging:
    """Everything between the hold and the outbox."""

    def __init__(
        self,
        store: Store,
        assessing: Assessing,
        hops: Hops,
        exits: Exits,
        telemetry: Telemetry,
        pulse: Pulse,
        *,
        times: Times,
        reader: Reader = READER,
    ) -> None:
        self._store = store
        self._assessing = assessing
        self._hops = hops
        self._exits = exits
        self._telemetry = telemetry
        self._pulse = pulse
        self._times = times
        self._reader = reader
        self._traces = hops.traces
        self._items: dict[Key, Item] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._evicted = 0
        telemetry.watch(metrics.OLDEST_AGE, self._oldest_age)
        telemetry.watch(metrics.TRACES_KNOWN, lambda: float(len(self._traces)))

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

    def start(self, held: Held, node: Node, *, age_s: float = 0.0) -> None:
        """Begin the work on a retrieval that is in the hold."""
        now = asyncio.get_running_loop().time()
        self._traces.note([node], now)
        trace = self._traces.of(node.trace_id, now)
        trace.open.add(node.span_id)
        skeleton = results.skeleton(held.request)
        item = Item(held.key, held.origin, node, skeleton, now - age_s, left=held.origin == "left")
        self._items[held.key] = item
        self._spawn(self._live(item, trace))

    async def recover(self, left_behind: AsyncIterable[Held], now: float) -> None:
        """Take up what an earlier process left in the hold; `now` is wall-clock time."""
        loop_s = asyncio.get_running_loop().time()
        ancestors = [_NODE.validate_json(node) for node in await self._store.ancestors()]
        self._traces.note(ancestors, loop_s)
        found: list[tuple[Held, Node]] = []
        async for held in left_behind:
            try:
                node = node_of(held, self._reader)
                lean = replace(held, request=results.skeleton(held.request))
            except Exception as error:  # of another release, perhaps
                log.error("a held retrieval cannot be read (%s)", whereabouts(error))
                self._spawn(self._exits.untouched(held.key))
            else:
                found.append((lean, node))
        self._traces.note([node for _, node in found], loop_s)
        for held, node in found:
            age_s = min(max(0.0, now - held.received), self._times.hold)
            self.start(held, node, age_s=age_s)

    def upgrade(self, key: Key) -> None:
        """Take note that a span came whose copy is held: its time counts from now."""
        item = self._items.get(key)
        if item is not None:
            item.origin = "pipeline"
            item.arrived_s = asyncio.get_running_loop().time()
            item.upgraded.set()

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Name the owner of the tasks."""
        self._group = group

    async def run(self) -> None:
        """Send the results of traces that have ended, for ever."""
        while True:
            self._pulse.beat()
            await asyncio.sleep(min(1.0, self._times.trace_idle / 4))
            now = asyncio.get_running_loop().time()
            for trace in list(self._traces.idle(now, self._times.trace_idle)):
                self._end(trace)
            self._telemetry.count(metrics.TRACES_EVICTED, self._traces.evicted - self._evicted)
            self._evicted = self._traces.evicted

    async def end_all(self) -> None:
        """Send the results of all traces, ended or not."""
        ending = [self._end(trace) for trace in list(self._traces.idle(math.inf, 0.0))]
        await asyncio.gather(*(task for task in ending if task is not None))

    def cancel(self) -> None:
        """Stop all work; what is in the hold stays there."""
        for task in self._tasks:
            task.cancel()

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        assert self._group is not None
        task = self._group.create_task(_guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def release_all(self, reason: str) -> None:
        """Release what is to be forwarded and still waits, unevaluated, with a reason."""
        held = [item for item in self._items.values() if item.delays_a_span]
        await asyncio.gather(*(self._leave_unscored(item, reason) for item in held))

    # One retrieval.

    async def _live(self, item: Item, trace: Trace) -> None:
        try:
            resolution = await self._settle(item, trace)
            if resolution.reason == "no_content":
                item.node = await self._assessing.with_texts(item.node)
                trace.put(item.node)
                resolution = trace.resolution(item.node.span_id)
            is_event = item.node.record_id is not None
            if resolution.status == "nested" or (
                resolution.judged and not is_event and trace.came_too_late(item.node.span_id)
            ):
                await self._leave_unscored(item, "nested")
            elif resolution.judged:
                if not is_event:
                    trace.begin(item.node.span_id)
                await self._judge(item, trace, reading.retrieval(item.node, resolution))
            else:
                await self._leave_unscored(item, resolution.reason or "no_content")
        except Exception as error:
            log.error(
                "a retrieval could not be judged (%s); it leaves without scores", whereabouts(error)
            )
            await self._leave_somehow(item, type(error).__name__)
        finally:
            trace.open.discard(item.node.span_id)
            trace.changed()
            self._traces.revive(trace)
            self._items.pop(item.key, None)

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

    async def _judge(self, item: Item, trace: Trace, retrieval: Retrieval) -> None:
        if not retrieval.queries:
            await self._leave_unscored(item, "no_query")
            return
        judging = asyncio.ensure_future(self._assessing.assess(retrieval))
        try:
            await self._wait(item, judging)
        finally:
            judging.cancel()
        try:
            verdict = await judging
        except BudgetSpent as spent:
            trace.give_up(item.node.span_id)
            await self._leave_unscored(item, spent.reason)
            return
        trace.open.discard(item.node.span_id)
        self._hops.add(trace, item.node, retrieval, verdict, item.skeleton)
        trace.changed()
        deadline_s = item.arrived_s + self._times.hold
        while trace.waits_before(item.node):
            remaining = deadline_s - asyncio.get_running_loop().time()
            if remaining <= 0:
                break
            await trace.change(remaining)
        verdict = self._hops.complete(trace, item.node, verdict)
        await self._exits.scored(item.key, retrieval, verdict)
        item.left = True

    async def _leave_unscored(
        self, item: Item, reason: str, *, error_type: str | None = None
    ) -> None:
        await self._exits.unscored(item.key, item.node, reason, error_type=error_type)
        item.left = True

    async def _leave_somehow(self, item: Item, error_type: str) -> None:
        try:
            await self._leave_unscored(item, "judge_failed", error_type=error_type)
        except Exception as error:
            log.error("nor can anything be said on it (%s)", whereabouts(error))
            await self._exits.untouched(item.key)

    async def _wait(self, item: Item, judging: asyncio.Future[Verdict]) -> None:
        """Wait for the verdict; at the deadline the span leaves without it."""
        loop = asyncio.get_running_loop()
        while not judging.done():
            timeout_s = None
            if item.delays_a_span:
                timeout_s = item.arrived_s + self._times.hold - loop.time()
                if timeout_s <= 0:
                    await self._exits.deferred(item.key)
                    item.left = True
                    continue
            upgraded = asyncio.ensure_future(item.upgraded.wait())
            waiting: set[asyncio.Future[Any]] = {judging}
            if not item.upgraded.is_set():
                waiting.add(upgraded)
            try:
                await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            finally:
                upgraded.cancel()

    async def _judge_late(self, trace: Trace, span_id: str, retrieval: Retrieval) -> None:
        """Judge the task that came after its retrieval was; the result goes on a carrier."""
        try:
            verdict = await self._assessing.assess(retrieval)
        except BudgetSpent:
            return  # what was said of the query stands
        carrier = self._hops.judged_late(trace, span_id, verdict)
        await self._exits.scored_late(carrier, retrieval, verdict)

    # Traces.

    def _end(self, trace: Trace) -> asyncio.Task[None] | None:
        """Begin to send the result of a trace that has ended, if it is due."""
        try:
            due = self._hops.result_beside(trace)
        except Exception as error:
            log.error("a trace has no result (%s)", whereabouts(error))
            return None
        return None if due is None else self._spawn(self._exits.beside(due))

    async def _keep_ancestor(self, node: Node) -> None:
        try:
            await self._store.keep_ancestor(bytes.fromhex(node.trace_id), _NODE.dump_json(node))
        except StorageFailed as error:
            log.warning("an ancestor was not kept for a restart: %s", error)


async def _guarded(work: Coroutine[None, None, None]) -> None:
    """Let no piece of work end the others: what it was about stays on disk, for the next start."""
    try:
        await work
    except Exception as error:
        log.error("a piece of work failed (%s)", whereabouts(error))
