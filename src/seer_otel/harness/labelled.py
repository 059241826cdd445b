"""
Questions whose right answer is known: which of their passages support what.

A line of JSON is one: a retrieval event with `ground_truth.gold_doc_ids`, and perhaps `source` (the
set it is from), and `subqueries: [{gold_doc_ids}]`: its known decomposition. A subquery without
gold ids, or none of which was fetched, is a requirement that the context does not meet.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seer_otel.dialects.event import retrieval_from_event
from seer_otel.dialects.values import identifier, parse_json
from seer_otel.errors import Undecodable
from seer_otel.harness.files import BadRecord
from seer_otel.metrics import judgement
from seer_otel.retrieval import GroundTruth, Retrieval
from seer_otel.verdict import Scores


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its context and its labels."""

    id: str
    source: str
    retrieval: Retrieval
    k: int | None
    """The number of its requirements; None where no decomposition is known."""
    truth: Scores
    """What a judge that is always right would score."""

    @property
    def gold(self) -> frozenset[str]:
        """The ids of its gold documents."""
        labels = self.retrieval.ground_truth or GroundTruth()
        return frozenset(labels.gold_doc_ids)


def read(paths: Iterable[str | Path]) -> Iterator[Question | BadRecord]:
    """
    Read files of questions; one bad line stops none of the others.

    Raises:
        OSError: A file cannot be opened.
    """
    for path in map(Path, paths):
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _read(path, number, line)


def _read(path: Path, number: int, line: bytes) -> Question | BadRecord:
    try:
        row = parse_json(line.decode("utf-8-sig"))
        if not isinstance(row, dict):
            raise Undecodable("this is no object")
        return _question(row, path, number)
    except (ValueError, Undecodable) as error:
        return BadRecord(path.name, number, str(error))


def _question(row: Mapping[str, Any], path: Path, number: int) -> Question:
    # Order is the list's where nothing else says one, so that nDCG can be compared everywhere.
    event = replace(retrieval_from_event(row), list_is_ranked=True, subquery=None)
    labels = row.get("ground_truth")
    if not isinstance(labels, dict) or not isinstance(labels.get("gold_doc_ids"), list):
        raise Undecodable("ground_truth.gold_doc_ids is missing: give a list, [] for none")
    if not event.queries:
        raise Undecodable("task is missing")
    subqueries = row.get("subqueries")
    needed = _needed(subqueries, labels["gold_doc_ids"])
    name = event.record_id or f"{path.name}#{number}"
    return Question(
        id=name,
        source=str(row.get("source") or path.stem),
        retrieval=replace(event, record_id=name),
        k=len(subqueries) if isinstance(subqueries, list) else None,
        truth=judgement.score(
            event.context, [_positions(event, gold) for gold in needed], list_is_ranked=True
        ),
    )


def _needed(subqueries: object, gold: list[Any]) -> list[Collection[str | None]]:
    """Return the gold ids of each requirement; unknown ones are taken to be one a gold document."""
    if isinstance(subqueries, list):
        if not all(isinstance(s, dict) for s in subqueries):
            raise Undecodable("subqueries is no list of objects")
        return [set(map(identifier, s.get("gold_doc_ids") or ())) for s in subqueries]
    return [{identifier(id_)} for id_ in gold] or [()]


def _positions(event: Retrieval, gold: Collection[str | None]) -> list[int]:
    return [
        n for n, passage in enumerate(event.context, start=1) if passage.id and passage.id in gold
    ]
