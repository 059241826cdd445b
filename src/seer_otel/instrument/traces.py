"""What is remembered of the traces that run: who is whose parent, and what was decided."""

import os
import threading
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from opentelemetry.trace import SpanContext

from seer_otel.instrument.scope import Scope

OPEN_SPANS: Final = 10_000
"""Spans remembered at once. An application may start spans and never end them."""
DECISIONS: Final = 10_000
"""Traces whose decision is remembered."""


@dataclass(slots=True)
class OpenSpan:
    """A span that has started and not ended."""

    parent: SpanContext | None
    scope: Scope
    above_retrieval: bool = False
    """Whether a judged retrieval ended below it, so that its input is wanted."""


class Traces:
    """
    Open spans and decisions, the oldest forgotten first.

    A forgotten span is not shipped as an ancestor; a forgotten decision is made again, by the same
    hash. Safe from any thread, and in a forked child.
    """

    def __init__(self, open_spans: int = OPEN_SPANS, decisions: int = DECISIONS) -> None:
        self._open: OrderedDict[tuple[int, int], OpenSpan] = OrderedDict()
        self._decisions: OrderedDict[int, bool] = OrderedDict()
        self._open_limit = open_spans
        self._decision_limit = decisions
        self._renew_lock()
        if hasattr(os, "register_at_fork"):
            renew = weakref.WeakMethod(self._renew_lock)
            os.register_at_fork(after_in_child=lambda: (method := renew()) and method())

    def started(self, span: SpanContext, parent: SpanContext | None, scope: Scope) -> None:
        """Remember a span that has started."""
        with self._lock:
            self._open[span.trace_id, span.span_id] = OpenSpan(parent, scope)
            if len(self._open) > self._open_limit:
                self._open.popitem(last=False)

    def ended(self, span: SpanContext) -> OpenSpan | None:
        """Forget a span that has ended, and return what was known of it."""
        with self._lock:
            return self._open.pop((span.trace_id, span.span_id), None)

    def want_ancestors(self, parent: SpanContext | None) -> None:
        """Mark a judged retrieval's parent and everything above it that runs in this process."""
        with self._lock:
            while parent is not None:
                above = self._open.get((parent.trace_id, parent.span_id))
                if above is None or above.above_retrieval:
                    return
                above.above_retrieval = True
                parent = above.parent

    def decision(self, trace_id: int) -> bool | None:
        """Return what was decided for a trace."""
        return self._decisions.get(trace_id)

    def decide(self, trace_id: int, sampled: bool) -> bool:
        """Settle a trace. Returns what holds: the first decision stands."""
        with self._lock:
            holds = self._decisions.setdefault(trace_id, sampled)
            if len(self._decisions) > self._decision_limit:
                self._decisions.popitem(last=False)
        return holds

    def _renew_lock(self) -> None:
        """
        In a forked child the lock may be held by a thread that is not there.

        It can be entered twice by one thread, for the garbage collector may end a span meanwhile.
        """
        self._lock = threading.RLock()
