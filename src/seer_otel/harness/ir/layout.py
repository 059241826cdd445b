"""A run laid out for people: the same tables, notes and plots for every format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from seer_otel.harness.ir import findings
from seer_otel.harness.ir.judged import SCORES, Judged
from seer_otel.harness.ir.measure import AtLevel, Mean, Signal
from seer_otel.harness.ir.run import HarnessRun

BINS: Final = 24
"""Of the plot of a distribution."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under columns; the first column names the row."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def is_figure(self, column: int) -> bool:
        """Whether a column holds numbers, which stand to the right."""
        return column > 0 and all(row[column][:1] in "0123456789+-–" for row in self.rows)


@dataclass(frozen=True, slots=True)
class Note:
    """One remark."""

    text: str
    tone: Literal["plain", "warning", "finding"] = "plain"


@dataclass(frozen=True, slots=True)
class Plot:
    """The confidences of two sorts of queries, counted in bins of equal width."""

    title: str
    low: float
    high: float
    floor: float | None
    answerable: Sequence[int]
    unanswerable: Sequence[int]

    def place(self, value: float) -> float:
        """Return where a value lies between low and high, 0..1."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5


Block = Table | Note | Plot


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report."""

    title: str
    blocks: Sequence[Block]


def sections(run: HarnessRun) -> list[Section]:
    """Lay a run out, the strictest level first."""
    found = [_overview(run)]
    for at in run.levels:
        found += [_scores(run, at), *_differences(run, at)]
    found += [*_kinds(run), *_abstention(run)]
    if run.judged is not None:
        found.append(_judged(run.judged))
    return [section for section in found if section.blocks]


def interval(mean: Mean, form: str = ".3f") -> str:
    """Return a mean with its interval: `0.716 [0.681, 0.751]`, or `1.000 [degenerate]`."""
    if mean.interval.degenerate:
        return f"{mean.value:{form}} [degenerate]"
    return f"{mean.value:{form}} [{mean.interval.low:{form}}, {mean.interval.high:{form}}]"


def _overview(run: HarnessRun) -> Section:
    folder = run.eval_set.folder.resolve().name
    state = "changed" if run.state.changed else "as frozen" if run.state.frozen else "not frozen"
    facts = Note(
        f"{len(run.eval_set.documents)} documents, {len(run.eval_set.queries)} queries; digest "
        f"{run.state.digest}, {state}. {run.depth} documents asked for. In brackets: 95 % "
        "bootstrap intervals over queries."
    )
    arms = Table(("Arm", "What it is"), [(arm.name, arm.source) for arm in run.arms])
    warnings = [Note(text, "warning") for text in findings.warnings(run)]
    return Section(folder, [facts, arms, *warnings])


def _scores(run: HarnessRun, at: AtLevel) -> Section:
    last = run.ks[-1]
    names = [*(f"{score}@{k}" for score in ("recall", "capped_recall") for k in run.ks), "rr"]
    names += [f"hit@{k}" for k in run.ks]
    names += [f"candidate_set_recall@{last}", f"candidate_set_score@{last}"]
    title = f"Level {at.level.name}: {len(at.answerable)} queries"
    if not at.answerable:
        return Section(title, [Note("No query has a right document in the corpus.", "warning")])
    rows = [(arm, *(interval(means[name]) for name in names)) for arm, means in at.means.items()]
    blocks: list[Block] = [Table(("Arm", *map(_title, names)), rows)]
    if at.unanswerable:
        blocks.append(
            Note(
                "Without a right document in the corpus, and in no mean here: "
                f"{findings.listed(at.unanswerable)} ({len(at.unanswerable)} of "
                f"{len(run.eval_set.queries)} queries)."
            )
        )
    blocks += [Note(text) for k in run.ks if (text := findings.not_separated(at, k))]
    return Section(title, blocks)


