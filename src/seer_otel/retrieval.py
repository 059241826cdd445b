"""What is judged: the only shapes that cross rooms on the way in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TaskSource = Literal["seer.task", "ancestor", "query"]
"""Where the task was found: on the span, in an ancestor's input, or (for want of one) the query."""


@dataclass(frozen=True, slots=True)
class Passage:
    """
    One item of a context, as the application gave it.

    An item without readable text (None, or only white space) stays in its place, so that positions
    are those the application counts, but is no passage: it is neither judged nor scored.
    """

    text: str | None
    id: str | None = None
    source: str | None = None
    score: float | None = None
    """The retriever's relevance score, higher is better; None where missing, NaN or infinite."""
    distance: float | None = None
    """The retriever's distance, lower is better; None where missing, NaN or infinite."""
    rerank_score: float | None = None
    """A reranker's score, higher is better; None where missing, NaN or infinite."""
    rank: int | None = None
    """The stated rank; 1 is the top."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    truncated: bool = False
    """Whether the source cut the text."""

    @property
    def readable(self) -> bool:
        """Whether there is a text to judge."""
        return self.text is not None and not self.text.isspace() and self.text != ""


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """Labels, for measuring retriever and judge. They are never shown to the judge."""

    gold_doc_ids: tuple[str, ...] = ()
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One retrieval event: what was asked, what was fetched, and where it happened."""

    context: tuple[Passage, ...]
    """The items in the order given; positions elsewhere count them from 1. Empty: nothing found."""
    task: str | None = None
    """The user's question; None where unknown. Never blank."""
    subquery: str | None = None
    """What this hop was to answer; None for a single hop. Never blank."""
    task_source: TaskSource | None = None
    list_is_ranked: bool = False
    """Whether the convention of the span says that the list is in rank order."""
    is_final_context: bool = False
    """Whether the application marked this as the evidence that the answer is written from."""
    ground_truth: GroundTruth | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    conversation_id: str | None = None
    expected_outcome: str | None = None
    passages_dropped: int = 0
    """Passages that the source, or a hard limit, left out of the context."""
    characters_dropped: int = 0
    """Characters that a hard limit cut from the passages."""
    trace_id: str | None = None
    """32 hex digits, small letters."""
    span_id: str | None = None
    """16 hex digits, small letters."""
    parent_span_id: str | None = None
    span_name: str | None = None
    record_id: str | None = None
    dialect: str | None = None
    start_ns: int = 0
    end_ns: int = 0

    @property
    def queries(self) -> tuple[tuple[Literal["task", "subquery"], str], ...]:
        """
        The scopes to judge with their queries, the task first.

        A subquery equal to the task adds nothing; without a task the subquery is the one query
        and takes its place.
        """
        if self.task is None:
            return () if self.subquery is None else (("task", self.subquery),)
        if self.subquery is None or self.subquery == self.task:
            return (("task", self.task),)
        return (("task", self.task), ("subquery", self.subquery))


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, and what was retrieved for it."""

    role: Literal["user", "assistant"]
    content: str
    context: tuple[Passage, ...] = ()
    """What was retrieved to write it, an assistant's; a user's belongs to the next assistant's."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one conversation, and what was to come of it."""

    turns: tuple[Turn, ...]
    expected_outcome: str | None = None
    """What the user should have come to know; None where nobody said. Never blank."""
    record_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
