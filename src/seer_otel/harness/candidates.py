"""From files to what is judged: every retrieval of spans and events, or why it is not judged."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from seer_otel import sampling
from seer_otel.dialects import DIALECTS, Dialect, otlp
from seer_otel.dialects.conversation import conversation_from_event, is_conversation
from seer_otel.dialects.event import retrieval_from_event
from seer_otel.dialects.sdk import span_from_sdk
from seer_otel.dialects.trace import Node, node, resolve, retrieval
from seer_otel.harness.files import STDIN, BadRecord, bodies
from seer_otel.retrieval import Conversation, Retrieval

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

NESTED = "nested"
"""The reason that is in no total."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One retrieval of the files."""

    retrieval: Retrieval
    skip_reason: str | None = None
    """Why it is not judged; None where it is."""
    from_event: bool = False
    """Whether it is an event, rather than a span."""


@dataclass(slots=True)
class Gathered:
    """What files hold."""

    candidates: list[Candidate] = field(default_factory=list)
    """In the order of the files, spans before events; each span once."""
    traces: TracesData = field(default_factory=TracesData)
    """All spans as they came, retrievals or not."""
    bad_records: list[BadRecord] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=list)
    spans: int = 0


def gather(
    paths: Iterable[str | Path],
    dialects: Sequence[Dialect] = DIALECTS,
    *,
    events: Iterable[Mapping[str, Any]] = (),
    ended: Iterable["ReadableSpan"] = (),
) -> Gathered:
    """
    Read files, and what is in memory; the spans of a trace may be spread over all of them.

    An event without a record id is known by its file and its number among the events of it.

    Args:
        paths: The files; `-` is the standard input.
        dialects: Those in which spans are read.
        events: Retrieval events and conversations, as lines of a file would hold them.
        ended: Spans of the SDK.

    Raises:
        OSError: A file cannot be opened.
        Undecodable: An event of those in memory cannot be read.
    """
    gathered = Gathered()
    found: list[Candidate] = []
    for path in paths:
        file = "stdin" if str(path) == STDIN else Path(path).name
        number = 0
        for body in bodies(path):
            if isinstance(body, BadRecord):
                gathered.bad_records.append(body)
            elif isinstance(body, TracesData):
                gathered.traces.MergeFrom(body)
            else:
                number += 1
                _add(gathered, found, body, f"{file}#{number}")
    for number, event in enumerate(events, start=1):
        read = conversation_from_event if is_conversation(event) else retrieval_from_event
        _add(gathered, found, read(event), f"event {number}")
    nodes: dict[tuple[str, str], Node] = {}
    for span in (*otlp.spans(gathered.traces), *map(span_from_sdk, ended)):
        nodes.setdefault((span.trace_id, span.span_id), node(span, dialects))
    gathered.spans = len(nodes)
    gathered.candidates = [*_of_spans(list(nodes.values())), *found]
    return gathered


def _add(
    gathered: Gathered, found: list[Candidate], body: Retrieval | Conversation, name: str
) -> None:
    named = replace(body, record_id=body.record_id or name)
    if isinstance(named, Conversation):
        gathered.conversations.append(named)
    else:
        found.append(_of_event(named))


def sample(gathered: Gathered, rate: float) -> int:
    """
    Keep the retrievals of a share of the traces, and that share of the conversations.

    The decision is the evaluator's: a trace is judged whole or not at all, and always the same
    way. What is of no trace goes by its record id.

    Returns:
        How many retrievals and conversations were left out.
    """
    before = len(gathered.candidates) + len(gathered.conversations)
    gathered.candidates = [
        each
        for each in gathered.candidates
        if _sampled(each.retrieval.trace_id, each.retrieval.record_id, rate)
    ]
    gathered.conversations = [
        each for each in gathered.conversations if _sampled(None, each.record_id, rate)
    ]
    return before - len(gathered.candidates) - len(gathered.conversations)


def _sampled(trace_id: str | None, record_id: str | None, rate: float) -> bool:
    key = trace_id or hashlib.sha256((record_id or "").encode()).hexdigest()[:32]
    return sampling.sampled(key, rate)


def _of_spans(nodes: Sequence[Node]) -> Iterable[Candidate]:
    by_trace: dict[str, list[Node]] = {}
    for each in nodes:
        by_trace.setdefault(each.trace_id, []).append(each)
    readings = {trace_id: resolve(own) for trace_id, own in by_trace.items()}
    for each in nodes:
        if each.reading is not None:
            resolution = readings[each.trace_id].resolutions[each.span_id]
            reason = NESTED if resolution.status == "nested" else resolution.reason
            yield Candidate(retrieval(each, resolution), reason)


def _of_event(event: Retrieval) -> Candidate:
    """Skip what has no query, and a context of which nothing can be read: that is not empty."""
    reason = None
    if not event.queries:
        reason = "no_query"
    elif any(p.text is None for p in event.context) and not any(p.readable for p in event.context):
        reason = "no_content"
    return Candidate(event, reason, from_event=True)
