"""
What a judge answered, remembered: the same question is not asked twice.

The same question is: the same judge (name and revision), the same queries with the same numbered
requirements, the same documents in the same order, the same run of several. The name of a scope,
the ids, scores and places of passages, and the trace they came in change no answer, and are no part
of it. Two writings of one document (Unicode normal form, white space) are one.
"""

import hashlib
import json
from collections import OrderedDict
from dataclasses import replace
from typing import Protocol

from seer_otel.judge.protocol import Judge, Question, Support
from seer_otel.judge.sharing import Sharing
from seer_otel.metrics.documents import document
from seer_otel.verdict import Usage


class AnswerMemory(Protocol):
    """
    Where answers are kept.

    Neither method raises: a memory that cannot be read knows nothing.
    """

    async def get(self, question: bytes) -> Support | None:
        """Return the answer to a question, by its `key`; None where it is new."""
        ...

    async def put(self, question: bytes, answer: Support) -> None:
        """Keep the citations of an answer, and what it is unsure of."""
        ...


class RecentAnswers:
    """Keeps the answers used last, in this process."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, Support] = OrderedDict()

    async def get(self, question: bytes) -> Support | None:
        """Return the answer to a question; None where it is new."""
        found = self._kept.get(question)
        if found is not None:
            self._kept.move_to_end(question)
        return found

    async def put(self, question: bytes, answer: Support) -> None:
        """Keep an answer; the one unused for longest gives way."""
        self._kept[question] = answer
        self._kept.move_to_end(question)
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)


class Answers:
    """Asks a judge which passages support what, once however many want it."""

    def __init__(self, judge: Judge, memory: AnswerMemory) -> None:
        self._judge = judge
        self._memory = memory
        self._sharing: Sharing[Support] = Sharing()

    async def to(self, question: Question) -> Support:
        """
        Return the answer to a question; what it cost is told to the first who asked.

        An answer that leaves a requirement out is not remembered.

        Raises:
            JudgeError: The judge gave none.
        """
        identity = key(self._judge, question)
        found, shared = await self._sharing.answer(identity, lambda: self._find(identity, question))
        return replace(found, usage=Usage(), cached=True) if shared else found

    async def aclose(self) -> None:
        """End the questions under way."""
        await self._sharing.aclose()

    async def _find(self, identity: bytes, question: Question) -> Support:
        remembered = await self._memory.get(identity)
        if remembered is not None:
            return replace(remembered, usage=Usage(), cached=True)
        found = await self._judge.support(question)
        wanted = {number for asked in question.asked for number in asked.requirements}
        if wanted <= found.citations.keys():
            await self._memory.put(identity, found)
        return found


def key(judge: Judge, question: Question) -> bytes:
    """Return what makes a question the same, and nothing else, in 32 bytes."""
    parts = (
        judge.name,
        judge.revision,
        [(document(asked.query), [*asked.requirements.items()]) for asked in question.asked],
        [(number, document(text)) for number, text in question.passages.items()],
        question.run,
    )
    return hashlib.sha256(json.dumps(parts).encode()).digest()
