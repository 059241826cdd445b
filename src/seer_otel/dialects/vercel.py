"""Vercel's AI SDK: the reranking of documents."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seer_otel.dialects import passages
from seer_otel.dialects.composition import compose
from seer_otel.dialects.passages import ABSENT, CUT, EMPTY, Documents
from seer_otel.dialects.question import Question
from seer_otel.dialects.reading import Instrumentation, Reading
from seer_otel.dialects.span import Span
from seer_otel.dialects.values import integer, looks_like_json, number, parse_json

name = "vercel"
markers: tuple[bytes, ...] = (b"ai.rerank",)
instrumentations: tuple[Instrumentation, ...] = (
    Instrumentation(
        "Vercel AI SDK 5 and 6: `rerank`",
        "`experimental_telemetry: { isEnabled: true }`, with `recordInputs` and `recordOutputs` as "
        "they are by default.",
        "The query: the prompt around it serves. Retrieval itself has no span there: put "
        "`seer.context` on one, or name the tool that retrieves.",
    ),
    Instrumentation(
        "Vercel AI SDK 7: `@ai-sdk/otel`", "`seer.context`.", "Documents and query of `rerank`."
    ),
)


def read(span: Span) -> Reading | None:
    """Read a reranking: its output is the retrieval, its candidates are not."""
    if span.attributes.get("ai.operationId") not in ("ai.rerank", "ai.rerank.doRerank"):
        return None
    return compose(span, name, Question(), passages.ranked(_reranked(span)))


def _reranked(span: Span) -> Documents:
    candidates, ranking = span.attributes.get("ai.documents"), span.attributes.get("ai.ranking")
    if candidates == [] or ranking == []:
        return EMPTY
    if not isinstance(candidates, list) or not isinstance(ranking, list):
        return ABSENT
    scores: dict[int, float | None] = {}
    try:
        for entry in ranking:
            index, score = _place(entry)
            if index is not None and 0 <= index < len(candidates):
                scores.setdefault(index, score)
        found = passages.listed([_opened(candidates[index]) for index in scores])
    except ValueError:
        return CUT
    if not scores:
        return ABSENT
    scored = zip(found.passages, scores.values(), strict=False)
    return replace(found, passages=tuple(replace(p, score=score) for p, score in scored))


def _place(entry: object) -> tuple[int | None, float | None]:
    """Read which candidate stands at a place of the ranking, and its score."""
    fields = _opened(entry)
    if not isinstance(fields, Mapping):
        return None, None
    return integer(fields.get("index")), number(fields.get("relevanceScore"))


def _opened(value: Any) -> Any:
    """
    Open an item that was written as JSON.

    Raises:
        ValueError: It was cut.
    """
    return parse_json(value) if isinstance(value, str) and looks_like_json(value) else value
