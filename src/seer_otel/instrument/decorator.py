"""Retrievers of the application's own, recorded by a decorator."""

import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar, cast, overload

from opentelemetry import trace

from seer_otel.instrument.recording import RETRIEVAL, Recording, retrieval

P = ParamSpec("P")
R = TypeVar("R")


@overload
def retriever(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def retriever(
    *,
    query: str | None = None,
    name: str = RETRIEVAL,
    is_final_context: bool = False,
    metadata: Mapping[str, object] | None = None,
    sample_rate: float | None = None,
    tracer_provider: trace.TracerProvider | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def retriever(
    function: Callable[P, R] | None = None,
    /,
    *,
    query: str | None = None,
    name: str = RETRIEVAL,
    is_final_context: bool = False,
    metadata: Mapping[str, object] | None = None,
    sample_rate: float | None = None,
    tracer_provider: trace.TracerProvider | None = None,
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """
    Record every call of a function as a retrieval: its query, and what it returns as the context.

        @retriever
        def search(question: str) -> list[Document]:
            return index.search(question)

    The function may be async. Where it returns an iterator, or is a generator, the span stays open
    until the reader is done, and has the items that were read.

    Args:
        function: What to record.
        query: Name of the argument that holds the query; the first one unless given.
        name: Name of the spans.
        is_final_context: Whether the answer is written from this context.
        metadata: For filters and comparisons.
        sample_rate: 0..1, for a retrieval outside a `request()`.
        tracer_provider: The global one unless given.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        query_of = _query_reader(function, query)

        def opened(*args: object, **kwargs: object) -> Recording:
            return retrieval(
                subquery=query_of(*args, **kwargs),
                name=name,
                is_final_context=is_final_context,
                metadata=metadata,
                sample_rate=sample_rate,
                tracer_provider=tracer_provider,
            )

        return _recorded(function, opened)

    return decorate if function is None else decorate(function)


def _recorded(function: Callable[P, R], opened: Callable[..., Recording]) -> Callable[P, R]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: P.args, **kwargs: P.kwargs) -> object:
            with opened(*args, **kwargs) as recording:
                return _taken(recording, await function(*args, **kwargs))

        return cast("Callable[P, R]", awaited)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        with opened(*args, **kwargs) as recording:
            return _taken(recording, function(*args, **kwargs))

    return called


def _taken(recording: Recording, result: R) -> R:
    """Return what a function returned; it is the context, now or once it has been read."""
    if isinstance(result, Iterator):
        recording.leave_open()
        return cast("R", _read_through(recording, result))
    if isinstance(result, AsyncIterator):
        recording.leave_open()
        return cast("R", _read_through_async(recording, result))
    recording.context = result
    return result


def _read_through(recording: Recording, items: Iterator[Any]) -> Iterator[Any]:
    seen: list[Any] = []
    try:
        while True:
            with recording.running():
                try:
                    item = next(items)
                except StopIteration:
                    break
            seen.append(item)
            yield item
        recording.context = seen
    except GeneratorExit:
        recording.context = seen
        raise
    finally:
        recording.span.end()


async def _read_through_async(
    recording: Recording, items: AsyncIterator[Any]
) -> AsyncIterator[Any]:
    seen: list[Any] = []
    try:
        while True:
            with recording.running():
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    break
            seen.append(item)
            yield item
        recording.context = seen
    except GeneratorExit:
        recording.context = seen
        raise
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()
        recording.span.end()


def _query_reader(function: Callable[..., object], query: str | None) -> Callable[..., str | None]:
    """
    Return what finds the query among the arguments of a call.

    Raises:
        TypeError: The function has no argument of that name.
    """
    signature = inspect.signature(function)
    names = [name for name in signature.parameters if name not in {"self", "cls"}]
    if query is not None and query not in names:
        raise TypeError(f"{function!r} has no argument {query!r}")
    wanted = query or next(iter(names), None)

    def read(*args: object, **kwargs: object) -> str | None:
        if wanted is None:
            return None
        try:
            value = signature.bind(*args, **kwargs).arguments.get(wanted)
        except TypeError:  # A wrong call: the function itself says so better.
            return None
        text = getattr(value, "query_str", value)  # A QueryBundle of LlamaIndex.
        return text if isinstance(text, str) else None

    return read
