"""OpenLLMetry's spans of vector stores: results are events, one a document."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from seer_otel.dialects import passages
from seer_otel.dialects.openllmetry.step import Found
from seer_otel.dialects.passages import ABSENT, DROPPED, EMPTY, Documents
from seer_otel.dialects.question import NO_QUESTION
from seer_otel.dialects.span import Span, SpanEvent
from seer_otel.dialects.values import number, parse_literal


@dataclass(frozen=True, slots=True)
class _Store:
    """How the searches of one store show."""

    system: str
    """Value of `db.system`."""
    searches: str
    """Pattern of span names, and of `<db.system>.<db.operation>`."""
    text_in: Literal["document", "entity", "metadata"] | None = None
    """Which field of a result holds its text; None where no results are recorded."""


_STORES: Final = {
    store.system: store
    for store in (
        _Store("chroma", r"chroma\.query", "document"),
        _Store("milvus", r"milvus\.search", "entity"),
        _Store("Pinecone", r"pinecone\.query", "metadata"),
        _Store("Qdrant", r"qdrant\.(?:query|search).*"),
        _Store("weaviate", r"db\.weaviate\.(?:collections\.query\.get|gql\.(?:query\.)?get\.do)"),
        _Store("lancedb", r"lancedb\.search"),
    )
}

SYSTEMS: Final = tuple(system.encode() for system in _STORES)
"""Byte strings of which every search contains one."""

_RESULTS: Final = ("db.query.result", "db.search.result")
"""Names of events, and the prefixes of their fields."""

_QUERY_COUNTS: Final = (
    "db.chroma.query.texts_count",
    "db.chroma.query.embeddings_count",
    "db.milvus.search.data_count",
    "qdrant.search_batch.requests_count",
)
_RESULT_COUNTS: Final = ("db.milvus.search.result_count", "db.vector.query.result_count")


def find(span: Span) -> Found | None:
    """Find a search; what it was asked is a vector, or was not recorded."""
    system = span.attributes.get("db.system")
    store = _STORES.get(system) if isinstance(system, str) else None
    names = (span.name, f"{system}.{span.attributes.get('db.operation')}")
    if store is None or not any(re.fullmatch(store.searches, name) for name in names):
        return None
    counts = [number(span.attributes.get(key)) for key in _QUERY_COUNTS]
    several = any(count is not None and count > 1 for count in counts)
    return Found(NO_QUESTION, _results(span, store), several)


def _results(span: Span, store: _Store) -> Documents:
    """
    Read the events of a span.

    Nothing on a span can tell which of its events a limit took away, so that with any lost, what
    is left is a remnant and no context.
    """
    if store.text_in is None:
        return ABSENT
    events = [event for event in span.events if event.name in _RESULTS]
    if span.dropped_events and (events or not span.failed):
        return DROPPED
    if events:
        return passages.listed([_item(event, store.text_in) for event in events])
    return EMPTY if any(number(span.attributes.get(key)) == 0 for key in _RESULT_COUNTS) else ABSENT


def _item(event: SpanEvent, text_in: str) -> dict[str, Any]:
    """Read one result. What the application stored beside the text replaces no field of it."""
    own = {key.removeprefix(f"{event.name}."): value for key, value in event.attributes.items()}
    score = own.get("score")
    return {
        **_texts(own.get(text_in), text_in),
        "id": own.get("id"),
        "score": own.get("distance") if score is None else score,
        "metadata": own.get("metadata"),
    }


def _texts(value: object, text_in: str) -> dict[str, str]:
    """Read the text, or those of the stored fields, in Python's notation, that may be one."""
    fields = {text_in: value} if text_in == "document" else _literal(value)
    if not isinstance(fields, Mapping):
        return {}
    return {k: v for k in passages.TEXT_KEYS if isinstance(v := fields.get(k), str)}


def _literal(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return parse_literal(value)
    except ValueError:
        return None
