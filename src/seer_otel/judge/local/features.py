"""What can be measured of each passage for one requirement, without understanding either."""

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from seer_otel.judge.local.needs import Need
from seer_otel.judge.local.patterns import NOW, SEVERAL
from seer_otel.judge.local.reading import Context, Page
from seer_otel.judge.local.relations import (
    Columns,
    Relations,
    gap,
    mean_rank,
    relative,
)
from seer_otel.judge.local.words import script, shingles

MISFIT = 0.8
"""What is left of the score of a text that holds no answer of the kind asked for."""

ENDED = 0.8
"""What is left of the score of a passage that says it is out of date, unless that is asked for."""

MANY = 8
"""Passages from which on a context is no longer small: more say nothing of each of them."""

UNKNOWN = 0.5
"""Stands for a share of nothing: of the numbers in a question that has none."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What the words alone say, and a first guess from it how likely each passage is evidence."""

    columns: Columns
    guess: list[float]
    """In 0..about 1."""


def measure(need: Need, relations: Relations) -> Measured:
    """Measure each passage by the words that it shares with a requirement."""
    context, pages = relations.context, relations.pages
    total = need.total or 1.0
    bm25 = [context.bm25(page, need.weights) / total for page in pages]
    cover = [_sum(need.weights, page.counts) / total for page in pages]
    below = [_sum(need.weights, page.body) / total for page in pages]
    best = [_best_unit(need, page) for page in pages]
    lines = [covered / total for covered, _, _ in best]
    strength = [covered / math.sqrt(total) for covered, _, _ in best]
    pieces = _pieces(need, pages)
    guess = [
        (b + line) / 2 * (1 if fits else MISFIT) * (ENDED if ended == 1 and not need.past else 1)
        for b, line, (_, fits, _), ended in zip(bm25, lines, best, relations.ended, strict=True)
    ]
    columns = {
        "guess": guess,
        "guess_share": relative(guess),
        "guess_gap": gap(guess),
        "bm25": bm25,
        "bm25_share": relative(bm25),
        "bm25_rank": mean_rank(bm25),
        "cover": cover,
        "cover_share": relative(cover),
        "cover_gap": gap(cover),
        "below": below,
        "line": lines,
        "line_share": relative(lines),
        "line_rank": mean_rank(lines),
        "line_gap": gap(lines),
        "strength": strength,
        "place": [place for _, _, place in best],
        "pieces": pieces,
        "pieces_share": relative(pieces),
        "pieces_rank": mean_rank(pieces),
        "pieces_gap": gap(pieces),
        "missing": [_rarest_missing(need, page, context) for page in pages],
        "pairs": [_pairs(need, page) for page in pages],
        "proper": [_share(need.proper, page.counts) for page in pages],
        "digits": [_share(need.digits, page.counts) for page in pages],
        "digits_line": [max(_share(need.digits, u.terms) for u in page.units) for page in pages],
        "fresh": [_share(sorted(need.fresh), page.counts) for page in pages],
        "answer": [_answers(need, page.text) for page in pages],
        "answer_line": [fits if need.answer else UNKNOWN for _, fits, _ in best],
        "heading_asked": [_share(page.above, need.weights) for page in pages],
        "heading_cover": [_sum(need.weights, page.above) / total for page in pages],
        "length": [math.log1p(page.length) for page in pages],
    }
    columns |= _aspects(need, relations) | _worth(need, relations)
    columns |= _versions(need, relations, guess)
    return Measured(columns | _of_all(need, relations, columns), guess)


def _aspects(need: Need, relations: Relations) -> Columns:
    """
    Return what the text below the heading says of that which the heading leaves open.

    Passages of one document share a heading; which of them is meant shows in the rest.
    """
    cover, line = [], []
    for page in relations.pages:
        left = {term: w for term, w in need.weights.items() if term not in page.above}
        total = sum(left.values())
        covered = _sum(left, page.body) / total if total else UNKNOWN
        sentences = page.units[bool(page.heading) :] or page.units
        best = max(_sum(left, unit.said) for unit in sentences)
        cover.append(covered)
        line.append(best / total if total else UNKNOWN)
    heads = Counter(page.above for page in relations.pages)
    return {
        "aspect_cover": cover,
        "aspect_share": relative(cover),
        "aspect_gap": gap(cover),
        "aspect_line": line,
        "aspect_line_share": relative(line),
        "aspect_line_gap": gap(line),
        "same_heading": [float(heads[page.above] * bool(page.above)) for page in relations.pages],
    }


