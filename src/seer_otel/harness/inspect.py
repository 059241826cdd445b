"""What would be judged of a file's spans, and of the rest, why not: nothing is sent anywhere."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seer_otel.dialects import DIALECTS, Dialect, tool
from seer_otel.dialects.evicted import evicted
from seer_otel.dialects.reasons import NESTED, WHAT_TO_DO
from seer_otel.dialects.span import Span
from seer_otel.dialects.trace import Node, Resolution, TraceReading, node, resolve
from seer_otel.harness.files import BadRecord, read
from seer_otel.harness.shown import shown
from seer_otel.retrieval import Passage

_STYLES = {"retrieval": "green", "empty": "green", "not_evaluable": "red", "nested": "dim"}


@dataclass(frozen=True, slots=True)
class InspectedSpan:
    """One retrieval span of a file."""

    node: Node
    resolution: Resolution
    evicted: str | None = None
    """What the limits of an SDK took away from it, where that is why it is not judged."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a file of spans holds."""

    file: str
    """The file's name, without its folder."""
    spans: tuple[InspectedSpan, ...]
    """The retrieval spans, in the order of the file, each once."""
    traces: dict[str, TraceReading]
    """By trace id, in the order of the file: those that have retrieval spans."""
    ignored_span_ids: tuple[str, ...]
    """The other spans, in the order of the file, each once."""
    events: int = 0
    """How many retrieval events the file holds beside its spans."""
    bad_records: tuple[BadRecord, ...] = ()
    tools: tuple[str, ...] = ()
    """Names of tools that returned documents, and are not judged, for they are not named."""


def inspect(path: str | Path, dialects: Sequence[Dialect] = DIALECTS) -> Inspection:
    """
    Read a file of spans as the evaluator would.

    Args:
        path: The file; `-` is the standard input.
        dialects: Those that are read.

    Raises:
        OSError: The file cannot be opened.
    """
    nodes: dict[tuple[str, str], Node] = {}
    lost: dict[tuple[str, str], str | None] = {}
    events, bad = 0, []
    tools: dict[str, None] = {}
    for record in read(path):
        if isinstance(record, BadRecord):
            bad.append(record)
        elif isinstance(record, Span):
            found = nodes.setdefault((record.trace_id, record.span_id), node(record, dialects))
            if found.reading is not None and found.reading.reason == "attributes_dropped":
                lost.setdefault((record.trace_id, record.span_id), evicted(record))
            if found.reading is None and (name := tool.returns_documents(record)):
                tools[name] = None
        else:
            events += 1
    traces = _resolved(nodes.values())
    return Inspection(
        file=Path(path).name,
        spans=tuple(
            InspectedSpan(
                n, traces[n.trace_id].resolutions[n.span_id], lost.get((n.trace_id, n.span_id))
            )
            for n in nodes.values()
            if n.reading is not None
        ),
        traces=traces,
        ignored_span_ids=tuple(n.span_id for n in nodes.values() if n.reading is None),
        events=events,
        bad_records=tuple(bad),
        tools=tuple(tools),
    )


def _resolved(nodes: Iterable[Node]) -> dict[str, TraceReading]:
    """Resolve trace by trace, those with retrievals, in the order of their first one."""
    by_trace: dict[str, list[Node]] = {}
    order: dict[str, None] = {}
    for n in nodes:
        by_trace.setdefault(n.trace_id, []).append(n)
        if n.reading is not None:
            order.setdefault(n.trace_id)
    return {trace_id: resolve(by_trace[trace_id]) for trace_id in order}


def as_json(inspection: Inspection) -> dict[str, Any]:
    """Return an inspection as plain values, for programs."""
    document: dict[str, Any] = {
        "file": inspection.file,
        "spans": [_span_json(span) for span in inspection.spans],
        "traces": [
            {"trace_id": trace_id, "task": trace.task, "task_source": trace.task_source}
            for trace_id, trace in inspection.traces.items()
        ],
        "ignored_span_ids": list(inspection.ignored_span_ids),
    }
    if inspection.events:
        document["events"] = inspection.events
    if inspection.bad_records:
        document["bad_records"] = [
            {"line": bad.line, "message": bad.message} for bad in inspection.bad_records
        ]
    return document


