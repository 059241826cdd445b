"""From estimates to decisions: how those of several requirements unite, when to cite nothing."""

import pickle
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from sklearn.linear_model import LogisticRegression

from seer_otel.judge.local.evidence import choose
from seer_otel.judge.local.relations import logit
from seer_otel.judge.local.trees import sigmoid
from training.data import ASKED, Unit
from training.fit import TASK_LIKE
from training.measured import WORK


@dataclass
class Asked:
    """One query over one context, with the estimates for it as a whole and for its parts."""

    source: str
    gold: np.ndarray
    whole: np.ndarray
    parts: list[np.ndarray] = field(default_factory=list)


def left_out(tag: str) -> list[tuple[Unit, np.ndarray]]:
    """Return the estimates by models that never saw the source; for `desk`, the domain."""
    names = sorted(path.name for path in (WORK / tag).glob("*.pickle"))
    names.remove("desk.pickle")
    return [each for name in names for each in pickle.loads((WORK / tag / name).read_bytes())]


def asked(estimates: list[tuple[Unit, np.ndarray]]) -> list[Asked]:
    """Bring together what belongs to one query."""
    wholes = {
        (unit.source, unit.id): Asked(unit.source, np.array(unit.gold), likely)
        for unit, likely in estimates
        if unit.kind == "task"
    }
    for unit, likely in estimates:
        if unit.kind == ASKED:
            wholes[unit.source, unit.id].parts.append(likely)
    singles = [
        Asked(unit.source, np.array(unit.gold), likely)
        for unit, likely in estimates
        if unit.kind == "subquery"
    ]
    return [*wholes.values(), *singles]


def fit_union(found: list[Asked]) -> tuple[float, float, float]:
    """Fit how the estimates for the whole and for the best part make one."""
    several = [each for each in found if each.parts]
    sizes: dict[str, int] = defaultdict(int)
    for each in several:
        sizes[each.source] += 1
    rows = np.vstack([_row(each) for each in several])
    gold = np.concatenate([each.gold for each in several])
    weights = np.concatenate(
        [
            np.full(len(e.gold), TASK_LIKE.get(e.source, 1.0) / sizes[e.source] ** 0.5)
            for e in several
        ]
    )
    model = LogisticRegression(C=10.0).fit(rows, gold, sample_weight=weights / weights.mean())
    whole, best = model.coef_[0]
    return (round(float(model.intercept_[0]), 3), round(float(whole), 3), round(float(best), 3))


def _row(each: Asked) -> np.ndarray:
    best = np.max(each.parts, axis=0)
    return np.array([[logit(w), logit(b)] for w, b in zip(each.whole, best, strict=True)])


def united(each: Asked, union: tuple[float, float, float]) -> np.ndarray:
    """Return the estimates that the product decides from."""
    if not each.parts:
        return each.whole
    rows = _row(each)
    return np.array([sigmoid(union[0] + union[1] * w + union[2] * b) for w, b in rows])


def f1(cited: np.ndarray, gold: np.ndarray) -> float:
    """Return the F1 of citations; 1 where there is nothing to cite and nothing is cited."""
    if not cited.any() and not gold.any():
        return 1.0
    hits = float((cited & gold).sum())
    return 2 * hits / float(cited.sum() + gold.sum())


@dataclass
class Outcome:
    """How one query was decided."""

    source: str
    several: bool
    f1: float
    expected: float
    empty: bool
    cited: bool


def decide(
    found: list[Asked], union: tuple[float, float, float], reluctance: float
) -> list[Outcome]:
    """Decide every query as the product does."""
    outcomes = []
    for each in found:
        choice = choose([float(value) for value in united(each, union)], reluctance)
        cited = np.zeros(len(each.gold), bool)
        cited[list(choice.places)] = True
        score = f1(cited, each.gold)
        outcomes.append(
            Outcome(
                each.source,
                bool(each.parts),
                score,
                choice.expected,
                not each.gold.any(),
                bool(choice.places),
            )
        )
    return outcomes
