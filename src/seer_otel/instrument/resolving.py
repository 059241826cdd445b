"""Texts for retrievals whose spans hold the ids of their documents alone, from the application."""

import inspect
from collections.abc import Callable, Mapping, Sequence

from opentelemetry.sdk.trace import ReadableSpan

from seer_otel import dialects, semconv
from seer_otel.dialects import Dialect, Reading, lookup
from seer_otel.dialects.sdk import span_from_sdk
from seer_otel.errors import ConfigError
from seer_otel.instrument.marked_span import MarkedSpan
from seer_otel.instrument.notices import warn_once
from seer_otel.instrument.passages import as_json
from seer_otel.retrieval import Passage

Resolve = Callable[[list[str]], Mapping[str, str | None] | Sequence[str | None]]
"""From ids to texts: by id, or in the same order; None for what is not known."""


class Resolving:
    """
    Writes the context on copies of retrieval spans that have the ids of their documents alone.

    Raises:
        ConfigError: The function is a coroutine function: there is no event loop to run it in.
    """

    def __init__(self, resolve: Resolve, known: Sequence[Dialect]) -> None:
        if inspect.iscoroutinefunction(resolve):
            raise ConfigError("resolve is to be a plain function, not a coroutine function")
        self._resolve = resolve
        self._dialects = known

    def __call__(self, span: ReadableSpan) -> ReadableSpan:
        """Return a copy with the texts of its documents; the span itself where none is missing."""
        reading = dialects.read(span_from_sdk(span), self._dialects)
        ids = lookup.missing(reading) if reading is not None else ()
        if reading is None or not ids:
            return span
        found = lookup.with_texts(reading, self._texts(ids))
        return span if found is reading else MarkedSpan(span, _written(found))

    def _texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        try:
            answer = self._resolve(list(ids))
            pairs = answer.items() if isinstance(answer, Mapping) else zip(ids, answer, strict=True)
            return {str(i): text for i, text in pairs if isinstance(text, str)}
        except Exception as error:  # An application is never broken by this, nor by itself.
            warn_once("Texts could not be resolved: %s", type(error).__name__)
            return {}


def _written(reading: Reading) -> dict[str, str | bool]:
    """Return what our own dialect says of a reading."""
    written: dict[str, str | bool] = {
        semconv.CONTEXT: as_json([_item(passage) for passage in reading.context])
    }
    if reading.query is not None:
        written[semconv.SUBQUERY] = reading.query
    return written


def _item(passage: Passage) -> dict[str, object]:
    item: dict[str, object] = {
        "text": passage.text,
        "id": passage.id,
        "source": passage.source,
        "score": passage.score,
        "distance": passage.distance,
        "rerank_score": passage.rerank_score,
        "rank": passage.rank,
        "metadata": dict(passage.metadata) or None,
    }
    return {key: value for key, value in item.items() if value is not None}
