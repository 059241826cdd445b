"""Ask the judge, a few at a time, and count what that took."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from seer_otel.dialects import READER, Reader, lookup
from seer_otel.dialects.trace import Node
from seer_otel.evaluator.telemetry import metrics
from seer_otel.evaluator.telemetry.metrics import Telemetry
from seer_otel.retrieval import Retrieval
from seer_otel.verdict import Verdict

Resolve = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""From ids of documents to the texts that can be had, in a time that fits into the hold."""


class Assess(Protocol):
    """How a retrieval is judged."""

    async def assess(self, retrieval: Retrieval, *, timeout_s: float | None = None) -> Verdict:
        """Judge all scopes of a retrieval; failures are part of the verdict."""
        ...


class Assessing:
    """The way to the judge, and to the texts it needs."""

    def __init__(
        self,
        assessor: Assess,
        telemetry: Telemetry,
        *,
        timeout_s: float,
        concurrency: int = 8,
        resolve: Resolve | None = None,
        reader: Reader = READER,
    ) -> None:
        self._assessor = assessor
        self._telemetry = telemetry
        self._timeout_s = timeout_s
        self._slots = asyncio.Semaphore(concurrency)
        self._resolve = resolve
        self._reader = reader
        self.trouble: str | None = None
        """What the last judgement failed with; None where it did not."""

    async def with_texts(self, node: Node) -> Node:
        """Find the texts of documents that came as ids alone, as far as they can be found."""
        if node.reading is None or self._resolve is None:
            return node
        ids = lookup.missing(node.reading)
        if not ids:
            return node
        return self._reader.with_texts(node, await self._resolve(ids))

    async def assess(self, retrieval: Retrieval) -> Verdict:
        """
        Judge a retrieval, as soon as a place is free; count what that took.

        Raises:
            BudgetSpent: The judge may not be asked.
        """
        async with self._slots:
            verdict = await self._assessor.assess(retrieval, timeout_s=self._timeout_s)
        failed = next((e for e in verdict.evaluations if e.status == "failed"), None)
        self.trouble = f"{failed.reason} ({failed.error_type})" if failed else None
        provenance = verdict.evaluations[0].provenance
        self._telemetry.record(metrics.JUDGE_DURATION, provenance.duration_ms / 1000)
        self._telemetry.count(metrics.JUDGE_CACHED, int(provenance.cached))
        for evaluation in verdict.evaluations:
            if evaluation.repetition is not None:
                agreement = evaluation.repetition.agreement
                self._telemetry.record(metrics.JUDGE_AGREEMENT, agreement, scope=evaluation.scope)
        return verdict
