"""
The spans of one trace together: what is judged, on which question, in which conversation.

One retrieval often shows as several nested spans, and the user's question is on a span above
them. Both can be told only from the trace.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from seer_otel.dialects import record_ids
from seer_otel.dialects.kin import Above, Below, Links, look_down, look_up
from seer_otel.dialects.links import rooted
from seer_otel.dialects.node import Node, node
from seer_otel.dialects.reading import Reading, Reason
from seer_otel.retrieval import Retrieval, TaskSource

__all__ = [
    "Node",
    "Resolution",
    "TraceReading",
    "above",
    "is_settled",
    "node",
    "resolve",
    "retrieval",
]

Status = Literal["retrieval", "empty", "not_evaluable", "nested"]
"""`retrieval` and `empty` (a real empty result) are judged."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What becomes of one retrieval span, seen in its trace."""

    status: Status
    reason: Reason | None = None
    """Set exactly where the status is `not_evaluable`."""
    query: str | None = None
    """The span's own query; else that of the nearest retrieval nested in it."""
    task: str | None = None
    task_source: TaskSource | None = None
    """None exactly where there is no task."""
    conversation_id: str | None = None

    @property
    def judged(self) -> bool:
        """Whether the retrieval is to be judged."""
        return self.status in ("retrieval", "empty")


@dataclass(frozen=True, slots=True)
class TraceReading:
    """What becomes of the retrievals of one trace."""

    resolutions: Mapping[str, Resolution] = field(default_factory=dict)
    """By span id: one for every node that has a reading, in the order given."""
    final_span_id: str | None = None
    """The retrieval that the answer was written from, as far as can be told."""
    task: str | None = None
    """The task of the final retrieval."""
    task_source: TaskSource | None = None


def resolve(nodes: Iterable[Node]) -> TraceReading:
    """
    Say what becomes of every retrieval of one trace.

    Of nested retrieval spans the outermost that can be judged is judged. The task is `seer.task`,
    else the input of the outermost span above that has one, else the span's own query.
    """
    known = _distinct(nodes)
    links = rooted({span_id: node.parent_span_id for span_id, node in known.items()})
    above = look_up(known, links)
    below = look_down(known, links, above)
    own = {
        span_id: _alone(node.reading, above[span_id], below[span_id])
        for span_id, node in known.items()
        if node.reading is not None
    }
    spans = {span_id: own[span_id] for span_id in own if known[span_id].record_id is None}
    resolutions = own | _nest(spans, links, above)
    final = _final(known, resolutions)
    if final is None:
        return TraceReading()
    task, source = resolutions[final].task, resolutions[final].task_source
    return TraceReading(resolutions, final, task, source)


def retrieval(node: Node, resolution: Resolution) -> Retrieval:
    """
    Build what is judged.

    Where the query serves as the task there is one scope: the retrieval has no task beside it.

    Raises:
        ValueError: The node is no retrieval.
    """
    reading = node.reading
    if reading is None:
        raise ValueError(f"span {node.span_id} is no retrieval")
    return Retrieval(
        context=reading.context,
        task=None if resolution.task_source == "query" else resolution.task,
        subquery=resolution.query,
        task_source=resolution.task_source,
        list_is_ranked=reading.list_is_ranked,
        is_final_context=reading.is_final_context,
        ground_truth=reading.ground_truth,
        metadata={**reading.surroundings, **reading.metadata},
        conversation_id=resolution.conversation_id,
        expected_outcome=reading.expected_outcome,
        passages_dropped=reading.passages_dropped,
        trace_id=node.trace_id,
        span_id=node.target_id,
        parent_span_id=node.parent_span_id,
        span_name=node.name,
        record_id=node.record_id or record_ids.of_span(node.trace_id, node.span_id),
        dialect=reading.dialect,
        start_ns=node.start_ns,
        end_ns=node.end_ns,
    )


def is_settled(span_id: str, nodes: Mapping[str, Node]) -> bool:
    """
    Whether all spans above one are there, up to one without a parent: none can come any more.

    Args:
        span_id: The span to start from.
        nodes: Nodes of its trace by span id.
    """
    return all(known in nodes for known in (span_id, *above(span_id, nodes)))


