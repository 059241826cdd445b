"""Small evaluation sets for tests."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from seer_otel.harness.ir.run import HarnessRun, run

Record = Mapping[str, Any]


def lines(path: Path, records: Iterable[object]) -> Path:
    """Write records as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def eval_set(
    folder: Path,
    documents: Mapping[str, str | Record],
    queries: Mapping[str, str | Record],
    right: Mapping[str, Iterable[str]] | None = None,
) -> Path:
    """Write a set; a text stands for a document or a query without labels."""

    def records(items: Mapping[str, str | Record]) -> list[object]:
        return [
            {"_id": id_, **({"text": item} if isinstance(item, str) else item)}
            for id_, item in items.items()
        ]

    lines(folder / "corpus.jsonl", records(documents))
    lines(folder / "queries.jsonl", records(queries))
    if right is not None:
        qrels(folder / "qrels.tsv", right)
    return folder


def qrels(path: Path, right: Mapping[str, Iterable[str]]) -> None:
    """Write which documents are right."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{query}\t{id_}\t1\n" for query, ids in right.items() for id_ in ids]
    path.write_text("".join(["query-id\tcorpus-id\tscore\n", *rows]), encoding="utf-8")


def list_file(folder: Path, name: str, lists: Mapping[str, Iterable[object]]) -> Path:
    """Write a run file."""
    records = [{"query_id": query, "hits": list(hits)} for query, hits in lists.items()]
    return lines(folder / f"{name}.run.jsonl", records)


def of_lists(folder: Path, k: int = 10, **arms: Mapping[str, Iterable[object]]) -> HarnessRun:
    """Run the harness over lists that stand in files, an arm each."""
    wanted = [f"{name}={list_file(folder, name, lists)}" for name, lists in arms.items()]
    return run(folder, wanted=wanted, ks=[k])
