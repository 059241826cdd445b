"""The commands that measure retrievers on evaluation sets, and compare runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from seer_otel.cli import NOT_ALL_WELL, OK
from seer_otel.cli.options import (
    FILE,
    FOLDER,
    OUTPUT,
    Format,
    config_option,
    examples,
    format_option,
    json_text,
    judge_option,
    print_as,
    runs_option,
)


@click.group(
    short_help="Measure retrievers on an evaluation set.",
    epilog=examples(
        "seer-otel harness freeze evalset",
        "seer-otel harness run evalset --arms bm25,dense,hybrid",
    ),
)
def harness() -> None:
    """
    Measure retrievers on a frozen set of labelled queries, in the layout of BEIR.

    A set is a folder with corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/LEVEL.tsv; or with
    labels on documents and queries.
    """


@harness.command(
    short_help="Run arms over a set, and score their lists.",
    epilog=examples(
        "seer-otel harness run evalset",
        "seer-otel harness run evalset --arms old=runs/monday.trec,new=runs/friday.jsonl",
        "seer-otel harness run evalset --arms bm25,mine=my_search:search,hybrid --k 5,10",
        "seer-otel harness run evalset --judge local --runs 3 --format html --output report.html",
    ),
)
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option(
    "--arms",
    multiple=True,
    metavar="ARM,…",
    help="bm25, dense, hybrid, module:function, or a run file (JSONL, TREC); NAME=ARM names one."
    "  [bm25,dense,hybrid]",
)
@click.option("--levels", metavar="LEVEL,…", help="The levels to use, the strictest first.")
@click.option(
    "--k", "places", metavar="K,…", default="10", show_default=True, help="Places that count."
)
@judge_option
@runs_option
@config_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown", "html"]),
    default="table",
    show_default=True,
)
@click.option("--output", type=OUTPUT, metavar="FILE", help="Write the report there.")
def run(
    folder: Path,
    arms: Sequence[str],
    levels: str | None,
    places: str,
    judge: str | None,
    runs: int | None,
    file: Path | None,
    form: Literal["table", "json", "markdown", "html"],
    output: Path | None,
) -> int:
    """
    Run arms over the evaluation set in DIR, and score their lists against its labels.

    With --judge their lists are judged too. Exit code 1: the set is not what it was when it was
    frozen, or a judgement failed.
    """
    from seer_otel.config import load
    from seer_otel.dialects import redaction_of
    from seer_otel.harness.ir import as_json, layout, page, render
    from seer_otel.harness.ir import run as running

    if runs is not None and judge is None:
        raise click.UsageError("--runs goes with --judge")
    flags = {"judge.kind": judge, "judge.runs": runs}
    told = load(file, flags=flags) if judge is not None else None
    made = running.run(
        folder,
        wanted=[arm for each in arms for arm in _listed(each)],
        levels=_listed(levels or ""),
        ks=_places(places),
        judge=told.judge if told is not None else None,
        redact=redaction_of(told.redact.patterns, told.redact.function) if told else None,
    )
    if form == "table" and output is None:
        print_as("table", dict, lambda: render.on_terminal(layout.sections(made)))
        return OK if made.all_is_well else NOT_ALL_WELL
    if form == "json":
        text = json_text(as_json.as_json(made)) + "\n"
    elif form == "markdown":
        text = render.as_markdown(layout.sections(made))
    elif form == "html":
        text = page.as_html(layout.sections(made))
    else:
        text = render.as_text(layout.sections(made))
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
    return OK if made.all_is_well else NOT_ALL_WELL


@harness.command(
    short_help="Write down what a set is, so that changes are told.",
    epilog=examples("seer-otel harness freeze evalset"),
)
@click.argument("folder", type=FOLDER, metavar="DIR")
def freeze(folder: Path) -> int:
    """Write harness.lock.json into DIR; runs say from then on when a file has changed."""
    from seer_otel.harness.ir import eval_set, lock

    eval_set.load(folder)
    before = lock.freeze(folder)
    changed = f"; changed since it was last frozen: {', '.join(before.changed)}"
    click.echo(f"{folder / lock.LOCK}: digest {before.digest}{changed if before.changed else ''}")
    return OK


@click.command(
    short_help="Compare two runs, pair by pair.",
    epilog=examples(
        "seer-otel evaluate spans.json --format json > monday.json",
        "seer-otel compare monday.json friday.json",
    ),
)
@click.argument("before", type=FILE, metavar="RUN-A")
@click.argument("after", type=FILE, metavar="RUN-B")
@format_option
def compare(before: Path, after: Path, form: Format) -> int:
    """Compare RUN-A with RUN-B: JSON of `evaluate` or `harness run`, paired query by query."""
    from seer_otel.harness import comparison

    compared = comparison.compare(before, after)
    print_as(form, lambda: comparison.as_json(compared), lambda: comparison.render(compared))
    return OK


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _places(text: str) -> list[int]:
    places = [int(each) for each in _listed(text) if each.isdecimal()]
    if len(places) < len(_listed(text)) or not places or min(places) < 1:
        raise click.UsageError(f"--k takes whole numbers from 1, such as 5,10; not {text!r}")
    return places
