"""One run of the harness: read, check, retrieve, score; have it judged where that is wanted."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from seer_otel.config import JudgeConfig
from seer_otel.harness.ir import arms as arms_
from seer_otel.harness.ir import judged as judged_
from seer_otel.harness.ir import measure
from seer_otel.harness.ir.arms import Arm
from seer_otel.harness.ir.eval_set import EvalSet, load
from seer_otel.harness.ir.judged import Judged
from seer_otel.harness.ir.lock import State, state
from seer_otel.harness.ir.measure import AtLevel, Signal
from seer_otel.judge.redacting import Redact
from seer_otel.judge.select import describe, open_judge

DEPTH: Final = 100
"""Documents that are asked for: what a reciprocal rank, and a fusion, can see."""


@dataclass(frozen=True)
class HarnessRun:
    """What came of one run."""

    eval_set: EvalSet
    state: State
    ks: Sequence[int]
    """Places that count, ascending."""
    depth: int
    arms: Sequence[Arm]
    levels: Sequence[AtLevel]
    """The strictest first."""
    signals: Sequence[Signal]
    judged: Judged | None = None

    @property
    def all_is_well(self) -> bool:
        """Whether the set is as it was frozen, and no judgement failed."""
        failed = self.judged is not None and any(a.failed for a in self.judged.arms.values())
        return not (self.state.changed or failed)


def run(
    folder: Path,
    *,
    wanted: Sequence[str] = (),
    levels: Sequence[str] = (),
    ks: Sequence[int] = (10,),
    judge: JudgeConfig | None = None,
    redact: Redact | None = None,
) -> HarnessRun:
    """
    Measure retrievers on an evaluation set.

    Args:
        folder: The set; see `eval_set`.
        wanted: The arms; BM25, dense and their hybrid unless told.
        levels: The levels to use, the strictest first; all unless told.
        ks: Places that count.
        judge: Who judges the lists too, and how often, if anybody. The judge, and where it sends
            text, is said on the standard error before anything is sent.
        redact: From a text to what the judge may see of it.

    Raises:
        ConfigError: The set, an arm or the judge cannot be used.
    """
    opened = open_judge(judge.settings(), redact=redact) if judge is not None else None
    if judge is not None:
        print(describe(judge.settings()), file=sys.stderr, flush=True)
    specs = arms_.specs(wanted)
    eval_set, is_now = load(folder, levels), state(folder)
    ordered = sorted(set(ks))
    depth = max(DEPTH, ordered[-1])
    with _progress() as progress:
        searched = sum(spec.kind in ("built-in", "function") for spec in specs)
        bar = progress.add_task("retrieving", total=searched * len(eval_set.queries))
        arms = arms_.retrieve(specs, eval_set, depth, advance=lambda: progress.advance(bar))
    verdicts = None
    if opened is not None and judge is not None:
        with _progress() as progress:
            bar = progress.add_task("judging", total=len(arms) * len(eval_set.queries))
            asking = judged_.ask(
                opened,
                eval_set,
                arms,
                k=ordered[-1],
                runs=judge.runs,
                concurrency=judge.concurrency,
                advance=lambda: progress.advance(bar),
            )
            verdicts = asyncio.run(asking)
    return HarnessRun(
        eval_set,
        is_now,
        ordered,
        depth,
        arms,
        [measure.at_level(level, eval_set, arms, ordered) for level in eval_set.levels],
        measure.signals(eval_set, arms),
        verdicts,
    )


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
