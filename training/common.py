"""How common each term is in any text: the table that tells words that matter from the rest."""

import math
from collections import Counter
from pathlib import Path

import seer_otel.judge.local as product
from seer_otel.judge.local.words import terms
from training.data import SOURCES, rows

LEAST = 0.006
"""A term is listed if this share of the passages of two sources at least has it."""


def shares(source: str) -> dict[str, float]:
    """Return the share of a source's distinct passages that has each term."""
    texts = {item["text"] for row in rows(source) for item in row["context"]}
    seen = Counter(term for text in texts for term in set(terms(text)))
    return {term: count / len(texts) for term, count in seen.items()}


def main() -> None:
    """Write the table beside the code that reads it, the most common terms first."""
    every = [shares(source) for source in SOURCES]
    found = {term for each in every for term in each}
    second = {
        term: sorted((each.get(term, 0.0) for each in every), reverse=True)[1] for term in found
    }
    kept = sorted((-share, term) for term, share in second.items() if share >= LEAST)
    lines = [f"{term} {math.log(-negative) / math.log(LEAST):.2f}" for negative, term in kept]
    path = Path(product.__file__).parent / "common.txt"
    path.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} terms, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
