"""The embedded judge: words and trained trees, offline, the same answer every time."""

import asyncio
import hashlib
import re
from types import ModuleType

from seer_otel.judge.local import (
    commonness,
    evidence,
    features,
    links,
    needs,
    parts,
    patterns,
    reading,
    relations,
    requirements,
    vocabulary,
    words,
)
from seer_otel.judge.local.evidence import find_support
from seer_otel.judge.local.model import Model, shipped
from seer_otel.judge.local.reading import Context
from seer_otel.judge.local.requirements import enumerate_requirements
from seer_otel.judge.protocol import Question, Requirements, Support

METHOD = 1
"""Raised with every change of the code that can change a verdict and is no constant."""


class LocalJudge:
    """
    A judge that needs no model server, no key and no network.

    It reads words, not meaning: what the words of a passage, and how the passages hang together,
    say of its being evidence was learnt from labelled questions of many domains. Made for trying
    things out, for tests and for comparing arms; it misses paraphrase and other languages than the
    query's, and it seldom sees that a passage on the right subject does not hold the answer.
    docs/embedded-judge.md has the figures.
    """

    name = f"local/trees-{METHOD}"

    def __init__(self, model: Model | None = None) -> None:
        self._model = model or shipped()
        self.revision = f"{METHOD}.{_fingerprint()}.{self._model.fingerprint}"

    async def requirements(self, query: str) -> Requirements:
        """List the requirements of a query, from its wording; none for small talk."""
        return Requirements(enumerate_requirements(query))

    async def support(self, question: Question) -> Support:
        """Say which passages support which requirements."""
        return await asyncio.to_thread(_support, question, self._model)

    async def aclose(self) -> None:
        """Do nothing: nothing is held."""


def _support(question: Question, model: Model) -> Support:
    context = Context(question.passages)
    citations: dict[int, tuple[int, ...]] = {}
    unsure: set[int] = set()
    for asked in question.asked:
        numbers = sorted(asked.requirements)
        texts = tuple(asked.requirements[number] for number in numbers)
        findings = find_support(asked.query, texts, context, model)
        for number, finding in zip(numbers, findings, strict=True):
            citations[number] = finding.passages
            if finding.unsure:
                unsure.add(number)
    return Support(citations, low_confidence=frozenset(unsure))


def _fingerprint() -> str:
    """Return a short text that changes with every threshold, pattern and word list."""
    rooms = (
        *(commonness, evidence, features, links, needs, parts, patterns),
        *(reading, relations, requirements, vocabulary, words),
    )
    constants = [item for room in rooms for item in _constants(room)]
    return hashlib.sha256("\n".join(constants).encode()).hexdigest()[:8]


def _constants(room: ModuleType) -> list[str]:
    values = {name: value for name, value in vars(room).items() if name.isupper()}
    return [f"{room.__name__} {name} {_canonical(value)}" for name, value in sorted(values.items())]


def _canonical(value: object) -> str:
    if isinstance(value, frozenset):
        return repr(sorted(value))
    if isinstance(value, tuple):
        return repr([_canonical(item) for item in value])
    return repr((value.pattern, value.flags) if isinstance(value, re.Pattern) else value)
