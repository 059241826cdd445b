"""
Measure how a judge lists requirements: minimal, disjoint, in the query's language, none too many.

Against `tests/data/requirements/lists.jsonl`: the pieces of each query as patterns, beside lists
that are right and lists that are wrong. The judge is the built-in one, or that of SEER_JUDGE_MODEL.
"""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from seer_otel.config import load
from seer_otel.errors import JudgeError
from seer_otel.judge.protocol import Judge
from seer_otel.judge.select import describe, open_judge

LISTS = Path(__file__).parents[1] / "tests" / "data" / "requirements" / "lists.jsonl"


@dataclass(frozen=True)
class Worked:
    """A query, the patterns of its pieces, a right list and some wrong ones by what is wrong."""

    query: str
    pieces: tuple[str, ...]
    good: tuple[str, ...]
    bad: dict[str, list[str]]


def worked() -> list[Worked]:
    """Read the worked lists."""
    rows = map(json.loads, LISTS.read_text(encoding="utf-8").splitlines())
    return [Worked(r["query"], tuple(r["pieces"]), tuple(r["good"]), r["bad"]) for r in rows]


def is_right(pieces: Sequence[str], requirements: Sequence[str]) -> bool:
    """Whether every requirement is one of the pieces, and every piece one of the requirements."""
    return len(pieces) == len(requirements) and any(
        all(re.search(p, text, re.IGNORECASE) for p, text in zip(pieces, order, strict=True))
        for order in permutations(requirements)
    )


async def measure(judge: Judge) -> list[tuple[Worked, Sequence[str] | JudgeError]]:
    """Ask for all lists."""
    found: list[tuple[Worked, Sequence[str] | JudgeError]] = []
    for each in worked():
        try:
            found.append((each, (await judge.requirements(each.query)).texts))
        except JudgeError as error:
            found.append((each, error))
    await judge.aclose()
    return found


def main() -> None:
    """Print the lists that are wrong, and the share of those that are right."""
    settings = load().judge.settings()
    print(describe(settings), file=sys.stderr)
    found = asyncio.run(measure(open_judge(settings)))
    right = 0
    for each, answer in found:
        if not isinstance(answer, JudgeError) and is_right(each.pieces, answer):
            right += 1
            continue
        said = answer if isinstance(answer, JudgeError) else " | ".join(answer) or "(nothing)"
        print(
            f"{each.query}\n    wanted: {' | '.join(each.good) or '(nothing)'}\n    listed: {said}"
        )
    print(f"right: {right} of {len(found)}")


if __name__ == "__main__":
    main()
