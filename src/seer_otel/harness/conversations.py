"""Conversations of files: judged, and laid out for programs and for people."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from rich.table import Table
from rich.text import Text

from seer_otel.errors import BudgetSpent
from seer_otel.harness.shown import shown
from seer_otel.judge.conversation import AssessedConversation, ConversationAssessor
from seer_otel.retrieval import Conversation
from seer_otel.verdict import ConversationEvaluation, TurnMeasure

MEASURES: Final[tuple[TurnMeasure, ...]] = get_args(TurnMeasure)


@dataclass(frozen=True, slots=True)
class ConversationOutcome:
    """What became of one conversation."""

    conversation: Conversation
    assessed: AssessedConversation | None = None
    """None where the judge could not be asked any more."""

    @property
    def evaluation(self) -> ConversationEvaluation | None:
        """The evaluation, where there is one."""
        return self.assessed.evaluation if self.assessed is not None else None

    @property
    def status(self) -> str:
        """How it ended, in one word."""
        return self.evaluation.status if self.evaluation is not None else "skipped"


async def evaluate(
    conversations: Iterable[Conversation],
    assessor: ConversationAssessor,
    *,
    concurrency: int = 8,
    advance: Callable[[], None] = lambda: None,
) -> list[ConversationOutcome]:
    """
    Judge conversations, some at a time.

    Args:
        conversations: What to judge.
        assessor: Judges one.
        concurrency: How many are judged at once.
        advance: Called as each is done.
    """
    slots = asyncio.Semaphore(concurrency)

    async def outcome(conversation: Conversation) -> ConversationOutcome:
        try:
            async with slots:
                assessed = await assessor.assess(conversation)
        except BudgetSpent:
            assessed = None
        advance()
        return ConversationOutcome(conversation, assessed)

    return list(await asyncio.gather(*map(outcome, conversations)))


def result(outcome: ConversationOutcome) -> dict[str, Any]:
    """Return one conversation as plain values; its score is under the name of its measure."""
    place = {"record_id": outcome.conversation.record_id, "scope": "conversation"}
    evaluation = outcome.evaluation
    if evaluation is None:
        return {**place, "status": "skipped", "reason": BudgetSpent.reason}
    return {
        **place,
        "status": evaluation.status,
        "reason": evaluation.reason,
        "error_type": evaluation.error_type,
        "measure": evaluation.measure,
        evaluation.measure: evaluation.value,
        "spread": evaluation.spread,
        "window": evaluation.window,
        "passages_dropped": evaluation.passages_dropped,
        "characters_dropped": evaluation.characters_dropped,
        "turns": [
            {
                "message": turn.message,
                "status": turn.status,
                "recall": turn.recall,
                "passages": turn.passages,
                "requirements": [
                    {"text": text, "supported": number in turn.supported}
                    for number, text in enumerate(turn.requirements, start=1)
                ],
            }
            for turn in evaluation.turns
        ],
    }


def values(outcomes: Iterable[ConversationOutcome]) -> dict[str, list[float]]:
    """Return the scores that are defined, by measure."""
    found: dict[str, list[float]] = {}
    for outcome in outcomes:
        evaluation = outcome.evaluation
        if evaluation is not None and evaluation.value is not None:
            found.setdefault(evaluation.measure, []).append(evaluation.value)
    return found


def table(outcomes: Sequence[ConversationOutcome]) -> Table:
    """Lay conversations out for people, turn by turn."""
    laid = Table("Conversation", "Turn", title="Conversations")
    for title in ("Recall", "Passages"):
        laid.add_column(title, justify="right")
    laid.add_column("Missing, or why there is no score")
    for outcome in outcomes:
        evaluation = outcome.evaluation
        name = Text(shown(outcome.conversation.record_id or "", 40))
        if evaluation is None or evaluation.value is None:
            why = (
                BudgetSpent.reason if evaluation is None else evaluation.reason or "nothing needed"
            )
            laid.add_row(name, "", "–", "", Text(shown(f"{outcome.status}: {why}", 160)))
        else:
            measure = evaluation.measure.replace("_", " ")
            laid.add_row(name, measure, f"{evaluation.value:.3f}", "", Text())
        for turn in evaluation.turns if evaluation is not None else ():
            missing = [
                text
                for number, text in enumerate(turn.requirements, start=1)
                if number not in turn.supported
            ]
            recall = "–" if turn.recall is None else f"{turn.recall:.3f}"
            remark = "; ".join(missing) if turn.status == "scored" else turn.status
            laid.add_row(
                "", f"message {turn.message}", recall, str(turn.passages), Text(shown(remark, 160))
            )
        laid.add_section()
    return laid
