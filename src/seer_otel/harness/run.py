"""One run over files: open the judge, judge, write what was asked for."""

import asyncio
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from seer_otel.config import Config, JudgeConfig
from seer_otel.dialects import with_tools
from seer_otel.errors import ConfigError
from seer_otel.harness.annotate import annotated, write
from seer_otel.harness.candidates import Candidate, gather
from seer_otel.harness.evaluate import Outcome, evaluate
from seer_otel.harness.report import Report
from seer_otel.judge.assess import Assessor
from seer_otel.judge.layout import Limits
from seer_otel.judge.protocol import Judge
from seer_otel.judge.recording import Recording
from seer_otel.judge.select import describe, open_judge


def run(
    files: Iterable[str], config: Config, *, output: Path | None = None, record: Path | None = None
) -> Report:
    """
    Judge all retrievals of files with the configured judge.

    The judge, and where it sends text, is said on the standard error before anything is sent; a
    terminal gets a progress bar there.

    Args:
        files: Paths; `-` is the standard input.
        config: Its judge, limits and thresholds count.
        output: Where to write the spans with their results.
        record: Where to write the verdicts, for the replay judge.

    Raises:
        ConfigError: There is no such judge, or no folder to write to.
        OSError: A file cannot be opened or written.
    """
    for path in (output, record):
        if path is not None and not path.parent.is_dir():  # said before anything is spent
            raise ConfigError(f"{path}: there is no such folder")
    settings = config.judge.settings()
    judge = open_judge(settings)
    print(describe(settings), file=sys.stderr, flush=True)
    gathered = gather(files, with_tools(config.tools))
    limits = Limits(**config.limits.model_dump(exclude={"request_bytes"}))
    outcomes = asyncio.run(judged(gathered.candidates, judge, limits, config.judge))
    if record is not None:
        _recording(outcomes, limits).write(record)
    if output is not None:
        thresholds = {str(name): value for name, value in config.thresholds.items()}
        write(annotated(gathered.traces, outcomes, thresholds), output)
    return Report(outcomes, gathered.bad_records, judge.name, judge.revision, gathered.spans)


async def judged(
    candidates: Sequence[Candidate], judge: Judge, limits: Limits, told: JudgeConfig
) -> list[Outcome]:
    """Judge candidates with a progress bar, where there is a terminal; then close the judge."""
    assessor = Assessor(judge, limits=limits, runs=told.runs)
    columns = TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    console = Console(stderr=True)
    try:
        with Progress(
            *columns, console=console, transient=True, disable=not console.is_terminal
        ) as progress:
            bar = progress.add_task("", total=len(candidates))
            return await evaluate(
                candidates,
                assessor,
                concurrency=told.concurrency,
                advance=lambda: progress.advance(bar),
            )
    finally:
        await assessor.aclose()
        await judge.aclose()


def _recording(outcomes: Iterable[Outcome], limits: Limits) -> Recording:
    recording = Recording()
    for outcome in outcomes:
        if outcome.verdict is not None:
            recording.add_verdict(outcome.candidate.retrieval, outcome.verdict, limits)
    return recording
