"""What a term is worth before any passage is seen: the more texts have it, the less."""

from functools import cache
from importlib.resources import files

TABLE = files("seer_otel.judge.local").joinpath("common.txt").read_text("utf-8")
"""A line for each common term: the term, and what it is worth."""


def worth(term: str) -> float:
    """Return what a term is worth, in 0..1; 1 where it is in no list of common ones."""
    return _read().get(term, 1.0)


@cache
def _read() -> dict[str, float]:
    pairs = (line.split(" ") for line in TABLE.splitlines())
    return {term: float(value) for term, value in pairs}
