"""What a run says in words: what is odd about it, what separates the arms, what earns its place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seer_otel.harness.ir.arms import Arm
from seer_otel.harness.ir.lock import LOCK
from seer_otel.harness.ir.measure import AtLevel, Difference
from seer_otel.harness.ir.run import HarnessRun

_SHOWN = 5
"""Names listed in a sentence, at most."""


@dataclass(frozen=True, slots=True)
class Place:
    """Whether a hybrid is better than each of the arms that it fuses."""

    arm: str
    score: str
    earned: bool
    why: str


def warnings(run: HarnessRun) -> list[str]:
    """Return what makes the numbers of a run other than they seem."""
    return list(_warnings(run))


def place(at: AtLevel, arm: Arm, score: str) -> Place | None:
    """
    Tell whether a hybrid earns its place at one level: its interval over each part is above 0.

    None where no query is answerable there.
    """
    over = [_over(at, arm.name, part, score) for part in arm.parts]
    above = [each for each in over if each is not None]
    if not above:
        return None
    worst = min(above, key=lambda each: each.mean.value)
    if all(each.mean.interval.low > 0 for each in above):
        why = f"{arm.name} earns its place: {_said(worst)}, the better of what it fuses"
        return Place(arm.name, score, True, why)
    if worst.mean.interval.high < 0:
        why = f"{arm.name} does not earn its place, it costs: {_said(worst)}"
    else:
        why = (
            f"{arm.name} does not earn its place: {_said(worst)}, which {worst.mean.n} queries "
            "cannot tell from no difference"
        )
    return Place(arm.name, score, False, why)


def not_separated(at: AtLevel, k: int) -> str | None:
    """Return a remark where hit@k does not tell the arms apart; None where it does."""
    name = f"hit@{k}"
    values = [own[name].value for own in at.means.values() if own]
    if not values or any(each.is_clear for each in at.differences if each.score == name):
        return None
    low, high = min(values), max(values)
    if len(values) == 1:
        return f"{name} is 1 for every query: it says nothing here." if low == 1 else None
    span = f"{low:.3f}" if low == high else f"{low:.3f} to {high:.3f}"
    return f"{name} does not separate the arms ({span}): read recall@{k}."


def listed(names: Sequence[str]) -> str:
    """Return some names as a list, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _warnings(run: HarnessRun) -> Iterator[str]:
    if run.state.changed:
        yield (
            f"CHANGED since it was frozen: {', '.join(run.state.changed)}. These numbers are of "
            "another set than those before."
        )
    elif not run.state.frozen:
        yield (
            f"The set is not frozen: `seer-otel harness freeze` writes {LOCK}, and changes are "
            "told from then on."
        )
    for ids in run.eval_set.duplicate_queries():
        yield (
            f"Duplicate queries with different right documents: {listed(ids)}. No retriever can "
            "have them all right, which caps MRR and recall at small k."
        )
    known = {query.id for query in run.eval_set.queries}
    for level in run.eval_set.levels:
        if strangers := len(level.wanted.keys() - known):
            yield f"{level.name}: {strangers} labelled queries are not in queries.jsonl: left out."
        unlabelled = len(known - level.wanted.keys())
        if unlabelled > len(known) / 2:
            yield (
                f"{level.name}: {unlabelled} of {len(known)} queries have no labels, and count as "
                "queries to be declined. If they are only unlabelled, leave them out of the set."
            )
    for arm in run.arms:
        yield from (f"{arm.name}: {remark}." for remark in arm.remarks)


def _over(at: AtLevel, arm: str, over: str, score: str) -> Difference | None:
    pairs = (each for each in at.differences if each.score == score)
    return next((each for each in pairs if (each.arm, each.over) == (arm, over)), None)


def _said(difference: Difference) -> str:
    mean = difference.mean
    return (
        f"{difference.score} {mean.value:+.3f} [{mean.interval.low:+.3f}, "
        f"{mean.interval.high:+.3f}] over {difference.over}"
    )
