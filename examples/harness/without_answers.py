"""
Make an evaluation set in which some queries have no answer, out of one in which all have.

    python examples/harness/without_answers.py tests/data/ir/2wiki build/2wiki-some-unanswerable
    seer-otel harness run build/2wiki-some-unanswerable

The right documents of every fifth query leave the corpus; what is like them stays. So these queries
look like the others, and only the retriever's confidence can tell.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

EVERY = 5


def make(source: Path, target: Path) -> None:
    """Write the set."""
    target.mkdir(parents=True, exist_ok=True)
    queries = (source / "queries.jsonl").read_text(encoding="utf-8")
    unanswerable = {record["_id"] for record in _records(queries)[::EVERY]}
    qrels = (source / "qrels.tsv").read_text(encoding="utf-8")
    gone = {document for query, document in _right(qrels) if query in unanswerable}
    kept = [
        line
        for line in (source / "corpus.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        if json.loads(line)["_id"] not in gone
    ]
    (target / "corpus.jsonl").write_text("".join(kept), encoding="utf-8")
    (target / "queries.jsonl").write_text(queries, encoding="utf-8")
    (target / "qrels.tsv").write_text(qrels, encoding="utf-8")


def _records(text: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in text.splitlines()]


def _right(qrels: str) -> Iterator[tuple[str, str]]:
    for line in qrels.splitlines()[1:]:
        query, document, _ = line.split("\t")
        yield query, document


if __name__ == "__main__":
    make(*map(Path, sys.argv[1:3]))
