"""
The traces in view: which spans came, which retrievals are open, which are judged.

A trace is active until no span of it came for a while; then it is ended, and remembered for late
spans as long as there is room. Only spans with a marker are decoded; of the others there are the
ids, which link retrievals to the ancestors that enclose them. What was retrieved is not kept here:
it goes with the retrieval itself.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from seer_otel.dialects import trace as reading
from seer_otel.dialects.trace import Node, Resolution
from seer_otel.judge.hops import JudgedHop, final

MAX_TRACES = 10_000
MAX_NODES = 300_000
MAX_NODES_OF_TRACE = 50_000
"""Further spans of a trace are no links between others."""
MAX_CHARACTERS = 64 * 1024 * 1024
"""Of inputs and queries."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged retrieval of a trace."""

    node: Node
    """Less its content."""
    hop: JudgedHop
    """With digests in place of texts: enough to tell which passages are the same."""
    skeleton: bytes
    """Export request with the retrieval's span, less its content; what a carrier needs."""


@dataclass(slots=True)
class Trace:
    """What is known of one trace."""

    trace_id: str
    last_span_s: float
    nodes: dict[str, Node] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """Span ids of retrievals that are in the hold, not judged yet."""
    judged: dict[str, Judged] = field(default_factory=dict)
    """By span id."""
    result_of: str | None = None
    """Span id of the retrieval whose scores went out as the trace's result."""
    has_root: bool = False
    """Whether a span without parent came."""
    characters: int = 0
    """Of the texts of its nodes."""
    _changed: asyncio.Event | None = None
    """While somebody waits."""
    _begun: set[str] = field(default_factory=set)
    """Span ids of retrievals whose judging has begun."""
    _around: set[str] | None = None
    """Ids of the spans around those; None where it is not known any more."""
    _resolutions: Mapping[str, Resolution] | None = None
    """As the nodes stand; None where it is not known any more."""

    def add(self, node: Node) -> None:
        """Remember a node, less its content; one that says less never replaces another."""
        self.has_root = self.has_root or node.parent_span_id is None
        known = self.nodes.get(node.span_id)
        if known is None and node.reading is None and len(self.nodes) >= MAX_NODES_OF_TRACE:
            return
        if known is None or _says_more(node, known):
            self.put(node)

    def put(self, node: Node) -> None:
        """Remember a node, less its content, in the place of what is known of the span."""
        known = self.nodes.get(node.span_id)
        self.characters += _characters(node) - (_characters(known) if known else 0)
        self.nodes[node.span_id] = without_content(node)
        self._resolutions = self._around = None

    def changed(self) -> None:
        """Wake those who wait for something to happen in this trace."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    async def change(self, timeout_s: float) -> None:
        """Wait until something happens, or the time is over."""
        if self._changed is None:
            self._changed = asyncio.Event()
        waiting = self._changed
        try:
            async with asyncio.timeout(timeout_s):
                await waiting.wait()
        except TimeoutError:
            pass

    def resolution(self, span_id: str) -> Resolution:
        """Read a retrieval in the light of what came of its trace so far."""
        if self._resolutions is None:
            self._resolutions = reading.resolve(self.nodes.values()).resolutions
        return self._resolutions[span_id]

    def is_complete_above(self, span_id: str) -> bool:
        """Whether nothing more can come that encloses this span."""
        return reading.is_settled(span_id, self.nodes)

    def begin(self, span_id: str) -> None:
        """Take note that a retrieval is being judged: what encloses it comes too late from now."""
        self._begun.add(span_id)
        if self._around is not None:
            self._around.update(reading.above(span_id, self.nodes))

    def give_up(self, span_id: str) -> None:
        """Take note that a retrieval is not judged after all."""
        self._begun.discard(span_id)
        self._around = None

    def came_too_late(self, span_id: str) -> bool:
        """Whether a retrieval encloses one that is judged without it."""
        if self._around is None:
            self._around = {a for inner in self._begun for a in reading.above(inner, self.nodes)}
        return span_id in self._around

    def waits_before(self, node: Node) -> bool:
        """Whether a retrieval that ended earlier is still to be judged."""
        return any(
            (self.nodes[span_id].end_ns, span_id) < (node.end_ns, node.span_id)
            for span_id in self.open
            if span_id in self.nodes
        )

    @property
    def hops(self) -> list[JudgedHop]:
        """The hops judged so far."""
        return [judged.hop for judged in self.judged.values()]

    def final(self) -> Judged | None:
        """
        Return the judged retrieval whose scores are the trace's.

        None while a later one that is marked as the final context is open.
        """
        last = final(self.hops)
        if last is None:
            return None
        for node in (self.nodes[span_id] for span_id in self.open if span_id in self.nodes):
            is_marked = node.reading is not None and node.reading.is_final_context
            is_later = (node.end_ns, node.span_id) > last.order
            if is_marked and (is_later or not last.is_final_context):
                return None
        return self.judged[last.span_id]


class Traces:
    """The traces in view, bounded in number and size."""

    def __init__(
        self,
        *,
        max_traces: int = MAX_TRACES,
        max_nodes: int = MAX_NODES,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        self._active: OrderedDict[str, Trace] = OrderedDict()
        self._ended: OrderedDict[str, Trace] = OrderedDict()
        self._max_traces = max_traces
        self._max_nodes = max_nodes
        self._max_characters = max_characters
        self._nodes = 0
        self._characters = 0
        self.evicted = 0
        """Traces forgotten for want of room."""

    def __contains__(self, trace_id: str) -> bool:
        """Whether a trace is in view."""
        return trace_id in self._active or trace_id in self._ended

    def __len__(self) -> int:
        """Count the traces in view."""
        return len(self._active) + len(self._ended)

    def of(self, trace_id: str, now_s: float) -> Trace:
        """Return a trace, new if need be; it becomes the most recent."""
        trace = self._active.pop(trace_id, None) or self._ended.pop(trace_id, None)
        if trace is None:
            trace = Trace(trace_id, now_s)
        trace.last_span_s = now_s
        self._active[trace_id] = trace
        return trace

    def note(self, nodes: Iterable[Node], now_s: float) -> set[str]:
        """Remember nodes; return the ids of the traces that changed."""
        touched: dict[str, Trace] = {}
        for node in nodes:
            trace = touched.get(node.trace_id) or self.of(node.trace_id, now_s)
            touched[node.trace_id] = trace
            known, characters = len(trace.nodes), trace.characters
            trace.add(node)
            self._nodes += len(trace.nodes) - known
            self._characters += trace.characters - characters
        for trace in touched.values():
            trace.changed()
        self._make_room()
        return set(touched)

    def idle(self, now_s: float, idle_s: float) -> Iterator[Trace]:
        """Move the traces that have ended, and yield them."""
        while self._active:
            trace = next(iter(self._active.values()))
            if trace.last_span_s + idle_s > now_s:
                return
            del self._active[trace.trace_id]
            self._ended[trace.trace_id] = trace
            yield trace

    def revive(self, trace: Trace) -> None:
        """Let an ended trace end again, at the next look."""
        if self._ended.pop(trace.trace_id, None) is not None:
            self._active[trace.trace_id] = trace
            self._active.move_to_end(trace.trace_id, last=False)

    def _make_room(self) -> None:
        while (
            len(self) > self._max_traces
            or self._nodes > self._max_nodes
            or self._characters > self._max_characters
        ):
            candidates = chain(self._ended.values(), self._active.values())
            victim = next((t for t in candidates if not t.open), None)
            if victim is None:
                return  # what is open is bounded by the hold
            for traces in (self._ended, self._active):
                traces.pop(victim.trace_id, None)
            self._nodes -= len(victim.nodes)
            self._characters -= victim.characters
            self.evicted += 1


def without_content(node: Node) -> Node:
    """Return a node less what was retrieved, which only judging it needs."""
    reading = node.reading
    if reading is None:
        return node
    lean = replace(reading, context=(), ground_truth=None, metadata={}, surroundings={})
    return replace(node, reading=lean)


def _says_more(node: Node, known: Node) -> bool:
    if known.reading is not None:
        return False
    return node.reading is not None or known.input is None


def _characters(node: Node) -> int:
    reading = node.reading
    texts = (node.input, *((reading.query, reading.task) if reading else ()))
    return sum(len(text) for text in texts if text)
