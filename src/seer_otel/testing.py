"""Fakes for tests of this package and of applications that use it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from seer_otel.errors import JudgeError
from seer_otel.judge.protocol import Question, Requirements, Support


@dataclass
class ManualClock:
    """A clock that stands still until it is told to go on."""

    time: float = 1_796_000_000.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.time

    def monotonic(self) -> float:
        """The same seconds."""
        return self.time

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.time += seconds


@dataclass
class ScriptedJudge:
    """
    A judge that answers by a script and keeps what it was asked.

    `script` maps a query to its requirements, each with the texts of the passages that support
    it; a query that is not in it needs nothing. An error is raised instead of an answer.
    """

    script: Mapping[str, Sequence[tuple[str, Sequence[str]]] | JudgeError]
    name: str = "scripted/test"
    revision: str = "1"
    delay_s: float = 0.0
    questions: list[Question] = field(default_factory=list)
    """Every support question, in order."""
    enumerated: list[str] = field(default_factory=list)
    """Every query whose requirements were asked for, in order."""
    before_reply: Callable[[], None] | None = None

    async def requirements(self, query: str) -> Requirements:
        """Look the query up in the script."""
        self.enumerated.append(query)
        return Requirements(tuple(text for text, _ in self._entry(query)))

    async def support(self, question: Question) -> Support:
        """Cite the passages whose texts the script names."""
        self.questions.append(question)
        if self.before_reply is not None:
            self.before_reply()
        await asyncio.sleep(self.delay_s)
        citations: dict[int, tuple[int, ...]] = {}
        for asked in question.asked:
            texts = {text: set(passages) for text, passages in self._entry(asked.query)}
            for number, requirement in asked.requirements.items():
                wanted = texts.get(requirement, set())
                citations[number] = tuple(n for n, t in question.passages.items() if t in wanted)
        return Support(citations)

    async def aclose(self) -> None:
        """Nothing to release."""

    def _entry(self, query: str) -> Sequence[tuple[str, Sequence[str]]]:
        entry = self.script.get(query, ())
        if isinstance(entry, JudgeError):
            raise entry
        return entry
