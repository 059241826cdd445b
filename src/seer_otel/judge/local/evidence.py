"""Which passages support which requirements, by the words that they share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from seer_otel.judge.local.needs import Need, read_needs
from seer_otel.judge.local.patterns import OUTDATED
from seer_otel.judge.local.reading import Context, Page
from seer_otel.judge.local.words import script

FLOOR = 0.2
"""Strength of evidence below which words are shared by chance, see `_Match`."""

PROPER = 1 / 3
"""Share of the weight of a requirement's names without which a passage speaks of others."""

CLOSE = 0.9
"""A passage is cited beside the best one if it has this share of its score."""

UNSURE = 0.25
"""Distance of the strongest evidence from the floor, as a share of it, that leaves doubt."""

MISFIT = 0.8
"""What is left of the score of a text that holds no answer of the kind asked for."""

SUPERSEDED = 0.8
"""What is left of the score of a passage that says it is out of date, unless that is asked for."""

ANCHORS, ANCHOR = 3, 0.6
"""Names are followed from at most so many passages, with this share of the best score."""

LINK = 0.5
"""What a passage so reached needs: the anchor's share of the best score, times the link."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The passages that support a requirement, ascending, and whether that is in doubt."""

    passages: tuple[int, ...]
    unsure: bool


@dataclass(frozen=True, slots=True)
class _Match:
    score: float
    """For comparing passages: half BM25, half what one sentence covers. In 0..about 2."""
    strength: float
    """
    For telling evidence from chance: the weight that one sentence covers over the root of the
    weight of all terms. A share of it would hold their many words against long questions.
    """


def find_support(query: str, requirements: tuple[str, ...], context: Context) -> list[Finding]:
    """Return a finding for each requirement of one query, in their order."""
    needs = read_needs(query, requirements, context)
    built_upon = {need.builds_on for need in needs}
    known = frozenset(term for need in needs for term in need.weights)
    shares: list[dict[int, float]] = []
    findings: list[Finding] = []
    for index, need in enumerate(needs):
        matches = {number: _match(page, need, context) for number, page in context.pages.items()}
        direct = _direct(matches, need, context)
        anchors = direct if need.builds_on is None else shares[need.builds_on]
        linked = {} if index in built_upon else _linked(anchors, need, known, context)
        nearest = max(linked.values(), default=0.0)
        found = {number for number, share in direct.items() if share >= CLOSE}
        found |= {n for n, share in linked.items() if share >= max(LINK, CLOSE * nearest)}
        found = {number for number in found if _adds(context.pages[number], need)}
        findings.append(Finding(tuple(sorted(found)), _in_doubt(matches, need, context)))
        shares.append(direct)
    return findings


def _in_doubt(matches: Mapping[int, _Match], need: Need, context: Context) -> bool:
    """Whether the evidence is near the floor, or in another script, where no word can be shared."""
    strongest = max((match.strength for match in matches.values()), default=0.0)
    scripts = {script(term) for term in need.weights} - {"DIGIT"}
    foreign = bool(scripts) and scripts.isdisjoint(context.scripts)
    return foreign or abs(strongest / FLOOR - 1) < UNSURE


def _match(page: Page, need: Need, context: Context) -> _Match:
    if not need.total:
        return _Match(0.0, 0.0)
    covered = max(
        sum(weight for term, weight in need.weights.items() if term in unit.terms)
        * (MISFIT if need.answer and not need.answer.search(unit.text) else 1)
        for unit in page.units
    )
    score = (context.bm25(page, need.weights) + covered) / need.total / 2
    if not need.past and OUTDATED.search(page.text):
        score *= SUPERSEDED
    return _Match(score, covered / math.sqrt(need.total))


def _direct(matches: Mapping[int, _Match], need: Need, context: Context) -> dict[int, float]:
    """
    Return the passages that share enough words, with their shares of the best score, in 0..1.

    The best is the best of all: beside one with more of the words, but about others, the rest
    are no evidence either.
    """
    best = max((match.score for match in matches.values()), default=0.0)
    names = sum(need.weights[term] for term in need.proper)

    def is_evidence(number: int, match: _Match) -> bool:
        counts = context.pages[number].counts
        named = sum(need.weights[term] for term in need.proper if term in counts)
        return match.strength >= FLOOR and named >= PROPER * names

    return {n: match.score / best for n, match in matches.items() if is_evidence(n, match)}


def _linked(
    anchors: Mapping[int, float], need: Need, known: frozenset[str], context: Context
) -> dict[int, float]:
    """
    Return the passages about a name that an anchor brings in, with the strength of the link.

    An anchor that has every term of the requirement leaves nothing to look for.
    """
    strong = [(-share, context.pages[n].text, n) for n, share in anchors.items() if share >= ANCHOR]
    linked: dict[int, float] = {}
    for share, _, anchor in sorted(strong)[:ANCHORS]:
        if need.weights.keys() <= context.pages[anchor].counts.keys():
            continue
        brought = context.pages[anchor].introduced(known)
        for number, page in context.pages.items():
            link = max((_about(page, name) for name in brought), default=0.0) * -share
            if number == anchor or not link:
                continue
            if need.answer and not need.answer.search(page.text):
                link *= MISFIT
            linked[number] = max(linked.get(number, 0.0), link)
    return linked


def _about(page: Page, name: tuple[str, ...]) -> float:
    """Return how surely a passage is about a name, in 0..1."""
    subject = page.subject
    if name == subject:
        return 1.0
    if len(name) > 1 and set(name) < set(subject) and len(name) * 2 > len(subject):
        return 0.8
    if subject and set(subject) < set(name) and (len(subject) > 1 or subject[0] == name[-1]):
        return 0.7
    return 0.0


def _adds(page: Page, need: Need) -> bool:
    """Whether a passage has more than the requirement that this one builds on has asked for."""
    return (
        need.builds_on is None
        or any(term in page.counts for term in need.fresh)
        or bool(need.answer and need.answer.search(page.text))
    )
