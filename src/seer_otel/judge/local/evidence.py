"""Which passages support which requirements: decided from probabilities."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seer_otel.judge.local.links import about
from seer_otel.judge.local.model import Model
from seer_otel.judge.local.needs import Need, read_needs
from seer_otel.judge.local.reading import Context, Page
from seer_otel.judge.local.relations import Relations
from seer_otel.judge.local.words import script

ALSO = 0.5
"""A cited passage supports the requirement that it suits best, and those with this probability."""

LEAST = 0.1
"""… but none for which it has less."""


ANCHOR = 0.5
"""A second hop is followed from passages that support the first with this probability."""


WEAK = 0.4
"""Where even the likeliest passage that is cited is less likely than that, the judge is unsure."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The passages that support a requirement, ascending, and whether that is in doubt."""

    passages: tuple[int, ...]
    unsure: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """What to cite, by place, and what F1 to expect of it."""

    places: frozenset[int]
    expected: float


def find_support(
    query: str, requirements: tuple[str, ...], context: Context, model: Model
) -> list[Finding]:
    """Return a finding for each requirement of one query, in their order."""
    relations = Relations(context)
    needs = read_needs(query, requirements, context)
    parts = [model.likelihood(need, relations) for need in needs]
    for need, part in zip(needs, parts, strict=True):
        if need.builds_on is not None:
            _follow(need, parts[need.builds_on], part, relations)
    if len(needs) == 1:
        likely = parts[0]
    else:
        (whole,) = read_needs(query, (query,), context)
        likely = model.united(model.likelihood(whole, relations), parts)
    choice = choose(likely, model.reluctance)
    unsure = choice.expected < model.doubt or bool(choice.places and max(likely) < WEAK)
    cited: list[list[int]] = [[] for _ in needs]
    for place, (number, page) in enumerate(context.pages.items()):
        if place in choice.places:
            for index in _supported(needs, [part[place] for part in parts], page):
                cited[index].append(number)
    return [
        Finding(tuple(numbers), unsure or _is_strange(need, context, model))
        for numbers, need in zip(cited, needs, strict=True)
    ]


def _follow(need: Need, before: Sequence[float], likely: list[float], relations: Relations) -> None:
    """
    Raise what is likely for a second hop to what following the first one says.

    A passage about a name that the evidence for the first hop brings in, with an answer of the
    kind asked for, shares no word with the question: the trees have little to go by.
    """
    known = frozenset(need.weights)
    for anchor, source in enumerate(relations.pages):
        if before[anchor] < ANCHOR or known.issubset(source.counts):
            continue
        names = source.introduced(known)
        for place, page in enumerate(relations.pages):
            if place == anchor or not (need.answer and need.answer.search(page.text)):
                continue
            led = max((about(page, name) for name in names), default=0.0)
            likely[place] = max(likely[place], led * before[anchor])


def choose(likely: Sequence[float], reluctance: float) -> Choice:
    """
    Return the likeliest passages, as many as promise the highest F1; none where that promises more.

    The expectation of F1 is taken as 2 x expected hits / (cited + expected evidence), and that of
    citing nothing as the probability that there is no evidence, the passages being independent.
    """
    ordered = sorted(range(len(likely)), key=lambda place: -likely[place])
    evidence = math.fsum(likely)
    hits, best, size = 0.0, 0.0, 0
    for count, place in enumerate(ordered, start=1):
        hits += likely[place]
        promised = 2 * hits / (count + evidence)
        if promised > best:
            best, size = promised, count
    nothing = math.prod(1 - value for value in sorted(likely))
    if nothing * reluctance >= best:
        return Choice(frozenset(), nothing)
    least = likely[ordered[size - 1]]
    return Choice(frozenset(place for place in ordered if likely[place] >= least), best)


def _supported(needs: Sequence[Need], likely: Sequence[float], page: Page) -> list[int]:
    """Return which requirements a cited passage supports, by their index."""
    able = [index for index, need in enumerate(needs) if _adds(page, need)]
    best = max((likely[index] for index in able), default=0.0)
    enough = max(LEAST, min(best, ALSO))
    return [index for index in able if likely[index] >= enough]


def _adds(page: Page, need: Need) -> bool:
    """Whether a passage has more than the requirement that this one builds on has asked for."""
    return (
        need.builds_on is None
        or any(term in page.counts for term in need.fresh)
        or bool(need.answer and need.answer.search(page.text))
    )


def _is_strange(need: Need, context: Context, model: Model) -> bool:
    """Whether there are scripts that the model never learnt, or no word could be shared."""
    asked = {script(term) for term in need.weights} - {"DIGIT"}
    foreign = bool(asked) and asked.isdisjoint(context.scripts)
    return foreign or not asked <= model.scripts