def _span_json(span: InspectedSpan) -> dict[str, Any]:
    reading, resolution = span.node.reading, span.resolution
    assert reading is not None
    document: dict[str, Any] = {
        "span_id": span.node.span_id,
        "name": span.node.name,
        "dialect": reading.dialect,
        "status": resolution.status,
    }
    if resolution.reason is not None:
        document["reason"] = resolution.reason
    document["query"] = resolution.query
    document["passages"] = [_passage_json(passage) for passage in _in_rank_order(reading.context)]
    document["conversation_id"] = resolution.conversation_id
    if reading.metadata and reading.dialect == "seer":
        document["metadata"] = dict(reading.metadata)
    if reading.passages_dropped:
        document["passages_dropped"] = reading.passages_dropped
    return document


def _in_rank_order(context: Iterable[Passage]) -> list[Passage]:
    """Return what can be read, or could be with a resolver, in rank order where all have ranks."""
    passages = [p for p in context if p.readable or (p.text is None and p.id is not None)]
    ranks = {id(p): p.rank for p in passages if p.rank is not None}
    return sorted(passages, key=lambda p: ranks[id(p)]) if len(ranks) == len(passages) else passages


def _passage_json(passage: Passage) -> dict[str, Any]:
    document: dict[str, Any] = {"id": passage.id, "text": passage.text, "score": passage.score}
    if passage.truncated:
        document["truncated"] = True
    return document


def render(inspection: Inspection) -> RenderableType:
    """Lay an inspection out for people: what is judged, what is not, why, and what to do."""
    parts: list[RenderableType] = []
    if inspection.spans:
        parts += [_span_table(inspection), _task_table(inspection)]
    counts: Counter[str] = Counter(
        span.resolution.reason or span.resolution.status for span in inspection.spans
    )
    for status, words in [*WHAT_TO_DO.items(), ("nested", NESTED)]:
        if counts[status]:
            parts.append(Text.assemble((f"{status} ({counts[status]}): ", "bold"), words))
        if status == "attributes_dropped":
            parts += [
                Text(f"  {span.node.span_id} {shown(span.node.name, 40)}: {span.evicted}")
                for span in inspection.spans
                if span.evicted is not None
            ]
    parts.append(Text(_summary(inspection)))
    parts += [Text(shown(str(bad), 200), style="red") for bad in inspection.bad_records]
    return Group(*parts)


def _summary(inspection: Inspection) -> str:
    others, total = len(inspection.ignored_span_ids), len(inspection.spans)
    judged = sum(span.resolution.judged for span in inspection.spans)
    sentences = [f"{judged} of {total} retrieval spans can be judged.", f"Other spans: {others}."]
    if others and not total:
        sentences.append("No span is marked as a retrieval in a way that is known here.")
    if inspection.tools:
        names = ", ".join(shown(name, 40) for name in inspection.tools[:10])
        sentences.append(f"Calls of tools that are not named in `tools` hold documents: {names}.")
    if inspection.events:
        sentences.append(f"Events: {inspection.events}.")
    return " ".join(sentences)


def _span_table(inspection: Inspection) -> Table:
    table = Table("Span", "Name", "Dialect", "Status", "Passages", "Query", title=inspection.file)
    for span in inspection.spans:
        reading, resolution = span.node.reading, span.resolution
        assert reading is not None
        readable = sum(passage.readable for passage in reading.context)
        status = resolution.reason or resolution.status
        table.add_row(
            span.node.span_id,
            Text(shown(span.node.name, 40)),
            reading.dialect,
            Text(status, style=_STYLES[resolution.status]),
            str(readable),
            Text(shown(resolution.query or "–", 80)),
        )
    return table


def _task_table(inspection: Inspection) -> Table:
    table = Table("Trace", "Task", "Taken from")
    for trace_id, trace in inspection.traces.items():
        table.add_row(trace_id, Text(shown(trace.task or "–", 80)), trace.task_source or "nowhere")
    return table
