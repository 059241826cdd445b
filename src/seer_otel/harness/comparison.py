"""Two runs of the same thing, compared pair by pair: what changed, and by more than chance?"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seer_otel.dialects.attach.results import ATTRIBUTES
from seer_otel.errors import ConfigError
from seer_otel.harness.shown import shown
from seer_otel.metrics.statistics import Interval, difference_interval

_PLACE: Final = ("scope", "arm", "query_id")
_CONVERSATION: Final = ("turn_contextual_recall", "turn_recall")
_SHOWN: Final = 5
"""Pairs that are listed because they fell most."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """How one score changed in one group of pairs."""

    group: str
    """The scope, and the arm where there are arms."""
    score: str
    before: float
    after: float
    interval: Interval
    """Of the mean difference, after less before; over pairs."""
    n: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves no doubt about the direction."""
        return self.interval.low > 0 or self.interval.high < 0


@dataclass(frozen=True, slots=True)
class Fall:
    """A pair that has less than it had."""

    group: str
    score: str
    pair: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, compared."""

    before: str
    after: str
    changes: Sequence[Change]
    falls: Sequence[Fall]
    remarks: Sequence[str]


def compare(before: Path, after: Path) -> Comparison:
    """
    Compare two runs of `evaluate`, or two of the harness.

    Results are paired by arm and query id, by record id, or by the ids of trace and span; where
    none of these is in both runs, by the query, if each of them is there once in both.

    Raises:
        ConfigError: A file holds no run, the runs have nothing in common, or their arms answered
            different queries.
    """
    one, other = _read(before), _read(after)
    pairs, remarks = _paired(one, other)
    groups: dict[str, list[tuple[str, Row, Row]]] = {}
    for name, first, second in pairs:
        groups.setdefault(_group(second), []).append((name, first, second))
    changes = [
        change
        for group, members in groups.items()
        for score in _scores(members)
        if (change := _change(group, score, members)) is not None
    ]
    return Comparison(
        before.name, after.name, changes, _falls(groups), [*_other_things(one, other), *remarks]
    )


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    return {
        "before": comparison.before,
        "after": comparison.after,
        "remarks": list(comparison.remarks),
        "changes": [
            {
                "group": each.group,
                "score": each.score,
                "n": each.n,
                "before": each.before,
                "after": each.after,
                "difference": each.after - each.before,
                "ci95": [each.interval.low, each.interval.high],
                "degenerate": each.interval.degenerate,
                "clear": each.is_clear,
            }
            for each in comparison.changes
        ],
        "falls": [
            {
                "group": each.group,
                "score": each.score,
                "pair": each.pair,
                "before": each.before,
                "after": each.after,
            }
            for each in comparison.falls
        ],
    }


def render(comparison: Comparison) -> RenderableType:
    """Lay a comparison out for people."""
    parts: list[RenderableType] = [Text(text, style="yellow") for text in comparison.remarks]
    table = Table("Group", "Score", title=f"{comparison.before} → {comparison.after}")
    for column in ("pairs", "before", "after", "difference [95 %]"):
        table.add_column(column, justify="right")
    for each in comparison.changes:
        interval = each.interval
        span = (
            "[no width]" if interval.degenerate else f"[{interval.low:+.3f}, {interval.high:+.3f}]"
        )
        difference = f"{each.after - each.before:+.3f} {span}{' *' if each.is_clear else ''}"
        name = "MRR" if each.score == "rr" else each.score
        cells = (each.group, name, str(each.n), f"{each.before:.3f}", f"{each.after:.3f}")
        table.add_row(*(Text(shown(cell, 60)) for cell in (*cells, difference)))
    parts += [table, Text("* the interval does not hold 0.", style="dim")]
    for fall in comparison.falls:
        parts.append(
            Text(
                f"fell: {fall.score} {fall.before:.3f} → {fall.after:.3f}  "
                f"{shown(fall.group, 40)}  {shown(fall.pair, 100)}"
            )
        )
    return Group(*parts)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise ConfigError(f"{path}: this is no JSON; give what --format json printed") from None
    results = run.get("results") if isinstance(run, dict) else None
    if not isinstance(results, list) or not all(isinstance(row, dict) for row in results):
        raise ConfigError(f"{path}: this is no run of evaluate or of the harness: no results")
    return dict(run)


def _paired(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[list[tuple[str, Row, Row]], list[str]]:
    first, second = one["results"], other["results"]
    if any("arm" in row for row in first) and any("arm" in row for row in second):
        first, second = _same_arm(first, second)
        names = list(map(_arm_query, first)), list(map(_arm_query, second))
        _refuse_other_queries(*names)
    else:
        names = list(map(_ids, first)), list(map(_ids, second))
        if set(names[0]).isdisjoint(names[1]):
            names = _queries(first), _queries(second)
    earlier = dict(zip(names[0], first, strict=True))
    later = dict(zip(names[1], second, strict=True))
    common = [name for name in later if name in earlier and name is not None]
    if not common:
        raise ConfigError("the two runs have no pair in common: no ids, and no queries")
    pairs = [(name[-1], earlier[name], later[name]) for name in common]
    alone = len(earlier) + len(later) - 2 * len(common)
    return pairs, [f"{alone} results have no partner and are left out."] if alone else []


def _same_arm(first: list[Row], second: list[Row]) -> tuple[list[Row], list[Row]]:
    """Keep the arms that both have; two runs of one arm each are compared whatever its name."""
    arms = [list(dict.fromkeys(row["arm"] for row in rows)) for rows in (first, second)]
    if len(arms[0]) == len(arms[1]) == 1 and arms[0] != arms[1]:
        first = [{**row, "arm": arms[1][0]} for row in first]
        return first, second
    common = set(arms[0]) & set(arms[1])
    if not common:
        raise ConfigError(f"no arm is in both runs: {', '.join(arms[0])}; {', '.join(arms[1])}")
    kept = ([row for row in rows if row["arm"] in common] for rows in (first, second))
    return next(kept), next(kept)


def _refuse_other_queries(
    first: Iterable[tuple[str, ...]], second: Iterable[tuple[str, ...]]
) -> None:
    queries: list[dict[str, set[str]]] = [{}, {}]
    for found, names in zip(queries, (first, second), strict=True):
        for scope, arm, query in names:
            found.setdefault(f"{scope} {arm}", set()).add(query)
    for group in queries[0].keys() & queries[1].keys():
        if odd := len(queries[0][group] ^ queries[1][group]):
            raise ConfigError(
                f"{group}: {odd} queries are in one run only; runs over different queries cannot "
                "be compared"
            )


def _arm_query(row: Row) -> tuple[str, ...]:
    return tuple(str(row.get(name)) for name in _PLACE)


def _ids(row: Row) -> tuple[str, ...]:
    scope = str(row.get("scope"))
    if row.get("record_id"):
        return scope, str(row["record_id"])
    return scope, str(row.get("trace_id")), str(row.get("span_id"))


def _queries(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Name results by scope and query; one whose query is there twice has a name of its own."""
    names = [(str(row.get("scope")), str(row.get("query") or "")) for row in rows]
    counts = Counter(names)
    return [
        name if counts[name] == 1 and name[1] else (*name, "#", str(id(row)))
        for name, row in zip(names, rows, strict=True)
    ]


