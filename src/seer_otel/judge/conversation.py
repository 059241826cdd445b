"""
From a conversation to what its assistant turns were given to go by.

With an expected outcome its statements are looked for in the passages, each passage once however
many windows it is in. Without one, each turn's own question is the query, read in the light of the
conversation so far, and the passages in its window are the context.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Final

from seer_otel.judge.assess import Assessor
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import Judge, Question, Requirements, Support, total
from seer_otel.judge.statements import statements
from seer_otel.metrics.conversation import (
    WINDOW,
    assistant_turns,
    turn_contextual_recall,
    turn_recalls,
    turn_window,
)
from seer_otel.retrieval import Conversation, Passage, Retrieval, Turn
from seer_otel.verdict import (
    ConversationEvaluation,
    Evaluation,
    JudgedTurn,
    Provenance,
    Verdict,
)

NO_TURNS: Final = "no_assistant_turns"
SO_FAR: Final = "The conversation so far, to read this by:"

_MESSAGES_SHOWN: Final = 20
_CHARACTERS_SHOWN: Final = 1_000
"""Of an earlier message, where a question is read in its light."""


@dataclass(frozen=True, slots=True)
class AssessedConversation:
    """The outcome for one conversation, and the questions that it comes from."""

    evaluation: ConversationEvaluation
    retrievals: tuple[tuple[Retrieval, Verdict], ...]
    """What the judge was asked about, and what it said."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """One assistant turn."""

    message: int
    """Its index among all messages."""
    question: str
    """What the user said since the assistant last did, or before that."""
    before: tuple[Turn, ...]
    """The messages before that question."""
    passages: tuple[Passage, ...]
    """What was retrieved for it."""


class ConversationAssessor:
    """
    Assesses conversations with one judge.

    Args:
        judge: Whom to ask. It stays the caller's to close.
        window: Assistant turns whose passages count for a turn, this one included.
        limits: How much of a context is judged: of all passages of a conversation, where it has an
            expected outcome; else of those in one window.
        runs: How often everything is judged.
    """

    def __init__(
        self,
        judge: Judge,
        *,
        window: int = WINDOW,
        limits: Limits | None = None,
        runs: int = 1,
    ) -> None:
        self._judge = judge
        self._window = window
        self._of_questions = Assessor(judge, limits=limits, runs=runs)
        self._of_statements = Assessor(_ByStatement(judge), limits=limits, runs=runs)
        # It reads words: those of earlier questions would pass for what is asked.
        self._reads_on = not judge.name.startswith("local/")

    async def assess(self, conversation: Conversation) -> AssessedConversation:
        """
        Judge all assistant turns.

        Whatever goes wrong with the judge becomes an evaluation that says so.

        Raises:
            BudgetSpent: The judge may not be asked: the conversation is to be skipped.
        """
        turns = list(_asked(conversation.turns))
        if conversation.expected_outcome is not None:
            return await self._against(conversation.expected_outcome, turns)
        return await self._each(turns)

    async def aclose(self) -> None:
        """End what is under way."""
        await self._of_questions.aclose()
        await self._of_statements.aclose()

    async def _against(self, expected: str, turns: Sequence[_Asked]) -> AssessedConversation:
        context = tuple(passage for turn in turns for passage in turn.passages)
        retrieval = Retrieval(context=context, task=expected)
        verdict = await self._of_statements.assess(retrieval)
        (evaluation,) = verdict.evaluations
        judgement = evaluation.judgement
        texts = tuple(r.text for r in judgement.requirements) if judgement is not None else ()
        recalls: list[tuple[float, ...]] = []
        supported: list[frozenset[int]] = []
        if turns and texts and judgement is not None:
            by_run = [[r.passages for r in judgement.requirements]]
            if evaluation.repetition is not None:
                by_run = [list(cited) for cited in evaluation.repetition.citations]
            found = [_by_turn(turns, cited) for cited in by_run]
            recalls = [turn_recalls(each, len(texts), window=self._window) for each in found]
            supported = _in_windows(
                _by_turn(turns, [r.passages for r in judgement.requirements]), self._window
            )
        values = [value for each in recalls if (value := turn_contextual_recall(each)) is not None]
        means = [fmean(each) for each in zip(*recalls, strict=True)]
        status = evaluation.status if turns else "not_applicable"
        outcome = ConversationEvaluation(
            measure="turn_contextual_recall",
            status=status,
            window=self._window,
            turns=tuple(
                JudgedTurn(
                    message=turn.message + 1,
                    passages=_readable(turns, n, self._window),
                    recall=means[n] if means else None,
                    status=status,
                    requirements=texts,
                    supported=tuple(sorted(supported[n])) if supported else (),
                )
                for n, turn in enumerate(turns)
            ),
            provenance=evaluation.provenance,
            value=fmean(values) if values else None,
            spread=max(values) - min(values) if len(values) > 1 else None,
            reason=evaluation.reason if turns else NO_TURNS,
            error_type=evaluation.error_type,
            passages_dropped=evaluation.passages_dropped,
            characters_dropped=evaluation.characters_dropped,
        )
        return AssessedConversation(outcome, ((retrieval, verdict),))

    async def _each(self, turns: Sequence[_Asked]) -> AssessedConversation:
        retrievals = [
            Retrieval(context=_context(turns, n, self._window), task=self._query(turn))
            for n, turn in enumerate(turns)
        ]
        verdicts = await asyncio.gather(*map(self._of_questions.assess, retrievals))
        evaluations = [verdict.evaluations[0] for verdict in verdicts if verdict.evaluations]
        failed = next((each for each in evaluations if each.status == "failed"), None)
        judged = tuple(map(_judged_turn, turns, retrievals, verdicts))
        values = [turn.recall for turn in judged if turn.recall is not None]
        scored = bool(values) and failed is None
        spreads = [e.repetition.spread.get("recall", 0.0) for e in evaluations if e.repetition]
        outcome = ConversationEvaluation(
            measure="turn_recall",
            status="failed" if failed is not None else "scored" if values else "not_applicable",
            window=self._window,
            turns=judged,
            provenance=self._provenance([each.provenance for each in evaluations]),
            value=fmean(values) if scored else None,
            spread=max(spreads) if scored and spreads else None,
            reason=failed.reason if failed is not None else None if turns else NO_TURNS,
            error_type=failed.error_type if failed is not None else None,
            passages_dropped=sum(each.passages_dropped for each in evaluations),
            characters_dropped=sum(each.characters_dropped for each in evaluations),
        )
        return AssessedConversation(outcome, tuple(zip(retrievals, verdicts, strict=True)))

    def _provenance(self, of_turns: Sequence[Provenance]) -> Provenance:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return Provenance(
            judge=self._judge.name,
            revision=self._judge.revision,
            evaluated_at=max((each.evaluated_at for each in of_turns), default=now),
            duration_ms=max((each.duration_ms for each in of_turns), default=0.0),
            cached=bool(of_turns) and all(each.cached for each in of_turns),
            usage=total(each.usage for each in of_turns),
        )

    def _query(self, turn: _Asked) -> str:
        if not (turn.before and self._reads_on):
            return turn.question
        shown = turn.before[-_MESSAGES_SHOWN:]
        lines = (f"{each.role}: {each.content[:_CHARACTERS_SHOWN]}" for each in shown)
        return "\n".join([turn.question, "", SO_FAR, *lines])


class _ByStatement:
    """A judge to which the requirements of a text are the statements that it makes."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = judge.name
        self.revision = judge.revision

    async def requirements(self, query: str) -> Requirements:
        return Requirements(statements(query))

    async def support(self, question: Question) -> Support:
        return await self._judge.support(question)

    async def aclose(self) -> None:
        await self._judge.aclose()


