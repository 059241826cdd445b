"""What a term is worth before any passage is seen: the more texts have it, the less."""

from functools import cache
from importlib.resources import files


def worth(term: str) -> float:
    """Return what a term is worth, in 0..1; 1 where it is in no list of common ones."""
    return _table().get(term, 1.0)


@cache
def _table() -> dict[str, float]:
    text = files("seer_otel.judge.local").joinpath("common.txt").read_text("utf-8")
    pairs = (line.split(" ") for line in text.splitlines())
    return {term: float(value) for term, value in pairs}
