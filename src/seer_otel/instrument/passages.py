"""From what an application holds to what `seer.context` says: strings, dicts, document objects."""

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import PurePath
from typing import Final, SupportsFloat
from uuid import UUID

from seer_otel.dialects.values import mended
from seer_otel.instrument.notices import warn_once

Item = str | dict[str, object]
"""A text, or `{text, id?, source?, score?, distance?, rerank_score?, rank?, metadata?}`."""

_TEXTS: Final = ("text", "content", "page_content", "document")
_IDS: Final = ("id", "id_", "node_id")
_NUMBERS: Final = ("score", "distance", "rerank_score", "rank")
_DEPTH: Final = 8
"""Levels of metadata that are kept."""


def listed(context: object) -> list[object]:
    """
    Return the items of a context, as they were given.

    What can be run through only once is run through here, once. One text or document is a list of
    one; of a mapping that has `documents` (what a Haystack component returns) these are the items.
    """
    if isinstance(context, Mapping) and isinstance(context.get("documents"), list | tuple):
        return list(context["documents"])
    one = isinstance(context, str | bytes | Mapping) or _is_document(context)
    return [context] if one or not isinstance(context, Iterable) else list(context)


def encoded(items: Iterable[object]) -> str:
    """Return items as the JSON of `seer.context`; what holds no text stays in its place."""
    return as_json(read(items))


def read(items: Iterable[object]) -> list[Item]:
    """Read items one by one; what holds no text stays in its place."""
    return [_item(item) for item in items]


def as_json(value: object) -> str:
    """Return a value as JSON text that any encoder takes; what JSON cannot say is left out."""
    text = json.dumps(_plain(value, _DEPTH), ensure_ascii=False, separators=(",", ":"))
    return mended(text)


def _item(item: object) -> Item:
    try:
        read = _read(item)
    except Exception:  # A document object runs code of its own when it is asked.
        read = None
    if read is not None:
        return read
    kind = f"{type(item).__module__}.{type(item).__qualname__}"
    warn_once("No text can be read from retrieved items of type %s", kind)
    return {"unreadable": kind}


def _read(item: object) -> Item | None:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        return _from_mapping(item)
    if isinstance(item, tuple | list):
        return _from_pair(item) if len(item) == 2 else None
    return _from_object(item) if _is_document(item) else None


def _from_pair(pair: tuple[object, ...] | list[object]) -> Item | None:
    """Read `(document, score)`: a higher score is better."""
    document, score = pair
    if isinstance(document, tuple | list) or isinstance(score, str):
        return None
    read = _read(document)
    if read is None:
        return None
    return {**({"text": read} if isinstance(read, str) else read), "score": _number(score)}


def _from_mapping(item: Mapping[str, object]) -> Item:
    """Keep what has a meaning in `seer.context`; embeddings and the like stay at home."""
    kept = {key: item[key] for key in (*_TEXTS, "source", "metadata") if key in item}
    kept |= {"id": _identity(item["id"])} if "id" in item else {}
    kept |= {key: _number(item[key]) for key in _NUMBERS if key in item}
    inner = _inner(item.get("document"), item.get("node"))
    if inner:
        kept.pop("document", None)
    return {**inner, **kept}


def _from_object(item: object) -> Item | None:
    """Read a document of LangChain, LlamaIndex or Haystack, or any that looks like one."""
    read: dict[str, object] = {}
    texts = (_field(item, name) for name in _TEXTS)
    text = next((text for text in texts if isinstance(text, str)), None)
    if text is None and callable(content := _field(item, "get_content")):
        text = content()
    read["text"] = text if isinstance(text, str) else None
    ids = (_identity(_field(item, name)) for name in _IDS)
    read["id"] = next((identity for identity in ids if identity is not None), None)
    read["source"] = source if isinstance(source := _field(item, "source"), str) else None
    read |= {name: _number(_field(item, name)) for name in _NUMBERS}
    metadata = _field(item, "metadata") or _field(item, "meta")
    read["metadata"] = metadata if isinstance(metadata, Mapping) and metadata else None
    known = {key: value for key, value in read.items() if value is not None}
    return {**_inner(_field(item, "document"), _field(item, "node")), **known} or None


def _field(item: object, name: str) -> object:
    try:
        return getattr(item, name, None)
    except Exception:  # A property that this kind of document does not have.
        return None


def _inner(*candidates: object) -> dict[str, object]:
    """Read the document that a hit wraps, where it wraps one."""
    for candidate in candidates:
        if candidate is None or isinstance(candidate, str):
            continue
        read = _read(candidate)
        if isinstance(read, dict):
            return read
    return {}


def _is_document(item: object) -> bool:
    if isinstance(item, str | bytes | Mapping | tuple | list | set | frozenset | type):
        return False
    return any(_has(item, name) for name in (*_TEXTS, "node", "get_content"))


def _has(item: object, name: str) -> bool:
    try:
        return hasattr(item, name)
    except Exception:  # A property that this kind of document does not have, after all.
        return False


def _number(value: object) -> float | str | None:
    """Return a number as JSON can hold it; a number in text counts, and the reader parses it."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool) or not isinstance(value, SupportsFloat):
        return None
    if isinstance(value, int):
        return value
    number = float(value)
    return number if math.isfinite(number) else None


def _identity(value: object) -> str | int | None:
    if value is None or isinstance(value, bool):
        return None
    return value if isinstance(value, str | int) else str(value)


def _plain(value: object, depth: int) -> object:
    """Return what of a value JSON can hold, some levels deep."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping | list | tuple | set | frozenset) and depth == 0:
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, date | Decimal | UUID | PurePath):
        return str(value)
    number = getattr(value, "item", None)  # A scalar of numpy or torch.
    if callable(number) and getattr(value, "shape", None) == ():
        return _plain(number(), depth - 1)
    return None
