"""
Run files: what a retriever returned, query by query.

TREC runs (`query Q0 document rank score tag`) are read as trec_eval reads them: by descending
score, ties by descending document id, whatever the rank. JSON Lines hold a query a line, with the
list in order (`{"query_id": …, "hits": [{"id": …, "score": …}]}`), or a hit a line
(`{"query_id": …, "id": …, "score": …}`); one JSON object `{query: {document: score}}` or
`{query: [documents]}` will do as well.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from seer_otel.errors import ConfigError

_QUERY: Final = ("query_id", "query-id", "qid", "query", "_id")
_HITS: Final = ("hits", "results", "documents", "docs", "context", "ranking")
_DOCUMENT: Final = ("doc_id", "corpus-id", "corpus_id", "document_id", "docid", "id", "_id")


@dataclass(frozen=True, slots=True)
class Hit:
    """One document of a list."""

    id: str
    score: float | None = None
    """Higher is better; None where the retriever does not say."""


Run = Mapping[str, Sequence[Hit]]
"""By query id: the documents returned, the top one first."""


def read(path: Path) -> Run:
    """
    Read a run file.

    Raises:
        ConfigError: It cannot be read; with the number of the line that is at fault.
    """
    try:
        source = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    lines = [(number, line) for number, line in enumerate(source.split("\n"), 1) if line.strip()]
    if not lines:
        raise ConfigError(f"{path} is empty")
    if not lines[0][1].lstrip().startswith(("{", "[")):
        return _trec(path, lines)
    whole = _whole(source)
    if isinstance(whole, dict) and not any(name in whole for name in _QUERY):
        return {query: _hits(f"{path}, {query}", hits) for query, hits in whole.items()}
    records = whole if isinstance(whole, list) else None
    places = enumerate(records, 1) if records is not None else _objects(path, lines)
    return _records(path, places)


def hit(item: object) -> Hit | None:
    """Read one document as retrievers return it: an id, an id and a score, or an object."""
    if isinstance(item, Hit):
        return item
    if isinstance(item, str | int) and not isinstance(item, bool):
        return Hit(str(item))
    if isinstance(item, Mapping):
        id_ = next((item[name] for name in _DOCUMENT if item.get(name) is not None), None)
        score = _number(item.get("score"))
        if score is None and (distance := _number(item.get("distance"))) is not None:
            score = -distance
        return None if id_ is None else Hit(str(id_), score)
    if isinstance(item, Sequence) and len(item) == 2 and isinstance(item[0], str | int):
        return Hit(str(item[0]), _number(item[1]))
    return None


def _trec(path: Path, lines: Iterable[tuple[int, str]]) -> Run:
    run: dict[str, list[Hit]] = {}
    for number, line in lines:
        try:
            query, _, document, _, score, *_ = line.split()
            run.setdefault(query, []).append(Hit(document, float(score)))
        except ValueError:
            raise ConfigError(
                f"{path}, line {number}: expected query, Q0, document, rank, score, tag"
            ) from None
    for hits in run.values():
        hits.sort(key=lambda each: (each.score, each.id), reverse=True)
    return run


def _whole(source: str) -> Any:
    try:
        return json.loads(source)
    except ValueError:
        return None


def _objects(path: Path, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        try:
            yield number, json.loads(line)
        except ValueError as error:
            raise ConfigError(f"{path}, line {number}: this is no JSON: {error}") from None


def _records(path: Path, records: Iterable[tuple[int, Any]]) -> Run:
    run: dict[str, list[Hit]] = {}
    single: dict[str, list[tuple[float, Hit]]] = {}
    for number, record in records:
        place = f"{path}, line {number}"
        if not isinstance(record, dict):
            raise ConfigError(f"{place}: this is no object")
        query = next((str(record[name]) for name in _QUERY if record.get(name) is not None), None)
        if query is None:
            raise ConfigError(f"{place}: there is no query_id")
        hits = next((record[name] for name in _HITS if name in record), None)
        if hits is not None:
            run.setdefault(query, []).extend(_hits(place, hits))
        elif one := hit({name: value for name, value in record.items() if name != "query"}):
            rank = _number(record.get("rank"))
            single.setdefault(query, []).append((math.inf if rank is None else rank, one))
        else:
            raise ConfigError(f"{place}: there are neither hits nor a doc_id")
    for query, ranked in single.items():
        run.setdefault(query, []).extend(_ordered(ranked))
    return run


def _ordered(ranked: list[tuple[float, Hit]]) -> list[Hit]:
    """Order hits that came a line each: by rank, else by score, else as they came."""
    if all(rank < math.inf for rank, _ in ranked):
        return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]
    hits = [one for _, one in ranked]
    if all(one.score is not None for one in hits):
        return sorted(hits, key=lambda one: -(one.score or 0.0))
    return hits


def _hits(place: str, hits: object) -> list[Hit]:
    if isinstance(hits, dict):
        ranked = [Hit(str(id_), _number(score)) for id_, score in hits.items()]
        return _ordered([(math.inf, one) for one in ranked])
    if not isinstance(hits, list):
        raise ConfigError(f"{place}: hits are a list")
    read_ = [hit(item) for item in hits]
    found = [one for one in read_ if one is not None]
    if len(found) < len(read_):
        raise ConfigError(f"{place}: a hit is an id, or an object with an id and perhaps a score")
    return found


def _number(value: Any) -> float | None:
    """Return a finite number, numbers of arrays and in texts included; None for what is none."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
