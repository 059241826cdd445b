"""Gates: is a run good enough, and was enough of it scored to say so?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, get_args

from rich.text import Text

from seer_otel.dialects.attach.results import ATTRIBUTES
from seer_otel.errors import ConfigError
from seer_otel.harness.conversations import MEASURES
from seer_otel.harness.report import Report, scores_by_scope
from seer_otel.verdict import Scope

MIN_COVERAGE: Final = 0.9
TOLERANCE: Final = 1e-9
"""By which a value may miss its threshold and still pass."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The least that the mean of one score may be."""

    score: str
    threshold: float
    scope: Scope = "task"

    @property
    def name(self) -> str:
        """`recall`, or `trace.recall` of another scope than the task."""
        return (
            self.score if self.scope in ("task", "conversation") else f"{self.scope}.{self.score}"
        )


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether one gate passed, and why."""

    gate: Gate
    passed: bool
    value: float | None
    """The mean; None where nothing has the score."""
    n_scored: int
    n_total: int
    """All that the score applies to: retrievals that failed or were skipped, and what could not be
    read, are among them; what needs no retrieval is not."""

    @property
    def coverage(self) -> float | None:
        """n_scored / n_total; None where there was nothing."""
        return self.n_scored / self.n_total if self.n_total else None

    def __str__(self) -> str:
        mark = "PASS" if self.passed else "FAIL"
        value = "no value" if self.value is None else f"{self.value:.4g}"
        coverage = f"{self.n_scored} of {self.n_total} have it"
        return f"{mark} {self.gate.name} {value}, at least {self.gate.threshold:g}; {coverage}"


def parse(texts: Sequence[str]) -> list[Gate]:
    """
    Read gates: `recall=0.9,trace.precision=0.3`.

    Raises:
        ConfigError: One cannot be understood, or there is none: that would pass whatever comes.
    """
    thresholds = {}
    for text in ",".join(texts).split(","):
        name, _, number = text.partition("=")
        try:
            thresholds[name.strip()] = float(number)
        except ValueError:
            raise ConfigError(
                f"gates are scores with their thresholds, as in recall=0.9; not {text.strip()!r}"
            ) from None
    return gates(thresholds)


def gates(thresholds: Mapping[str, float]) -> list[Gate]:
    """
    Return the gates for thresholds by name: `recall`, or `trace.recall` of another scope.

    Raises:
        ConfigError: There is no such score or scope, a threshold is not in 0..1, or there is none.
    """
    if not thresholds:
        raise ConfigError("a gate needs a threshold, as in recall=0.9: without one, all would pass")
    return [_gate(name, threshold) for name, threshold in thresholds.items()]


def check(
    report: Report, wanted: Sequence[Gate], min_coverage: float = MIN_COVERAGE
) -> list[GateResult]:
    """
    Tell which gates a run passes: value >= threshold, and enough of it scored.

    Args:
        report: The run.
        wanted: The gates.
        min_coverage: The least share, of all that a score applies to, that must have it.
    """
    values = scores_by_scope(report)
    return [_check(report, gate, values.get(gate.scope, {}), min_coverage) for gate in wanted]


def as_json(results: Sequence[GateResult]) -> list[dict[str, Any]]:
    """Return gates as plain values."""
    return [
        {
            "gate": each.gate.name,
            "scope": each.gate.scope,
            "threshold": each.gate.threshold,
            "passed": each.passed,
            "value": each.value,
            "n_scored": each.n_scored,
            "n_total": each.n_total,
            "coverage": each.coverage,
        }
        for each in results
    ]


def render(results: Sequence[GateResult]) -> Text:
    """Lay gates out for people."""
    lines = (Text(str(each), style="green" if each.passed else "bold red") for each in results)
    return Text("\n").join(lines)


def _gate(name: str, threshold: float) -> Gate:
    scope, dot, score = name.rpartition(".")
    if not dot:
        scope = "conversation" if score in MEASURES else "task"
    known = MEASURES if scope == "conversation" else tuple(ATTRIBUTES)
    if scope not in get_args(Scope) or score not in known:
        raise ConfigError(
            f"there is no score {name!r}; there are {', '.join([*ATTRIBUTES, *MEASURES])}, and "
            "those of another scope than the task, as in trace.recall"
        )
    if not 0 <= threshold <= 1:
        raise ConfigError(f"the threshold of {name} is {threshold:g}; it lies between 0 and 1")
    found: dict[str, Scope] = {each: each for each in get_args(Scope)}
    return Gate(score, threshold, found[scope])


def _check(
    report: Report, gate: Gate, values: Mapping[str, Sequence[float]], min_coverage: float
) -> GateResult:
    found = values.get(gate.score, ())
    total = _total(report, gate)
    value = fmean(found) if found else None
    good = value is not None and value >= gate.threshold - TOLERANCE
    enough = bool(total) and len(found) / total >= min_coverage - TOLERANCE
    return GateResult(gate, good and enough, value, len(found), total)


def _total(report: Report, gate: Gate) -> int:
    """Count what a score applies to."""
    if gate.scope == "conversation":
        statuses = [each.status for each in report.conversations]
    elif gate.scope == "task":
        statuses = [each.status for each in report.evaluations() if each.scope == "task"]
        statuses += ["skipped"] * (report.skipped().total() + len(report.bad_records))
    else:
        statuses = [each.status for each in report.evaluations() if each.scope == gate.scope]
    return len(statuses) - statuses.count("not_applicable")
