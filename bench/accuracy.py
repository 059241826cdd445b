"""
Measure the judges on the labelled sets, and write the tables of docs/accuracy.md.

The sets in tests/data/accuracy, and those of the folder `accuracy` in SEER_DATA. The judges that
need no model; one more where SEER_JUDGE_MODEL names it.
"""

import os
import re
import sys
from pathlib import Path

from seer_otel.config import load
from seer_otel.harness.accuracy import Accuracy, run, summarise
from seer_otel.harness.accuracy_report import COLUMNS, cells

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "accuracy.md"
JUDGES = ("local", "baseline:all", "baseline:bm25", "baseline:cosine")
TABLES = re.compile(r"(?<=<!-- tables -->\n).*(?=<!-- end of tables -->)", re.DOTALL)


def files() -> list[Path]:
    """Return the labelled sets, each once."""
    folders = [ROOT / "tests" / "data" / "accuracy"]
    if data := os.environ.get("SEER_DATA"):
        folders.append(Path(data) / "accuracy")
    found = {path.name: path for folder in reversed(folders) for path in folder.glob("*.jsonl")}
    return sorted(path for path in found.values() if not path.stem.endswith("corpus"))


def measured() -> list[Accuracy]:
    """Judge everything; one question at a time where no model is waited for."""
    alone = {"judge.concurrency": 1}
    accuracies = [run(files(), load(None, {}, {"judge.kind": j, **alone})) for j in JUDGES]
    if os.environ.get("SEER_JUDGE_MODEL"):
        accuracies.append(run(files(), load(flags={"judge.kind": "openai"})))
    return accuracies


def tables(accuracies: list[Accuracy]) -> str:
    """Return a table for each set in Markdown."""
    parts = []
    for source in accuracies[0].sources():
        parts += ["", f"### {source}", "", _line("judge", *COLUMNS)]
        parts.append(_line("---", *["--:"] * len(COLUMNS)))
        parts += [
            _line(accuracy.judge, *cells(summarise(accuracy.sources()[source])))
            for accuracy in accuracies
        ]
    revisions = ", ".join(f"{each.judge} {each.revision}" for each in accuracies)
    return "\n".join([*parts, "", f"Revisions: {revisions}.", "", ""])


def _line(*columns: str) -> str:
    return f"| {' | '.join(columns)} |"


def main() -> None:
    """Write the tables into the page, and print them."""
    written = tables(measured())
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLES.sub(lambda _: written, page), encoding="utf-8")
    sys.stdout.write(written)


if __name__ == "__main__":
    main()
