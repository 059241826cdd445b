"""One run over files: open the judge, judge, write what was asked for."""

import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from seer_otel.config import Config, JudgeConfig
from seer_otel.dialects import redaction_of, with_tools
from seer_otel.errors import ConfigError
from seer_otel.harness import conversations
from seer_otel.harness.annotate import annotated, write
from seer_otel.harness.candidates import Candidate, Gathered, gather, sample
from seer_otel.harness.conversations import ConversationOutcome
from seer_otel.harness.evaluate import Outcome, evaluate
from seer_otel.harness.report import Report
from seer_otel.judge.assess import Assessor
from seer_otel.judge.conversation import ConversationAssessor
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import Judge
from seer_otel.judge.recording import Recording
from seer_otel.judge.select import describe, open_judge
from seer_otel.retrieval import Conversation


def run(
    files: Iterable[str],
    config: Config,
    *,
    output: Path | None = None,
    record: Path | None = None,
    rate: float | None = None,
) -> Report:
    """
    Judge all retrievals and conversations of files with the configured judge.

    The judge, and where it sends text, is said on the standard error before anything is sent; a
    terminal gets a progress bar there.

    Args:
        files: Paths; `-` is the standard input.
        config: Its judge, limits and thresholds count.
        output: Where to write the spans with their results.
        record: Where to write the verdicts, for the replay judge.
        rate: The share of traces to judge, 0..1; all unless told.

    Raises:
        ConfigError: There is no such judge, or no folder to write to.
        OSError: A file cannot be opened or written.
    """
    for path in (output, record):
        if path is not None and not path.parent.is_dir():  # said before anything is spent
            raise ConfigError(f"{path}: there is no such folder")
    settings = config.judge.settings()
    seen = redaction_of(config.redact.patterns, config.redact.function)
    judge = open_judge(settings, redact=seen)
    print(describe(settings), file=sys.stderr, flush=True)
    gathered = gather(files, with_tools(config.tools))
    left_out = sample(gathered, rate) if rate is not None else 0
    report = judge_all(gathered, judge, config)
    if record is not None:
        _recording(report, _limits(config)).write(record)
    if output is not None:
        thresholds = {str(name): value for name, value in config.thresholds.items()}
        write(annotated(gathered.traces, report.outcomes, thresholds), output)
    return replace(report, not_sampled=left_out)


def judge_all(gathered: Gathered, judge: Judge, config: Config) -> Report:
    """Judge what files hold, and close the judge."""
    limits = _limits(config)

    async def both() -> tuple[list[Outcome], list[ConversationOutcome]]:
        talks = await _judged_conversations(gathered.conversations, judge, limits, config.judge)
        return await judged(gathered.candidates, judge, limits, config.judge), talks

    outcomes, talks = asyncio.run(both())
    return Report(outcomes, gathered.bad_records, judge.name, judge.revision, gathered.spans, talks)


async def judged(
    candidates: Sequence[Candidate], judge: Judge, limits: Limits, told: JudgeConfig
) -> list[Outcome]:
    """Judge candidates with a progress bar, where there is a terminal; then close the judge."""
    assessor = Assessor(judge, limits=limits, runs=told.runs)
    try:
        with _progress() as progress:
            bar = progress.add_task("judging", total=len(candidates))
            return await evaluate(
                candidates,
                assessor,
                concurrency=told.concurrency,
                advance=lambda: progress.advance(bar),
            )
    finally:
        await assessor.aclose()
        await judge.aclose()


async def _judged_conversations(
    found: Sequence[Conversation], judge: Judge, limits: Limits, told: JudgeConfig
) -> list[ConversationOutcome]:
    if not found:
        return []
    assessor = ConversationAssessor(judge, limits=limits, runs=told.runs)
    try:
        with _progress() as progress:
            bar = progress.add_task("judging conversations", total=len(found))
            return await conversations.evaluate(
                found,
                assessor,
                concurrency=told.concurrency,
                advance=lambda: progress.advance(bar),
            )
    finally:
        await assessor.aclose()


def _progress() -> Progress:
    words = TextColumn("{task.description}")
    columns = words, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _limits(config: Config) -> Limits:
    return Limits(**config.limits.model_dump(exclude={"request_bytes", "connections"}))


def _recording(report: Report, limits: Limits) -> Recording:
    recording = Recording()
    for outcome in report.outcomes:
        if outcome.verdict is not None:
            recording.add_verdict(outcome.candidate.retrieval, outcome.verdict, limits)
    for talk in report.conversations:
        for retrieval, verdict in talk.assessed.retrievals if talk.assessed is not None else ():
            recording.add_verdict(retrieval, verdict, limits)
    return recording
