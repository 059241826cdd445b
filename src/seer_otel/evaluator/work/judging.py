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
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import TypeAdapter

from seer_otel.dialects import DIALECTS, Dialect
from seer_otel.dialects import trace as reading
from seer_otel.dialects.trace import Node, Resolution
from seer_otel.errors import BudgetSpent, StorageFailed
from seer_otel.evaluator.event_span import node_of
from seer_otel.evaluator.hold.entries import Held, Key
from seer_otel.evaluator.hold.store import Store
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
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
        assessing: Assessing,
        hops: Hops,
        exits: Exits,
        telemetry: Telemetry,
        *,
        times: Times,
        dialects: Sequence[Dialect] = DIALECTS,
    ) -> None:
        self._store = store
        self._assessing = assessing
        self._hops = hops
        self._exits = exits
        self._times = times
        self._dialects = dialects
        self._traces = hops.traces
        self._items: dict[Key, Item] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: set[asyncio.Task[None]] = set()
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
                await self._leave_unscored(item, reason)

    # One retrieval.

    async def _live(self, item: Item, trace: Trace) -> None:
        try:
            resolution = await self._settle(item, trace)
            if resolution.reason == "no_content":
                item.node = await self._assessing.with_texts(item.node)
                trace.nodes[item.node.span_id] = item.node
                resolution = trace.resolution(item.node.span_id)
            if resolution.status in ("retrieval", "empty"):
                await self._judge(item, trace, reading.retrieval(item.node, resolution))
            else:
                reason = "nested" if resolution.status == "nested" else resolution.reason
                await self._leave_unscored(item, reason or "no_content")
        except Exception as error:
            log.exception("a retrieval could not be judged; it leaves without scores")
            await self._leave_unscored(item, "judge_failed", error_type=type(error).__name__)
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
            await self._leave_unscored(item, spent.reason)
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
        await self._exits.scored(item.held.key, retrieval, verdict)
        item.left = True

    async def _leave_unscored(
        self, item: Item, reason: str, *, error_type: str | None = None
    ) -> None:
        await self._exits.unscored(item.held.key, item.node, reason, error_type=error_type)
        item.left = True

    async def _wait(self, item: Item, judging: asyncio.Future[Verdict]) -> None:
        """Wait for the verdict; at the deadline the span leaves without it."""
        loop = asyncio.get_running_loop()
        while not judging.done():
            timeout_s = None
            if item.delays_a_span:
                timeout_s = item.arrived_s + self._times.hold - loop.time()
                if timeout_s <= 0:
                    await self._exits.deferred(item.held.key)
                    item.left = True
                    continue
            upgraded = asyncio.ensure_future(item.upgraded.wait())
            waiting: set[asyncio.Future[Any]] = {judging}
            if not item.upgraded.is_set():
                waiting.add(upgraded)
            await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
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

    async def _end(self, trace: Trace) -> None:
        """Send the result of a trace that has ended, if it is due."""
        due = self._hops.result_beside(trace)
        if due is not None:
            await self._exits.beside(due)

    async def _keep_ancestor(self, node: Node) -> None:
        try:
            await self._store.keep_ancestor(bytes.fromhex(node.trace_id), _NODE.dump_json(node))
        except StorageFailed as error:
            log.warning("an ancestor was not kept for a restart: %s", error)