def _worth(need: Need, relations: Relations) -> Columns:
    """Return coverage again, with terms weighed by how common they are in any text."""
    worth, pages = need.worth, relations.pages
    total = sum(worth.values()) or 1.0
    cover = [_sum(worth, page.counts) / total for page in pages]
    line = [max(_sum(worth, unit.terms) for unit in page.units) / total for page in pages]
    nowhere = sum(weight for term, weight in worth.items() if not relations.context.seen(term))
    return {
        "worth_cover": cover,
        "worth_cover_share": relative(cover),
        "worth_line": line,
        "worth_line_share": relative(line),
        "worth_line_gap": gap(line),
        "worth_missing": [
            max((w for term, w in worth.items() if term not in page.counts), default=0.0)
            for page in pages
        ],
        "worth_nowhere": [nowhere / total] * len(pages),
        "worth": [total] * len(pages),
    }


def _of_all(need: Need, relations: Relations, columns: Columns) -> Columns:
    """Return what is the same for all passages: of the question, and of the context as a whole."""
    context, count = relations.context, len(relations.pages)
    scripts = {script(term) for term in need.weights} - {"DIGIT"}
    nowhere = sum(weight for term, weight in need.weights.items() if not context.seen(term))
    values = {
        "passages": float(min(count, MANY)),
        "terms": float(min(len(need.weights), 20)),
        "nowhere": nowhere / (need.total or 1.0),
        "best_cover": max(columns["cover"]),
        "best_line": max(columns["line"]),
        "best_strength": max(columns["strength"]),
        "best_pieces": max(columns["pieces"]),
        "foreign": float(bool(scripts) and scripts.isdisjoint(context.scripts)),
        "several": float(bool(SEVERAL.search(need.text))),
        "builds": float(need.builds_on is not None),
    }
    return {name: [value] * count for name, value in values.items()}


def _versions(need: Need, relations: Relations, guess: Sequence[float]) -> Columns:
    """Return what tells a passage from the one most like it: what each says of its validity."""
    years, ended, valid = relations.years, relations.ended, relations.valid
    asked = {int(term) for term in need.weights if len(term) == 4 and term.isdecimal()}
    likeness, ahead, newer, outlived = [], [], [], []
    for place, twin in enumerate(relations.twins):
        likeness.append(twin.likeness if twin else 0.0)
        ahead.append(guess[place] - guess[twin.place] if twin else 0.0)
        both = twin is not None and bool(years[place]) and bool(years[twin.place])
        newer.append(_sign(max(years[place]) - max(years[twin.place])) if twin and both else 0.0)
        outlived.append(ended[place] - ended[twin.place] if twin else 0.0)
    return {
        "twin": likeness,
        "twin_ahead": ahead,
        "twin_newer": newer,
        "twin_outlived": outlived,
        "ended": ended,
        "valid": valid,
        "year_asked": [len(asked & own) / len(asked) if asked else UNKNOWN for own in years],
        "now": [float(bool(NOW.search(need.query)))] * len(ended),
        "past": [float(need.past)] * len(ended),
    }


def _best_unit(need: Need, page: Page) -> tuple[float, float, float]:
    """Return the weight that the best sentence covers, whether it fits, and where it stands."""
    best = (-1.0, 0.0, 0.0)
    last = len(page.units) - 1 or 1
    for place, unit in enumerate(page.units):
        covered = sum(w for term, w in need.weights.items() if term in unit.terms)
        fits = float(not need.answer or bool(need.answer.search(unit.text)))
        if covered * (1 if fits else MISFIT) > best[0] * (1 if best[1] else MISFIT):
            best = (covered, fits, place / last)
    return best


def _pieces(need: Need, pages: Sequence[Page]) -> list[float]:
    """Return the share of the pieces of the question's words that each passage has, by rarity."""
    asked = list(dict.fromkeys(shingles(need.text)))
    seen = Counter(piece for page in pages for piece in asked if piece in page.shingles)
    worth = {piece: math.log(1 + (len(pages) + 2) / (seen[piece] + 0.5)) for piece in asked}
    total = sum(worth.values()) or 1.0
    return [sum(w for p, w in worth.items() if p in page.shingles) / total for page in pages]


def _sum(weights: Mapping[str, float], held: Container[str]) -> float:
    """Return the weight of the terms that are held."""
    return sum(weight for term, weight in weights.items() if term in held)


def _share(terms: Sequence[str], held: Container[str]) -> float:
    return sum(term in held for term in terms) / len(terms) if terms else UNKNOWN


def _rarest_missing(need: Need, page: Page, context: Context) -> float:
    missing = [context.rarity(term) for term in need.weights if term not in page.counts]
    return max(missing, default=0.0)


def _pairs(need: Need, page: Page) -> float:
    """Return the share of neighbours in the question that are neighbours in the passage."""
    return len(need.pairs & page.pairs) / len(need.pairs) if need.pairs else UNKNOWN


def _answers(need: Need, text: str) -> float:
    return float(bool(need.answer.search(text))) if need.answer else UNKNOWN


def _sign(difference: int) -> float:
    return float((difference > 0) - (difference < 0))