def above(span_id: str, nodes: Mapping[str, Node]) -> Iterator[str]:
    """
    Return the ids above a span, the nearest first, up to one that is not there.

    Args:
        span_id: The span to start from.
        nodes: Nodes of its trace by span id.
    """
    seen = {span_id}
    while (node := nodes.get(span_id)) is not None:
        parent = node.parent_span_id
        if parent is None or parent in seen:
            return
        yield parent
        seen.add(parent)
        span_id = parent


def _distinct(nodes: Iterable[Node]) -> dict[str, Node]:
    """Keep one copy of each span: of those that say most, the first."""
    distinct: dict[str, Node] = {}
    for copy in nodes:
        known = distinct.get(copy.span_id)
        if known is None or _says(copy) > _says(known):
            distinct[copy.span_id] = copy
    return distinct


def _says(node: Node) -> int:
    if node.reading is not None:
        return 2
    return int(node.input is not None or node.conversation_id is not None)


def _alone(reading: Reading, above: Above, below: Below) -> Resolution:
    """Resolve a retrieval as if no other were nested with it."""
    query = reading.query or (below.query.text if below.query else None)
    inner_conversation = below.conversation_id.text if below.conversation_id else None
    resolution = Resolution(
        status=reading.state,
        reason=reading.reason,
        query=query,
        conversation_id=reading.conversation_id or above.conversation_id or inner_conversation,
    )
    if reading.task is not None:
        return replace(resolution, task=reading.task, task_source="seer.task")
    if above.input is not None:
        return replace(resolution, task=above.input, task_source="ancestor")
    if query is not None:
        return replace(resolution, task=query, task_source="query")
    reason = reading.reason
    if reason != "span_failed" and (reading.query_redacted or above.redacted):
        reason = "redacted"
    return replace(resolution, status="not_evaluable", reason=reason or "no_query")


def _nest(
    own: Mapping[str, Resolution], links: Links, above: Mapping[str, Above]
) -> dict[str, Resolution]:
    """
    Mark what is nested.

    Going down, the first retrieval that can be judged is judged, and those below it are nested.
    So are those above it, for they are judged further down; but a failure stays, and shows. What
    has nothing to judge above or below keeps its reason, unless one above it keeps its own.
    """
    outer = {span_id: above[span_id].retrieval for span_id in links if span_id in own}
    judged_below: set[str] = set()
    for span_id, outer_id in reversed(outer.items()):
        if outer_id is not None and (own[span_id].judged or span_id in judged_below):
            judged_below.add(outer_id)
    kept: set[str] = set()
    inside: dict[str | None, Literal["nothing", "judged", "reported"]] = {None: "nothing"}
    for span_id, outer_id in outer.items():
        around = inside[outer_id]
        if around == "judged":
            keeps = False
        elif own[span_id].judged:
            keeps, around = True, "judged"
        elif span_id in judged_below:
            keeps = own[span_id].reason == "span_failed"
            around = "reported" if keeps else around
        else:
            keeps, around = around == "nothing", "reported"
        inside[span_id] = around
        if keeps:
            kept.add(span_id)
    return {
        span_id: resolution
        if span_id in kept
        else replace(resolution, status="nested", reason=None)
        for span_id, resolution in own.items()
    }


def _final(known: Mapping[str, Node], resolutions: Mapping[str, Resolution]) -> str | None:
    """Return the marked retrieval, else the last to end: of the judged, else of the not nested."""
    marked, judged, reported = [], [], []
    for span_id, resolution in resolutions.items():
        reading = known[span_id].reading
        if reading is not None and reading.is_final_context:
            marked.append(span_id)
        if resolution.judged:
            judged.append(span_id)
        if resolution.status != "nested":
            reported.append(span_id)
    candidates = marked or judged or reported
    return max(reversed(candidates), key=lambda span_id: known[span_id].end_ns, default=None)