def _differences(run: HarnessRun, at: AtLevel) -> Iterator[Section]:
    if not at.differences:
        return
    names = [*(f"recall@{k}" for k in run.ks), f"capped_recall@{run.ks[-1]}", "rr"]
    names.append(f"candidate_set_score@{run.ks[-1]}")
    titles = ("Arm", "over", *map(_title, names))
    pairs = dict.fromkeys((each.arm, each.over) for each in at.differences)
    by_key = {(each.arm, each.over, each.score): each for each in at.differences}
    rows = []
    for arm, over in pairs:
        cells = [by_key[arm, over, name] for name in names]
        marked = (interval(each.mean, "+.3f") + (" *" if each.is_clear else "") for each in cells)
        rows.append((arm, over, *marked))
    score = f"recall@{run.ks[-1]}"
    places = [findings.place(at, arm, score) for arm in run.arms if arm.parts]
    yield Section(
        f"Level {at.level.name}: differences, query by query",
        [
            Table(titles, rows),
            Note("* the interval does not hold 0."),
            *(Note(f"{each.why}.", "finding") for each in places if each is not None),
        ],
    )


def _kinds(run: HarnessRun) -> Iterator[Section]:
    at = run.levels[0]
    if len(at.by_kind) > 1:
        rows = [
            (kind, str(next(iter(own.values())).n), *(interval(mean) for mean in own.values()))
            for kind, own in at.by_kind.items()
        ]
        title = f"recall@{run.ks[-1]} by kind of query, level {at.level.name}"
        yield Section(title, [Table(("Kind", "Queries", *at.means), rows)])


def _abstention(run: HarnessRun) -> Iterator[Section]:
    if not run.signals:
        return
    at = run.levels[0]
    title = f"Abstention, level {at.level.name}: is the top score a sign of what has no answer?"
    if not at.unanswerable:
        text = "Every query has a right document, so there is nothing to decline."
        yield Section(title, [Note(text)])
        return
    columns = ("Arm", "Floor", "Abstention accuracy", "False abstentions", "Separation AUC")
    rows = []
    for signal in run.signals:
        found = signal.abstention
        values = (found.accuracy, found.false_abstention_rate, found.separation_auc)
        rows.append((signal.arm, _figure(found.floor, "{:.4g}"), *(_figure(v) for v in values)))
    floor = Note(
        "Floor: the 5th percentile of the answerable queries' top scores; below it a query is "
        f"declined. {len(at.answerable)} answerable queries, {len(at.unanswerable)} without answer."
    )
    yield Section(title, [Table(columns, rows), floor, *map(_plot, run.signals)])


def _plot(signal: Signal) -> Plot:
    sides = [
        [value for value in side if value is not None]
        for side in (signal.answerable, signal.unanswerable)
    ]
    values = [value for side in sides for value in side] or [0.0]
    low, high = min(values), max(values)
    width = (high - low) / BINS or 1.0
    counts = []
    for side in sides:
        bins = [0] * BINS
        for value in side:
            bins[min(BINS - 1, int((value - low) / width))] += 1
        counts.append(bins)
    return Plot(f"Top score of {signal.arm}", low, high, signal.abstention.floor, *counts)


def _judged(judged: Judged) -> Section:
    named = {
        "contextual_precision": f"contextual precision@{judged.k}",
        "contextual_relevancy": f"contextual relevancy@{judged.k}",
        "recall": f"judged recall@{judged.k}",
        "precision": f"judged precision@{judged.k}",
    }
    rows = []
    for name, arm in judged.arms.items():
        cells = [
            f"{interval(arm.means[score])} ± {arm.spread[score]:.3f}" if score in arm.means else "–"
            for score in SCORES
        ]
        rows.append((name, *cells, str(arm.failed), str(arm.not_applicable)))
    columns = ("Arm", *(named[score] for score in SCORES), "failed", "not applicable")
    runs = "one run" if judged.runs == 1 else f"{judged.runs} runs"
    spread = "no spread can be told" if judged.runs == 1 else "after ± the mean spread of a query"
    note = Note(f"{runs}: {spread}. {judged.usage.calls} calls of the judge.")
    return Section(f"Judged by {judged.judge} ({judged.revision})", [Table(columns, rows), note])


def _figure(value: float | None, form: str = "{:.3f}") -> str:
    return "–" if value is None else form.format(value)


def _title(score: str) -> str:
    named = "MRR" if score == "rr" else score.replace("_", " ")
    return named.replace("candidate set", "candidate-set")
