"""One retrieval of the application's own, recorded on a span: `with retrieval(…) as r`."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

from opentelemetry import trace

from seer_otel import semconv
from seer_otel.dialects import values
from seer_otel.instrument import passages, settings
from seer_otel.instrument.notices import warn_once
from seer_otel.instrument.scope import current, tracer
from seer_otel.retrieval import GroundTruth

RETRIEVAL = "retrieval"
"""Value of `gen_ai.operation.name`, and the usual name of the span."""


def retrieval(
    *,
    task: str | None = None,
    subquery: str | None = None,
    name: str = RETRIEVAL,
    is_final_context: bool = False,
    metadata: Mapping[str, object] | None = None,
    ground_truth: GroundTruth | Mapping[str, object] | None = None,
    conversation_id: str | None = None,
    expected_outcome: str | None = None,
    sample_rate: float | None = None,
    tracer_provider: trace.TracerProvider | None = None,
) -> "Recording":
    """
    Open a span around one retrieval; `with` or `async with`.

        with retrieval(task=question) as r:
            r.context = index.search(question)
        answer = write(question, r.context)

    Args:
        task: The user's question; that of the enclosing `request()` unless given.
        subquery: What this hop is to answer, where that is not the task itself.
        name: Name of the span.
        is_final_context: Whether the answer is written from this context.
        metadata: For filters and comparisons: `env`, `user_id`, `model`, `index`, anything.
        ground_truth: Labels, `gold_doc_ids` and `answer`. The judge never sees them.
        conversation_id: Groups the traces of a conversation.
        expected_outcome: What the conversation should lead to.
        sample_rate: 0..1, for a retrieval outside a `request()`.
        tracer_provider: The global one unless given.
    """
    scope = current()
    task = values.text(task) or scope.task
    subquery = values.text(subquery)
    attributes: dict[str, str | bool | float | None] = {
        semconv.GEN_AI_OPERATION: RETRIEVAL,
        semconv.GEN_AI_QUERY: subquery or task,
        semconv.TASK: task,
        semconv.SUBQUERY: subquery,
        semconv.IS_FINAL_CONTEXT: is_final_context or None,
        semconv.METADATA: passages.as_json(metadata) if metadata else None,
        semconv.GROUND_TRUTH: _labels(ground_truth),
        semconv.CONVERSATION_ID: values.text(conversation_id),
        semconv.EXPECTED_OUTCOME: values.text(expected_outcome),
        semconv.SAMPLE_RATE: settings.clamped(sample_rate),
        semconv.SAMPLED: scope.sampled,
    }
    present = {key: value for key, value in attributes.items() if value is not None}
    return Recording(tracer(tracer_provider), name, present)


class Recording:
    """One retrieval, while it runs. Made by `retrieval()`."""

    def __init__(
        self, tracer: trace.Tracer, name: str, attributes: Mapping[str, str | bool | float]
    ) -> None:
        self._tracer = tracer
        self._name = name
        self._attributes = attributes
        self._open = ExitStack()
        self._items: list[Any] | None = None
        self._left_open = False
        self.span: trace.Span = trace.INVALID_SPAN
        """The span of this retrieval, for attributes of your own."""

    @property
    def context(self) -> list[Any] | None:
        """
        What was retrieved, best first: the items as they were given. None: nothing was said.

        Takes strings, dicts, pairs of document and score (higher is better; give a dict with
        `distance` where it is not), and documents of LangChain, LlamaIndex and Haystack, alone or
        in anything that can be run through. An empty list says that nothing was found.
        """
        return self._items

    @context.setter
    def context(self, value: object) -> None:
        if value is None:
            return
        self._items = passages.listed(value)
        if not self.span.is_recording():
            return
        try:
            self.span.set_attribute(semconv.CONTEXT, passages.encoded(self._items))
        except Exception as error:  # The application goes on; its retrieval has no context.
            warn_once("A context could not be recorded: %s", type(error).__name__)

    def running(self) -> AbstractContextManager[trace.Span]:
        """Make the span the current one, for as long as the retrieval itself runs."""
        return trace.use_span(self.span, end_on_exit=False)

    def leave_open(self) -> None:
        """Keep the span from ending with the block: who reads the rest of the context ends it."""
        self._left_open = True

    def __enter__(self) -> Self:
        self.span = self._tracer.start_span(self._name, attributes=self._attributes)
        self._open.enter_context(self.running())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace_back: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace_back)
        if not self._left_open:
            self.span.end()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace_back: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace_back)


def _labels(ground_truth: GroundTruth | Mapping[str, object] | None) -> str | None:
    if not ground_truth:
        return None
    if isinstance(ground_truth, GroundTruth):
        return passages.as_json(asdict(ground_truth))
    return passages.as_json(ground_truth)