def _group(row: Row) -> str:
    return ", ".join(str(row[name]) for name in _PLACE[:2] if row.get(name) is not None)


def _scores(members: Sequence[tuple[str, Row, Row]]) -> list[str]:
    row = members[0][2]
    if "arm" in row:
        numbers = (
            name for _, _, each in members for name in each if _number(each, name) is not None
        )
        return [name for name in dict.fromkeys(numbers) if name not in _PLACE]
    return [*ATTRIBUTES, *_CONVERSATION]


def _change(group: str, score: str, members: Sequence[tuple[str, Row, Row]]) -> Change | None:
    values = [(_number(first, score), _number(second, score)) for _, first, second in members]
    both = [(a, b) for a, b in values if a is not None and b is not None]
    if not both:
        return None
    before, after = [a for a, _ in both], [b for _, b in both]
    interval = difference_interval(before, after)
    return Change(group, score, fmean(before), fmean(after), interval, len(both))


def _falls(groups: Mapping[str, Sequence[tuple[str, Row, Row]]]) -> list[Fall]:
    """Return the pairs whose recall fell most."""
    found = []
    for group, members in groups.items():
        score = next((name for name in _scores(members) if name.startswith("recall")), "recall")
        for name, first, second in members:
            before, after = _number(first, score), _number(second, score)
            if before is not None and after is not None and after < before:
                found.append(Fall(group, score, name, before, after))
    return sorted(found, key=lambda each: each.after - each.before)[:_SHOWN]


def _other_things(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterable[str]:
    """Tell of what differs beside what was to be compared."""
    sets = [run.get("eval_set", {}).get("digest") for run in (one, other)]
    if sets[0] != sets[1]:
        yield f"The evaluation sets differ ({sets[0]}, {sets[1]}): so may the numbers, for that."
    judges = [_judge(run) for run in (one, other)]
    if judges[0] != judges[1]:
        yield f"The judges differ: {judges[0]}; {judges[1]}. So may the scores, for that alone."


def _judge(run: Mapping[str, Any]) -> str:
    judge = run.get("judge")
    if isinstance(judge, dict):
        return f"{judge.get('name')} {judge.get('revision')}"
    judged = run.get("judged")
    return f"{judged['judge']} {judged['revision']}" if isinstance(judged, dict) else "none"


def _number(row: Row, name: str) -> float | None:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
