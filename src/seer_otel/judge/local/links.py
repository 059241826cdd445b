"""What a first estimate shows: where a second hop would lead, who stands how to the best."""

import math
from collections.abc import Sequence

from seer_otel.judge.local.needs import Need
from seer_otel.judge.local.reading import Page
from seer_otel.judge.local.relations import (
    Columns,
    Relations,
    gap,
    logit,
    mean_rank,
    named_in,
    relative,
)

ANCHORS, ANCHOR = 3, 0.25
"""Names are followed from at most so many passages, with this share of the best likelihood."""


def link(need: Need, relations: Relations, likely: Sequence[float], prefix: str) -> Columns:
    """
    Measure how passages hang together, seen from the likeliest: where a second hop would lead.

    Args:
        need: The requirement.
        relations: The passages.
        likely: How likely each passage is evidence, in 0..about 1.
        prefix: Begins the names of the columns.
    """
    pages, total = relations.pages, need.total or 1.0
    columns: Columns = {
        name: [0.0] * len(pages)
        for name in ("about", "named_by", "names", "completes", "carries", "beside")
    }
    for anchor in _anchors(likely, pages):
        weight, source = likely[anchor], pages[anchor]
        left = {term: w for term, w in need.weights.items() if term not in source.counts}
        known = frozenset(need.weights)
        brought = source.introduced(known)
        new = dict.fromkeys(relations.fresh_terms(anchor, need.weights), 1.0)
        carried = [relations.context.bm25(page, left | new) for page in pages]
        for place, page in enumerate(pages):
            if place == anchor:
                continue
            found = {
                "about": max((about(page, name) for name in brought), default=0.0),
                "named_by": named_in(relations.subjects[place] - known, source),
                "names": named_in(relations.subjects[anchor], page),
                "completes": sum(w for term, w in left.items() if term in page.counts) / total,
                "carries": carried[place] / total,
                "beside": 1.0,
            }
            for name, value in found.items():
                columns[name][place] = max(columns[name][place], weight * value)
    columns["completes_share"] = relative(columns["completes"])
    columns["carries_share"] = relative(columns["carries"])
    return {f"{prefix}_{name}": values for name, values in columns.items()}


def standing(likely: Sequence[float], relations: Relations, need: Need) -> Columns:
    """Measure how each passage stands among the others by a first estimate, in 0..1."""
    count = len(likely)
    ordered = sorted(likely, reverse=True)
    held = [page for page, value in zip(relations.pages, likely, strict=True) if value > 0.5]
    total = need.total or 1.0
    open_ = sum(w for t, w in need.weights.items() if not any(t in page.counts for page in held))
    twin_ahead = [
        logit(likely[place]) - logit(likely[twin.place]) if twin else 0.0
        for place, twin in enumerate(relations.twins)
    ]
    log_odds = [logit(value) for value in likely]
    whole = {
        "first_best": log_odds[likely.index(ordered[0])],
        "first_second": logit(ordered[1]) if count > 1 else -6.0,
        "first_sum": math.fsum(likely),
        "first_likely": float(len(held)),
        "first_open": open_ / total,
    }
    return {
        "first": log_odds,
        "first_share": relative(likely),
        "first_rank": mean_rank(likely),
        "first_gap": gap(log_odds),
        "first_twin": twin_ahead,
    } | {name: [value] * count for name, value in whole.items()}


def about(page: Page, name: tuple[str, ...]) -> float:
    """Return how surely a passage is about a name, in 0..1."""
    subject = page.subject
    if name == subject:
        return 1.0
    if len(name) > 1 and set(name) < set(subject) and len(name) * 2 > len(subject):
        return 0.8
    if subject and set(subject) < set(name) and (len(subject) > 1 or subject[0] == name[-1]):
        return 0.7
    return 0.0


def _anchors(likely: Sequence[float], pages: Sequence[Page]) -> list[int]:
    least = ANCHOR * max(likely, default=0.0)
    ordered = sorted(range(len(pages)), key=lambda place: (-likely[place], pages[place].text))
    return [place for place in ordered[:ANCHORS] if likely[place] >= least > 0]
