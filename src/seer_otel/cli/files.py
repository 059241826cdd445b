"""The commands that judge files, and judge judges by files."""

from collections.abc import Sequence
from pathlib import Path

import click

from seer_otel.cli import NOT_ALL_WELL, OK
from seer_otel.cli.options import (
    FILE,
    INPUT,
    OUTPUT,
    Format,
    config_option,
    examples,
    format_option,
    judge_option,
    print_as,
    runs_option,
)


@click.command(
    short_help="Judge the retrievals of files.",
    epilog=examples(
        "seer-otel evaluate spans.json",
        "seer-otel evaluate events.jsonl --format json > report.json",
        "SEER_JUDGE_MODEL=gpt-5-mini seer-otel evaluate spans.json --record verdicts.jsonl",
        "seer-otel evaluate spans.json --judge replay:verdicts.jsonl --output scored.otlp.json",
        "seer-otel evaluate spans.json --fail-under recall=0.9,precision=0.3 --junit report.xml",
    ),
)
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@config_option
@judge_option
@runs_option
@click.option("--output", type=OUTPUT, metavar="FILE", help="Write the spans with their scores.")
@click.option("--record", type=OUTPUT, metavar="FILE", help="Write the verdicts, for replay:FILE.")
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="R",
    help="Share of traces.  [1]",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="SCORE=X,…",
    help="Exit with 1 where the mean of a score is lower: recall=0.9,trace.recall=0.8.",
)
@click.option(
    "--min-coverage",
    type=click.FloatRange(0, 1),
    metavar="C",
    help="… or where fewer than this share have the score.  [0.9]",
)
@click.option("--junit", type=OUTPUT, metavar="FILE", help="Write retrievals and gates for CI.")
@format_option
def evaluate(
    files: Sequence[str],
    file: Path | None,
    judge: str | None,
    runs: int | None,
    output: Path | None,
    record: Path | None,
    sample: float | None,
    fail_under: Sequence[str],
    min_coverage: float | None,
    junit: Path | None,
    form: Format,
) -> int:
    """
    Judge every retrieval and conversation of FILE...: OTLP JSON, or lines of it or of events.

    - is standard input. Configured sample rates count for nothing here. Exit code 0: nothing failed
    or was skipped; with --fail-under: all gates passed.
    """
    from rich.console import Group

    from seer_otel.config import load
    from seer_otel.harness import gates, report, run
    from seer_otel.harness import junit as junit_

    if min_coverage is not None and not fail_under:
        raise click.UsageError("--min-coverage goes with --fail-under")
    if junit is not None and not junit.parent.is_dir():
        raise click.UsageError(f"{junit}: there is no such folder")
    wanted = gates.parse(fail_under) if fail_under else []
    flags = {"judge.kind": judge, "judge.runs": runs}
    made = run.run(files, load(file, flags=flags), output=output, record=record, rate=sample)
    least = gates.MIN_COVERAGE if min_coverage is None else min_coverage
    passed = gates.check(made, wanted, least)
    if junit is not None:
        junit_.write(junit, made, passed)
    print_as(
        form,
        lambda: {**report.as_json(made), "gates": gates.as_json(passed)},
        lambda: Group(report.render(made), gates.render(passed)),
    )
    if wanted:
        return OK if all(each.passed for each in passed) else NOT_ALL_WELL
    return OK if made.all_is_well else NOT_ALL_WELL


@click.command(
    short_help="Measure a judge against labelled questions.",
    epilog=examples(
        "seer-otel accuracy questions.jsonl",
        "seer-otel accuracy questions.jsonl --judge baseline:bm25",
        "SEER_JUDGE_MODEL=gpt-5-mini seer-otel accuracy questions.jsonl --runs 3 --format json",
    ),
)
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@config_option
@judge_option
@runs_option
@format_option
def accuracy(
    files: Sequence[Path], file: Path | None, judge: str | None, runs: int | None, form: Format
) -> int:
    """
    Measure a judge against the labelled questions of FILE...: events with gold ids, one a line.

    Besides the judges there are baseline:all, baseline:bm25 and baseline:cosine.
    """
    from seer_otel.config import load
    from seer_otel.harness import accuracy as measurement
    from seer_otel.harness import accuracy_report as report

    flags = {"judge.kind": judge, "judge.runs": runs}
    measured = measurement.run(files, load(file, flags=flags))
    print_as(form, lambda: report.as_json(measured), lambda: report.render(measured))
    return OK if measured.all_is_well else NOT_ALL_WELL
