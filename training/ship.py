"""Fit on all sources, settle the decisions on estimates for unseen ones, write the shipped file."""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np

import seer_otel.judge.local as product
from seer_otel.judge.local.words import script, terms
from training.crossed import everything
from training.decide import Asked, Outcome, asked, decide, fit_union, left_out
from training.fit import TASK_LIKE, Stages
from training.measured import WORK
from training.sample import Sample

RELUCTANCES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

DECLINED = 0.1
"""Share of the questions with evidence for which citing nothing is borne, see `_reluctance`."""

UNSURE = 0.2
"""Share of the questions that are to be called unsure."""

LEARNT = 200
"""Distinct terms of a script that make it one that the model has learnt."""


def _mean(outcomes: list[Outcome], value: str) -> float:
    """Return a mean over sources, each with its weight, of what is defined."""
    of_source: dict[str, list[float]] = defaultdict(list)
    for outcome in outcomes:
        of_source[outcome.source].append(float(getattr(outcome, value)))
    weights = [TASK_LIKE.get(source, 1.0) for source in of_source]
    return float(np.average([np.mean(each) for each in of_source.values()], weights=weights))


def _reluctance(found: list[Asked], union: tuple[float, float, float]) -> float:
    """Return the highest reluctance to cite that declines few questions wrongly."""
    best = RELUCTANCES[0]
    for reluctance in RELUCTANCES:
        outcomes = decide(found, union, reluctance)
        declined = 1 - _mean([each for each in outcomes if not each.empty], "cited")
        abstained = 1 - _mean([each for each in outcomes if each.empty], "cited")
        score = _mean(outcomes, "f1")
        print(f"{reluctance}: F1 {score:.3f} declined {declined:.3f} abstained {abstained:.3f}")
        if declined <= DECLINED:
            best = reluctance
    return best


def _scripts(samples: list[Sample]) -> list[str]:
    seen: dict[str, set[str]] = defaultdict(set)
    for text in {text for sample in samples for text in sample.unit.passages}:
        for term in terms(text):
            seen[script(term)].add(term)
    return sorted(name for name, found in seen.items() if len(found) >= LEARNT)


def main() -> None:
    """Write `model.json` beside the code that reads it."""
    estimates = left_out("crossed")
    found = asked(estimates)
    union = fit_union(found)
    reluctance = _reluctance(found, union)
    expected = [outcome.expected for outcome in decide(found, union, reluctance)]
    samples = everything()
    data = Stages(samples).data() | {
        "union": union,
        "reluctance": reluctance,
        "doubt": round(float(np.quantile(expected, UNSURE)), 3),
        "scripts": _scripts(samples),
    }
    path = Path(product.__file__).parent / "model.json"
    path.write_text(json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n")
    print(f"{path.name}: {path.stat().st_size} bytes, union {union}, reluctance {reluctance}")
    for fold in sorted((WORK / "crossed").glob("*.json")):
        of_fold = json.loads(fold.read_text()) | {name: data[name] for name in _SETTLED}
        fold.write_text(json.dumps(of_fold, separators=(",", ":"), ensure_ascii=False))


_SETTLED = ("union", "reluctance", "doubt", "scripts")
"""What decides for the models of the folds too, so that they can be run as the product."""


if __name__ == "__main__":
    main()
