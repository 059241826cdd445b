"""Estimates for every sample by a model that never saw its source, kept on disk."""

import argparse
import json
import pickle
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from training.data import SOURCES, Unit
from training.fit import Stages
from training.measured import WORK, samples
from training.sample import Sample

DESK_FOLDS = 4


def everything() -> list[Sample]:
    """Return the samples of all sources that are trained on."""
    return [sample for source in SOURCES for sample in samples(source)]


@dataclass(frozen=True)
class Fold:
    """What is left out of the training of one model, and estimated by it."""

    name: str
    sources: frozenset[str]
    domains: frozenset[str] = frozenset()
    """Of one source, where only these domains of it are left out; empty: all of it."""

    def holds(self, unit: Unit) -> bool:
        """Whether a unit is left out."""
        return unit.group in self.sources and (not self.domains or unit.domain in self.domains)


def folds(found: Sequence[Sample]) -> list[Fold]:
    """Return the folds: every source with its siblings, and `desk` once more by its domains."""
    groups = dict.fromkeys(sample.unit.group for sample in found)
    domains = {sample.unit.domain for sample in found if sample.unit.source == "desk"}
    return [Fold(group, frozenset([group])) for group in groups] + by_domain(domains)


def by_domain(domains: Iterable[str]) -> list[Fold]:
    """Return the folds of `desk` in which some of its domains are left out."""
    ordered = sorted(domains)
    parts = [ordered[start::DESK_FOLDS] for start in range(DESK_FOLDS)]
    return [
        Fold(f"desk-{number}", frozenset(["desk"]), frozenset(part))
        for number, part in enumerate(parts)
    ]


def main() -> None:
    """Leave each group out in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", default="crossed")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    found = everything()
    folder = WORK / options.tag
    folder.mkdir(exist_ok=True)
    for fold in folds(found):
        path = folder / f"{fold.name}.pickle"
        if path.exists() or (options.only and fold.name not in options.only.split(",")):
            continue
        start = time.monotonic()
        stages = Stages([sample for sample in found if not fold.holds(sample.unit)])
        inside = [sample for sample in found if fold.holds(sample.unit)]
        likely = stages.likelihoods(inside)
        (folder / f"{fold.name}.json").write_text(json.dumps(stages.data()))
        path.write_bytes(pickle.dumps([(s.unit, p) for s, p in zip(inside, likely, strict=True)]))
        pairs = [(p, s.gold) for s, p in zip(inside, likely, strict=True) if s.unit.kind == "task"]
        mean = np.nanmean([_auc(p, gold) for p, gold in pairs])
        print(f"{fold.name}: AUC {mean:.3f} in {time.monotonic() - start:.0f} s", flush=True)


def _auc(likely: np.ndarray, gold: np.ndarray) -> float:
    if gold.all() or not gold.any():
        return float("nan")
    over = likely[gold][:, None] - likely[~gold]
    return float(np.mean((over > 0) + 0.5 * (over == 0)))


if __name__ == "__main__":
    main()
