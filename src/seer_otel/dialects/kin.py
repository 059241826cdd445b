"""What the spans above a span, and the retrievals nested in it, have to tell it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from seer_otel.dialects.node import Node

Links = Mapping[str, str | None]
"""Span id to the parent's id, parents before children; see `links.rooted`."""


@dataclass(frozen=True, slots=True)
class Above:
    """What the spans above one say."""

    input: str | None = None
    """That of the outermost span that has one."""
    redacted: bool = False
    """Whether one of them was asked something that was hidden."""
    conversation_id: str | None = None
    """That of the nearest span that has one."""
    retrieval: str | None = None
    """Span id of the nearest retrieval."""


class Found(NamedTuple):
    """A text found in a nested retrieval; the smallest is the nearest, then the first to start."""

    distance: int
    start_ns: int
    text: str


@dataclass(slots=True)
class Below:
    """What the retrievals nested in one say."""

    query: Found | None = None
    conversation_id: Found | None = None


def look_up(nodes: Mapping[str, Node], links: Links) -> dict[str, Above]:
    """Carry inputs and conversations down to every span from those above it."""
    cut_off = _from_the_root(nodes.values())
    above: dict[str, Above] = {}
    for span_id, parent_id in links.items():
        if parent_id is None:
            is_root = nodes[span_id].parent_span_id is None
            above[span_id] = Above() if is_root else cut_off
            continue
        parent, over = nodes[parent_id], above[parent_id]
        above[span_id] = Above(
            input=over.input or parent.input,
            redacted=over.redacted or parent.input_redacted,
            conversation_id=parent.conversation_id or over.conversation_id,
            retrieval=parent_id if parent.reading else over.retrieval,
        )
    return above


def _from_the_root(nodes: Iterable[Node]) -> Above:
    """Say what the trace's root tells spans whose links to it are missing."""
    roots = sorted((n for n in nodes if n.parent_span_id is None), key=lambda n: n.start_ns)
    return Above(
        input=next((root.input for root in roots if root.input), None),
        redacted=any(root.input_redacted for root in roots),
        conversation_id=next((r.conversation_id for r in roots if r.conversation_id), None),
    )


def look_down(
    nodes: Mapping[str, Node], links: Links, above: Mapping[str, Above]
) -> dict[str, Below]:
    """Carry queries and conversations up to every retrieval from those nested in it."""
    below = {span_id: Below() for span_id in links}
    for span_id in reversed(list(links)):
        node, outer_id = nodes[span_id], above[span_id].retrieval
        if node.reading is not None and outer_id is not None:
            inner, outer, start = below[span_id], below[outer_id], node.start_ns
            query = _carried(node.reading.query, inner.query, start)
            conversation = _carried(node.conversation_id, inner.conversation_id, start)
            outer.query = _nearest(outer.query, query)
            outer.conversation_id = _nearest(outer.conversation_id, conversation)
    return below


def _carried(own: str | None, inner: Found | None, start_ns: int) -> Found | None:
    if own is not None:
        return Found(1, start_ns, own)
    return None if inner is None else Found(inner.distance + 1, start_ns, inner.text)


def _nearest(*found: Found | None) -> Found | None:
    return min((f for f in found if f is not None), default=None)
