"""The scope of one user request: its question and its decision, carried in the Context."""

import functools
import inspect
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Final, ParamSpec, Self, TypeVar
from urllib.parse import quote_plus

from opentelemetry import baggage, context, trace

import seer_otel
from seer_otel import sampling, semconv
from seer_otel.dialects import values
from seer_otel.instrument import settings
from seer_otel.instrument.notices import warn_once

PROPAGATED_BYTES: Final = 4_000
"""Of a question in the baggage, encoded; the propagator drops a longer entry whole."""

_KEY = context.create_key("seer-request")

P = ParamSpec("P")
R = TypeVar("R")

process_rate: float | None = None
"""The rate of this process's `SeerSpanProcessor`; None where there is none."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is known of the user request that runs."""

    task: str | None = None
    sampled: bool | None = None
    """The decision; None where none was made yet."""


def current(within: context.Context | None = None) -> Scope:
    """Return the scope of a Context (the current one), be it opened here or upstream."""
    held = context.get_value(_KEY, within)
    if isinstance(held, Scope):
        return held
    task = baggage.get_baggage(semconv.TASK, within)
    return Scope(values.text(task), values.flag(baggage.get_baggage(semconv.SAMPLED, within)))


def tracer(provider: trace.TracerProvider | None) -> trace.Tracer:
    """Return the tracer of this package's own spans."""
    return trace.get_tracer(semconv.SCOPE_NAME, seer_otel.__version__, provider)


def request(
    *,
    task: str | Callable[..., str | None] | None = None,
    sample_rate: float | None = None,
    propagate_task: bool = False,
    tracer_provider: trace.TracerProvider | None = None,
) -> "Request":
    """
    Open the scope of one user request; `with`, `async with`, or a decorator.

    Every retrieval inside is about `task`, in this process. All of them are judged, or none: the
    decision is made here, and travels to other processes in the baggage (`seer.sampled`). Where no
    span is open a span named `request` is opened, so that the retrievals share a trace.

        with request(task=question):
            passages = search(question)
            answer = write(question, passages)

    Args:
        task: The user's question. For a decorator: a function that finds it among the arguments of
            the decorated function, `@request(task=lambda question: question)`.
        sample_rate: 0..1, for this request; the processor's rate unless given. What was decided
            upstream, or by an enclosing request, stands.
        propagate_task: Send the question to other processes too. Baggage goes into the headers of
            every instrumented call, those to third parties included.
        tracer_provider: The global one unless given.
    """
    return Request(task, sample_rate, propagate_task, tracer_provider)


class Request:
    """One user request, while it is open. Made by `request()`."""

    def __init__(
        self,
        task: str | Callable[..., str | None] | None,
        sample_rate: float | None,
        propagate_task: bool,
        tracer_provider: trace.TracerProvider | None,
    ) -> None:
        self._task = task
        self._rate = settings.clamped(sample_rate)
        self._propagate_task = propagate_task
        self._provider = tracer_provider
        self._open = ExitStack()

    def __enter__(self) -> Self:
        outer = current()
        if not trace.get_current_span().get_span_context().is_valid:
            self._open.enter_context(tracer(self._provider).start_as_current_span("request"))
        sampled = self._decide() if outer.sampled is None else outer.sampled
        token = context.attach(self._carried(Scope(values.text(self._task) or outer.task, sampled)))
        self._open.callback(context.detach, token)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace_back: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace_back)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace_back: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace_back)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Open the scope anew around every call of a function."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("a generator runs after its call: open the request where it is read")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: P.args, **kwargs: P.kwargs) -> object:
                async with self._for_call(*args, **kwargs):
                    return await function(*args, **kwargs)

            return awaited  # type: ignore[return-value]  # R is the coroutine

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._for_call(*args, **kwargs):
                return function(*args, **kwargs)

        return called

    def _for_call(self, *args: object, **kwargs: object) -> "Request":
        task = self._task
        if callable(task):
            try:
                task = task(*args, **kwargs)
            except Exception as error:  # The application goes on without a task.
                warn_once("The task of a request was not found: %s", type(error).__name__)
                task = None
        return Request(task, self._rate, self._propagate_task, self._provider)

    def _decide(self) -> bool | None:
        span = trace.get_current_span().get_span_context()
        rate = process_rate if self._rate is None else self._rate
        if rate is None or not span.is_valid:
            return None
        return sampling.sampled(trace.format_trace_id(span.trace_id), rate)

    def _carried(self, scope: Scope) -> context.Context:
        carried = context.set_value(_KEY, scope)
        if scope.sampled is not None:
            carried = baggage.set_baggage(semconv.SAMPLED, str(scope.sampled).lower(), carried)
        if scope.task is not None and self._propagate_task:
            task = cut(scope.task, PROPAGATED_BYTES)
            carried = baggage.set_baggage(semconv.TASK, task, carried)
        return carried


def cut(text: str, limit: int) -> str:
    """Return as much of a text as has at most `limit` bytes once it is encoded for a header."""
    size = 0
    for position, character in enumerate(text):
        size += len(quote_plus(character))
        if size > limit:
            return text[:position]
    return text
