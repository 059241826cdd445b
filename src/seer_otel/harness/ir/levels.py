"""Levels: what counts as right, from the strictest view to the most lenient."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final

from seer_otel.errors import ConfigError

SINGLE: Final = "relevant"
"""The name of the level of `qrels.tsv`."""

Sets = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Level:
    """
    One view of what is right.

    A document is right for a query when they share a label. Where qrels say it, the labels are
    the documents' own ids.
    """

    name: str
    wanted: Sets
    """By query: its right labels, those included that no document carries."""
    carried: Sets | None
    """By document: its labels; None where each carries its own id."""
    right: Sets
    """By query: the right documents in the corpus. A query without any is not in it."""

    def labels_of(self, document: str) -> frozenset[str]:
        """Return the labels that a document carries."""
        if self.carried is None:
            return frozenset((document,))
        return self.carried.get(document, frozenset())


def from_qrels(path: Path, corpus: frozenset[str]) -> Level:
    """
    Read a file of judgements: query id, document id, score; above 0 it is right.

    TREC's four columns, with one of no use after the query, will do as well.

    Raises:
        ConfigError: It cannot be read; with the number of the line that is at fault.
    """
    wanted: dict[str, set[str]] = {}
    for query, document, score in _rows(path):
        if score > 0:
            wanted.setdefault(query, set()).add(document)
        else:
            wanted.setdefault(query, set())
    right = {query: frozenset(ids & corpus) for query, ids in wanted.items()}
    return Level(
        SINGLE if path.parent.name != "qrels" else path.stem,
        {query: frozenset(ids) for query, ids in wanted.items()},
        None,
        {query: ids for query, ids in right.items() if ids},
    )


def from_labels(documents: Mapping[str, Sets], queries: Mapping[str, Sets]) -> list[Level]:
    """Return the levels that queries have labels at, in the order in which they first appear."""
    names = dict.fromkeys(name for labels in queries.values() for name in labels)
    return [_from_labels(name, documents, queries) for name in names]


def in_common(documents: Mapping[str, Sets], queries: Mapping[str, Sets]) -> list[Level]:
    """Return the levels among fields: those by which some query has a right document."""
    return [level for level in from_labels(documents, queries) if level.right]


def in_order(found: Sequence[Level], wanted: Sequence[str], folder: Path) -> Sequence[Level]:
    """
    Return the levels, the strictest first: those that are wanted, or all.

    Raises:
        ConfigError: There are none, or not the one that is wanted, or two have nothing in common.
    """
    by_name = {level.name: level for level in found}
    if not found:
        raise ConfigError(
            f"{folder}: nothing says which documents are right: give qrels.tsv, qrels/LEVEL.tsv, "
            "or labels on documents and queries"
        )
    if len(by_name) < len(found):
        raise ConfigError(f"{folder}: a level is there twice, in qrels and as labels")
    if missing := [name for name in wanted if name not in by_name]:
        raise ConfigError(f"{folder} has no level {missing[0]!r}; it has {', '.join(by_name)}")
    chosen = [by_name[name] for name in dict.fromkeys(wanted)]
    chosen = chosen or sorted(found, key=lambda level: (_leniency(level), level.name))
    for one, other in combinations(chosen, 2):
        if one.wanted and other.wanted and one.wanted.keys().isdisjoint(other.wanted):
            raise ConfigError(
                f"{folder}: {one.name} and {other.name} label different queries, so they are "
                f"parts of a set rather than levels: choose one, as in --levels {one.name}"
            )
    return chosen


def _from_labels(name: str, documents: Mapping[str, Sets], queries: Mapping[str, Sets]) -> Level:
    carried = {id_: labels.get(name, frozenset()) for id_, labels in documents.items()}
    wanted = {id_: labels.get(name, frozenset()) for id_, labels in queries.items()}
    holders: dict[str, set[str]] = {}
    for id_, labels in carried.items():
        for label in labels:
            holders.setdefault(label, set()).add(id_)
    right = {
        id_: frozenset[str]().union(*(holders.get(label, ()) for label in labels))
        for id_, labels in wanted.items()
    }
    return Level(name, wanted, carried, {id_: ids for id_, ids in right.items() if ids})


def _leniency(level: Level) -> float:
    """Return how many documents are right for a query that has any, on average."""
    return sum(map(len, level.right.values())) / max(1, len(level.right))


def _rows(path: Path) -> Iterable[tuple[str, str, float]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8 text") from None
    for number, line in enumerate(lines, start=1):
        # BEIR's ids may hold blanks; TREC's lines may be cut at them.
        fields = line.split("\t") if "\t" in line else line.split()
        if not line.strip():
            continue
        try:
            query, document, score = fields if len(fields) == 3 else (fields[0], *fields[2:])
            yield query.strip(), document.strip(), float(score)
        except ValueError:
            if number > 1:
                raise ConfigError(
                    f"{path}, line {number}: expected query id, document id, score"
                ) from None
