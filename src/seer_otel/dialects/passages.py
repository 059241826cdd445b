"""The documents that a span holds: opened, read item by item, in the shapes that are in use."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeGuard, TypeVar

from seer_otel.dialects.span import Attributes
from seer_otel.dialects.values import (
    identifier,
    integer,
    is_redacted,
    json_object,
    looks_like_json,
    mended,
    number,
    parse_json,
    text,
)
from seer_otel.retrieval import Passage

Kind = Literal["absent", "empty", "listed", "hidden", "cut", "dropped"]
"""
What became of the documents: never recorded; an explicit empty result; items, readable or not;
recorded and hidden; cut in the middle; some lost, and no telling which.
"""

_T = TypeVar("_T")

_MOST: Final = 10_000
"""Items of one list that are read. No real context has as many, and each takes time."""

LANGCHAIN_KEYS: Final = ("page_content", "pageContent")
"""Where LangChain puts a document's text, in Python and in JavaScript."""

TEXT_KEYS: Final = ("content", "page_content", "text", "document")
"""Where an item's text is, whatever the dialect."""

_ID_KEYS: Final = ("id", "id_")
_WRAPPERS: Final = ("document", "node")
_FLAT: Final = re.compile(r"([0-9]{1,9})\.(?:document\.)?(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Documents:
    """What a span says about its documents."""

    kind: Kind
    passages: tuple[Passage, ...] = ()
    """Every item in the order given. Filled only where `listed` or `hidden`."""
    left_out: int = 0
    """How many more items there were than are ever read."""


ABSENT: Final = Documents("absent")
EMPTY: Final = Documents("empty")
CUT: Final = Documents("cut")
DROPPED: Final = Documents("dropped")


def in_attribute(value: object, *text_keys: str) -> Documents:
    """
    Read an attribute that holds all documents: a list, or a JSON text of one.

    Args:
        value: The attribute's value; None where the span has none.
        text_keys: The keys under which the dialect itself puts an item's text; they go first.
    """
    if is_redacted(value):
        return Documents("hidden")
    try:
        items = _opened(value)
    except ValueError:
        return CUT
    if items is None:
        return ABSENT
    return listed(items, *text_keys)


def returned(value: object, *text_keys: str) -> Documents:
    """
    Read what a function returned, as it was recorded: documents, JSON of them, or one text.

    Args:
        value: The attribute's value; None where the span has none.
        text_keys: The keys under which an item's text is looked for first.
    """
    said = text(value)
    if said is not None and said.strip() != "null" and not looks_like_json(said):
        return listed([said])
    return in_attribute(value, *text_keys)


def _opened(value: object) -> Sequence[Any] | None:
    """
    Return the items under a documents key; None where it holds nothing.

    Raises:
        ValueError: It is a text that does not parse.
    """
    if isinstance(value, str):
        value = parse_json(value) if value.strip() else None
    if isinstance(value, str) and looks_like_json(value):  # JSON in JSON
        value = parse_json(value)
    if isinstance(value, Mapping):
        inner = value.get("documents")
        return inner if _is_list(inner) else [value]
    if _is_list(value):
        return value
    return [value] if isinstance(value, str) and value.strip() else None


def listed(items: Sequence[Any], *text_keys: str) -> Documents:
    """Read the items of a list of documents."""
    read = [_item(item, text_keys) for item in items[:_MOST]]
    passages = tuple(passage for passage, _ in read)
    if not passages:
        return EMPTY
    hidden = any(h for _, h in read) and all(passage.text is None for passage in passages)
    return Documents("hidden" if hidden else "listed", passages, max(0, len(items) - _MOST))


def flattened(attributes: Attributes, prefix: str, *, dropped: int) -> Documents:
    """
    Read documents that are spread over keys, `<prefix>.<index>.document.<field>`.

    Nothing on a span can tell which of its attributes an attribute limit took away, so that with
    any lost, or with a first index above 0, what is left is a remnant and no context.

    Args:
        attributes: The attributes of the span.
        prefix: The keys' beginning, without the dot.
        dropped: How many attributes the span lost.
    """
    items: dict[int, dict[str, Any]] = {}
    beginning = f"{prefix}."
    for key, value in attributes.items():
        if key.startswith(beginning) and (match := _FLAT.fullmatch(key, len(beginning))):
            items.setdefault(int(match[1]), {})[match[2]] = value
    if not items:
        return ABSENT
    if dropped or min(items) > 0:
        return DROPPED
    return listed([items[index] for index in sorted(items)])


def ranked(documents: Documents) -> Documents:
    """
    State the list's order as the rank of every item.

    For conventions whose lists are in rank order and whose scores compare with nothing: BM25,
    cosine, distances in both directions.
    """
    passages = (
        replace(passage, rank=rank, distance=None, rerank_score=None)
        for rank, passage in enumerate(documents.passages, start=1)
    )
    return replace(documents, passages=tuple(passages))


def is_empty_result(value: object) -> bool:
    """Whether an output says in so many words that nothing was found: `[]`, `{"documents": []}`."""
    if isinstance(value, str):
        if not looks_like_json(value):
            return False
        try:
            value = parse_json(value)
        except ValueError:
            return False
    if isinstance(value, Mapping):
        value = value.get("documents")
    return _is_list(value) and len(value) == 0


def with_ids(documents: Documents, output: object) -> Documents:
    """Take missing ids from another listing of the same documents, if it is the same."""
    if documents.kind != "listed" or all(passage.id for passage in documents.passages):
        return documents
    others = in_attribute(output).passages
    if [p.text for p in others] != [p.text for p in documents.passages]:
        return documents
    pairs = zip(documents.passages, others, strict=True)
    passages = tuple(replace(passage, id=passage.id or other.id) for passage, other in pairs)
    return replace(documents, passages=passages)


def _item(item: object, text_keys: tuple[str, ...]) -> tuple[Passage, bool]:
    """Read one item; also whether its text was hidden."""
    if isinstance(item, str):
        hidden = is_redacted(item)
        return Passage(None if hidden else mended(item)), hidden
    if _is_scored(item):
        item = {"document": item[0], "score": item[1]}
    if not isinstance(item, Mapping):
        return Passage(None), False
    inner, outer = _unwrapped(item, text_keys)
    texts = [inner.get(key) for key in dict.fromkeys((*text_keys, *TEXT_KEYS))]
    return Passage(
        text=_readable(texts),
        id=_first(identifier(fields.get(key)) for fields in (inner, outer) for key in _ID_KEYS),
        source=text(inner.get("source")),
        score=_first(number(fields.get("score")) for fields in (inner, outer)),
        distance=_first(number(fields.get("distance")) for fields in (inner, outer)),
        rerank_score=_first(number(fields.get("rerank_score")) for fields in (inner, outer)),
        rank=_first(integer(fields.get("rank")) for fields in (inner, outer)),
        metadata=json_object(inner.get("metadata", inner.get("meta"))),
    ), any(is_redacted(value) for value in texts)


def _is_scored(item: object) -> TypeGuard[Sequence[Any]]:
    """Whether an item is a pair of a document and its score, as vector stores give them."""
    return (
        _is_list(item)
        and len(item) == 2
        and isinstance(item[0], str | Mapping)
        and isinstance(item[1], int | float | None)
    )


def _unwrapped(
    item: Mapping[str, Any], text_keys: tuple[str, ...]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """
    Return the fields of the document in an item, and those beside it.

    An item that has the dialect's own key is a document itself: what looks like a wrapper beside
    it is metadata.
    """
    is_document = any(key in item for key in text_keys)
    wrapped = (item.get(wrapper) for wrapper in _WRAPPERS if not is_document)
    inner = next((fields for fields in wrapped if isinstance(fields, Mapping)), None)
    if inner is not None:
        return inner, item
    prefixed = {k.removeprefix("document."): v for k, v in item.items() if isinstance(k, str)}
    return {**prefixed, **item}, {}


def _readable(values: Iterable[object]) -> str | None:
    """Return the first text that says something; else a blank one, if there is one."""
    texts = [mended(v) for v in values if isinstance(v, str) and not is_redacted(v)]
    return next((t for t in texts if t.strip()), next(iter(texts), None))


def _first(values: Iterable[_T | None]) -> _T | None:
    return next((value for value in values if value is not None), None)


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
