"""A requirement as the local judge reads it: which words a passage must have to support it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from seer_otel.judge.local.commonness import worth
from seer_otel.judge.local.patterns import ANSWERS, OUTDATED
from seer_otel.judge.local.reading import Context
from seer_otel.judge.local.vocabulary import GERMAN
from seer_otel.judge.local.words import names, sentences, terms, tokens

NAME_WEIGHT = 2.0
"""What a term of a name, or a number, counts more than another term as rare."""

SITUATION = 0.6
"""What a term counts that is in the query, but in no requirement."""


@dataclass(frozen=True, slots=True)
class Need:
    """A requirement, read in the light of its query and of the passages it is judged against."""

    query: str
    text: str
    weights: Mapping[str, float]
    """What each term is worth, above 0."""
    total: float
    """The weight of all terms together."""
    worth: Mapping[str, float]
    """The same, but for how common each term is anywhere instead of in this context."""
    proper: tuple[str, ...]
    """Terms of the requirement that are surely of names."""
    builds_on: int | None
    """Index of an earlier requirement all of whose terms this one repeats."""
    fresh: frozenset[str]
    """The terms that it does not repeat."""
    answer: re.Pattern[str] | None
    """Matches a text that may hold an answer of the kind asked for; None: any may."""
    past: bool
    """Whether what is out of date is asked for."""
    digits: tuple[str, ...]
    """The terms with a digit in them."""
    pairs: frozenset[tuple[str, str]]
    """The terms of the requirement that follow each other."""


def read_needs(query: str, requirements: tuple[str, ...], context: Context) -> list[Need]:
    """Read the requirements of one query."""
    named = {term for name in names(query) for term in terms(name)}
    proper = _proper(query)
    past = bool(OUTDATED.search(query))
    texts = [dict.fromkeys(terms(requirement)) for requirement in requirements]
    asked = {term for text in texts for term in text}
    situation = [term for term in dict.fromkeys(terms(query)) if term not in asked]

    def special(term: str) -> float:
        return NAME_WEIGHT if term in named or any(map(str.isdigit, term)) else 1.0

    needs = []
    for index, (requirement, text) in enumerate(zip(requirements, texts, strict=True)):
        factors = {term: special(term) for term in text}
        factors |= {term: special(term) * SITUATION for term in situation}
        weights = {term: context.rarity(term) * factor for term, factor in factors.items()}
        earlier = (i for i in reversed(range(index)) if texts[i] and texts[i].keys() < text.keys())
        builds_on = next(earlier, None)
        repeated = texts[builds_on].keys() if builds_on is not None else ()
        needs.append(
            Need(
                query,
                requirement,
                weights,
                sum(weights.values()),
                {term: worth(term) * factor for term, factor in factors.items()},
                tuple(term for term in text if term in proper),
                builds_on,
                frozenset(text).difference(repeated),
                next((answer for asks, answer in ANSWERS if asks.search(requirement)), None),
                past,
                tuple(term for term in weights if any(map(str.isdigit, term))),
                frozenset(pairwise(terms(requirement))),
            )
        )
    return needs


def _proper(query: str) -> frozenset[str]:
    """
    Return the terms of a query that are surely of names, as far as capitals show it.

    Not so the one word at the start of a sentence, bare numbers, and nouns in German.
    """
    if len(GERMAN.intersection(tokens(query))) > 1:
        return frozenset()
    sure = (
        name
        for sentence in sentences(query)
        for name in names(sentence)
        if not (name[1:].islower() and sentence.lstrip(" ¿¡\"'“«(").startswith(name))
    )
    return frozenset(term for name in sure for term in terms(name) if not term.isdigit())
