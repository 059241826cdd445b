"""
An evaluation set: documents, queries, and which documents are right, at one or more levels.

The layout is that of BEIR: `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`,
`text`), and `qrels.tsv` or `qrels/LEVEL.tsv`. In place of qrels, or beside them, documents and
queries may carry `labels`: `{level: label or labels}`. Where there is neither, a field of both, or
of their metadata, is a level when a label of some query is one of some document.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from seer_otel.errors import ConfigError
from seer_otel.harness.ir.levels import Level, from_labels, from_qrels, in_common, in_order
from seer_otel.metrics.documents import document

_KNOWN: Final = ("_id", "id", "text", "title", "labels", "metadata", "kind", "type")
"""Fields that are no labels."""

Labels = Mapping[str, frozenset[str]]
"""By level."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the corpus."""

    id: str
    text: str
    title: str = ""
    labels: Labels = field(default_factory=dict)
    fields: Labels = field(default_factory=dict)
    """Whatever else it has that could be a label."""

    @property
    def content(self) -> str:
        """Title and text, as a retriever and a judge see them."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Query:
    """One query."""

    id: str
    text: str
    kind: str | None = None
    """What sort of query it is said to be, if that is said."""
    labels: Labels = field(default_factory=dict)
    fields: Labels = field(default_factory=dict)
    """Whatever else it has that could be a label."""


@dataclass(frozen=True)
class EvalSet:
    """What retrievers are measured with."""

    folder: Path
    documents: Sequence[Document]
    queries: Sequence[Query]
    levels: Sequence[Level]
    """The strictest first; at least one."""

    @cached_property
    def by_id(self) -> Mapping[str, Document]:
        """The documents by their ids."""
        return {each.id: each for each in self.documents}

    def duplicate_queries(self) -> list[list[str]]:
        """
        Return the ids of queries that share one text, and yet not their right documents.

        No retriever can have both right: they put a ceiling on reciprocal ranks and on hits at 1.
        """
        same: dict[str, list[str]] = {}
        for query in self.queries:
            same.setdefault(document(query.text).casefold(), []).append(query.id)
        strict = self.levels[0]
        return [ids for ids in same.values() if len({strict.right.get(id_) for id_ in ids}) > 1]


def load(folder: Path, levels: Sequence[str] = ()) -> EvalSet:
    """
    Read an evaluation set.

    Args:
        folder: Where its files are; no others are read.
        levels: The levels to use, the strictest first. Unless told, all: the fewer documents a
            level calls right, the stricter it is.

    Raises:
        ConfigError: A file is missing or cannot be read, or nothing says what is right; with the
            number of the line that is at fault.
    """
    documents = [_document(*each) for each in _records(folder / "corpus.jsonl")]
    queries = [_query(*each) for each in _records(folder / "queries.jsonl")]
    for name, records in (("corpus.jsonl", documents), ("queries.jsonl", queries)):
        if not records:
            raise ConfigError(f"{folder / name} is empty")
        (id_, count), *_ = Counter(each.id for each in records).most_common(1)
        if count > 1:
            raise ConfigError(f"{folder / name}: the _id {id_!r} is there {count} times")
    corpus = frozenset(each.id for each in documents)
    found = [from_qrels(path, corpus) for path in qrels_files(folder)]
    labels = [{each.id: each.labels for each in several} for several in (documents, queries)]
    found += from_labels(*labels)
    if not found:
        found = in_common(
            *({each.id: each.fields for each in several} for several in (documents, queries))
        )
    return EvalSet(folder, documents, queries, in_order(found, levels, folder))


def qrels_files(folder: Path) -> list[Path]:
    """Return the files that say which documents are right, in the order of their names."""
    single = folder / "qrels.tsv"
    return [*([single] if single.is_file() else []), *sorted((folder / "qrels").glob("*.tsv"))]


def files(folder: Path) -> list[Path]:
    """Return all files of an evaluation set."""
    return [folder / "corpus.jsonl", folder / "queries.jsonl", *qrels_files(folder)]


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the objects of a file, each with its place."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield f"{path}, line {number}", _object(f"{path}, line {number}", line)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None


def _object(place: str, line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"{place}: this is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: this is no object")
    return value


def _document(place: str, record: Mapping[str, Any]) -> Document:
    text, title = record.get("text"), record.get("title")
    if not isinstance(text, str):
        raise ConfigError(f"{place}: there is no text")
    return Document(
        _id(place, record),
        text,
        title if isinstance(title, str) else "",
        _labels(place, record),
        _fields(record),
    )


def _query(place: str, record: Mapping[str, Any]) -> Query:
    text = record.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"{place}: there is no text")
    about = record.get("metadata")
    stated = [record.get("kind")]
    if isinstance(about, dict):
        stated += [about.get("kind"), about.get("type")]
    kind = next((each for each in stated if isinstance(each, str) and each.strip()), None)
    return Query(_id(place, record), text, kind, _labels(place, record), _fields(record))


def _id(place: str, record: Mapping[str, Any]) -> str:
    value = record.get("_id", record.get("id"))
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ConfigError(f"{place}: there is no _id")
    return str(value)


def _labels(place: str, record: Mapping[str, Any]) -> Labels:
    about = record.get("metadata")
    labels = record.get("labels", about.get("labels") if isinstance(about, dict) else None)
    if labels is None:
        return {}
    if not isinstance(labels, dict):
        raise ConfigError(f'{place}: labels are an object, a level each: {{"cause": ["disk"]}}')
    return {level: _set(place, level, value) for level, value in labels.items()}


def _fields(record: Mapping[str, Any]) -> Labels:
    about = record.get("metadata")
    fields = {**(about if isinstance(about, dict) else {}), **record}
    found = {name: _texts(value) for name, value in fields.items() if name not in _KNOWN}
    return {name: texts for name, texts in found.items() if texts is not None}


def _set(place: str, level: str, value: object) -> frozenset[str]:
    texts = _texts(value)
    if texts is None:
        raise ConfigError(f"{place}: the labels of {level!r} are no texts")
    return texts


def _texts(value: object) -> frozenset[str] | None:
    """Return texts as a set: one, a list of them, or null for none; None for what is no text."""
    several = value if isinstance(value, list) else [] if value is None else [value]
    if any(isinstance(each, bool) or not isinstance(each, str | int) for each in several):
        return None
    return frozenset(map(str, several))