def _asked(turns: Sequence[Turn]) -> Iterable[_Asked]:
    """Return the assistant turns; what was retrieved for a user's message is the next one's."""
    ours = set(assistant_turns(turn.role for turn in turns))
    question: list[str] = []
    begins = 0
    passages: tuple[Passage, ...] = ()
    last: str | None = None
    for index, turn in enumerate(turns):
        if turn.role == "user":
            if last != "user":
                question, begins = [], index
            question.append(turn.content)
            passages += turn.context
        elif index in ours:
            yield _Asked(index, "\n".join(question), tuple(turns[:begins]), passages + turn.context)
            passages = ()
        last = turn.role


def _by_turn(turns: Sequence[_Asked], cited: Iterable[Iterable[int]]) -> list[set[int]]:
    """Return the requirements, from 1, that the passages of each turn support."""
    owner = [n for n, turn in enumerate(turns) for _ in turn.passages]
    supported: list[set[int]] = [set() for _ in turns]
    for number, positions in enumerate(cited, start=1):
        for position in positions:
            supported[owner[position - 1]].add(number)
    return supported


def _in_windows(supported: Sequence[set[int]], window: int) -> list[frozenset[int]]:
    return [
        frozenset[int]().union(*(supported[each] for each in turn_window(n, window)))
        for n in range(len(supported))
    ]


def _context(turns: Sequence[_Asked], turn: int, window: int) -> tuple[Passage, ...]:
    return tuple(passage for n in turn_window(turn, window) for passage in turns[n].passages)


def _readable(turns: Sequence[_Asked], turn: int, window: int) -> int:
    return sum(passage.readable for passage in _context(turns, turn, window))


def _judged_turn(turn: _Asked, retrieval: Retrieval, verdict: Verdict) -> JudgedTurn:
    readable = sum(passage.readable for passage in retrieval.context)
    evaluation: Evaluation | None = next(iter(verdict.evaluations), None)
    if evaluation is None:
        return JudgedTurn(turn.message + 1, readable, status="not_applicable")
    needed = evaluation.judgement.requirements if evaluation.judgement is not None else ()
    return JudgedTurn(
        message=turn.message + 1,
        passages=readable,
        recall=evaluation.scores.recall,
        status=evaluation.status,
        requirements=tuple(each.text for each in needed),
        supported=tuple(n for n, each in enumerate(needed, start=1) if each.supported),
    )
