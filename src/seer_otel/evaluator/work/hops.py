"""What the retrievals of one trace show together, and what comes too late for its span."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Literal

from seer_otel.dialects.trace import Node
from seer_otel.evaluator.hold.entries import Key, Outgoing
from seer_otel.evaluator.work import results
from seer_otel.evaluator.work.traces import Judged, Trace, Traces, without_content
from seer_otel.judge.hops import (
    JudgedHop,
    new_requirements,
    trace_evaluation,
    with_new_requirements,
)
from seer_otel.metrics.documents import documents
from seer_otel.retrieval import Passage, Retrieval
from seer_otel.verdict import Evaluation, Verdict

LATE_BYTES = 64 * 1024 * 1024
"""Text of retrievals kept for a task that may come after them."""
_BESIDES = 1_024
"""Bytes that a kept retrieval takes besides its text."""


class Hops:
    """Looks after the judged retrievals of all traces in view."""

    def __init__(
        self,
        traces: Traces,
        writer: results.Writer,
        *,
        send: Literal["all", "marked"] = "all",
        late_task: Literal["judge", "ignore"] = "judge",
    ) -> None:
        self.traces = traces
        self._writer = writer
        self._send = send
        self._late_task = late_task
        self._late: OrderedDict[Key, tuple[Retrieval, int]] = OrderedDict()
        self._late_bytes = 0

    def add(
        self, trace: Trace, node: Node, retrieval: Retrieval, verdict: Verdict, skeleton: bytes
    ) -> None:
        """Remember a judged retrieval, less its content."""
        evaluation = verdict.of("task")
        if evaluation is None:
            return
        is_final = node.reading is not None and node.reading.is_final_context
        hop = JudgedHop(
            evaluation, _digests(retrieval.context), node.end_ns, node.span_id, is_final
        )
        trace.judged[node.span_id] = Judged(without_content(node), hop, skeleton)
        if retrieval.task_source == "query" and self._late_task == "judge":
            self._keep_for_late_task(node, retrieval)

    def complete(self, trace: Trace, node: Node, verdict: Verdict) -> Verdict:
        """
        Add what the trace adds to a verdict.

        Which requirements this hop is the first to support; and the trace's own scores, where
        this is its marked final context.
        """
        judged = trace.judged.get(node.span_id)
        if judged is None:
            return verdict
        new = new_requirements(trace.hops, judged.hop)
        verdict = with_new_requirements(verdict, new)
        if judged.hop.is_final_context and trace.final() is judged:
            verdict = Verdict((*verdict.evaluations, self._result(trace, judged)))
        return verdict

    def result_beside(self, trace: Trace) -> Outgoing | None:
        """Return the carrier of an ended trace's result, where one is due that did not go out."""
        final = trace.final()
        if (
            final is None
            or trace.open
            or trace.result_of == final.node.span_id
            or (self._send == "marked" and not final.hop.is_final_context)
        ):
            return None
        return self._writer.beside(final.skeleton, Verdict((self._result(trace, final),)), {})

    @staticmethod
    def _result(trace: Trace, final: Judged) -> Evaluation:
        superseded = _shown(trace, trace.result_of)
        trace.result_of = final.node.span_id
        return trace_evaluation(trace.hops, final.hop, supersedes=superseded)

    def late_tasks(self, trace: Trace) -> Iterator[tuple[str, Retrieval]]:
        """
        Yield the retrievals whose task came after they were judged, each once.

        With the span id, and the retrieval as it is to be judged now: against the task alone.
        """
        for span_id, judged in trace.judged.items():
            key = _key(judged.node)
            if key not in self._late:
                continue
            task = trace.resolution(span_id)
            if task.task_source != "ancestor":
                continue
            retrieval, size = self._late[key]
            query = retrieval.queries[0][1]
            if not trace.has_root and not trace.is_complete_above(span_id):
                continue  # an outer ancestor may still say otherwise
            del self._late[key]
            self._late_bytes -= size
            if task.task != query:
                yield (
                    span_id,
                    replace(retrieval, task=task.task, task_source="ancestor", subquery=None),
                )

    def judged_late(self, trace: Trace, span_id: str, verdict: Verdict) -> Outgoing:
        """
        Put a late task's evaluation in the place of the first one; return its carrier.

        Where the trace's result was made of the first one, another comes along.
        """
        judged = trace.judged[span_id]
        evaluation = verdict.of("task") or judged.hop.evaluation
        judged = replace(judged, hop=replace(judged.hop, evaluation=evaluation))
        trace.judged[span_id] = judged
        verdict = with_new_requirements(verdict, new_requirements(trace.hops, judged.hop))
        if trace.result_of == span_id:
            verdict = Verdict((*verdict.evaluations, self._result(trace, judged)))
        return self._writer.beside(judged.skeleton, verdict, {})

    def _keep_for_late_task(self, node: Node, retrieval: Retrieval) -> None:
        size = _BESIDES + sum(len(passage.text or "") for passage in retrieval.context)
        self._late[_key(node)] = retrieval, size
        self._late_bytes += size
        while self._late_bytes > LATE_BYTES:
            _, (_, oldest) = self._late.popitem(last=False)
            self._late_bytes -= oldest


def _key(node: Node) -> Key:
    return Key(bytes.fromhex(node.trace_id), bytes.fromhex(node.span_id))


def _digests(context: tuple[Passage, ...]) -> tuple[Passage, ...]:
    return tuple(
        Passage(None if text is None else sha256(text.encode("utf-8", "replace")).hexdigest())
        for text in documents(context)
    )


def _shown(trace: Trace, span_id: str | None) -> str | None:
    """Return the id of the span that a reader finds the results of a judged retrieval on."""
    judged = trace.judged.get(span_id) if span_id else None
    return span_id if judged is None else judged.node.target_id
