"""Two stages of small boosted trees, fitted, and written as data."""

from collections import defaultdict
from collections.abc import Sequence

import lightgbm
import numpy as np

from seer_otel.judge.local.links import link, standing
from training.data import ASKED, MANY_HOPS, Unit, chance
from training.measured import first_columns, first_names
from training.sample import Sample

SEED = 7
FOLDS = 5
"""Folds, by question, in which the second stage's training sees the first one's estimates."""

SETTINGS = {
    "objective": "binary",
    "learning_rate": 0.06,
    "min_data_in_leaf": 60,
    "lambda_l2": 5.0,
    "feature_fraction_bynode": 0.4,
    "max_bin": 127,
    "seed": SEED,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}

TASK_LIKE = {"desk": 4.0}
"""Sources that are like what the product is asked count so much more than their size says."""

RISING = {
    "bm25", "bm25_share", "bm25_rank", "cover", "cover_share", "cover_gap", "below", "line",
    "line_share", "line_rank", "line_gap", "strength", "pieces", "pieces_share", "pieces_rank",
    "pieces_gap", "guess", "guess_share", "guess_gap", "proper", "digits", "digits_line", "fresh",
    "answer_line", "twin_ahead", "first", "first_share", "first_rank", "first_gap", "first_twin",
    "aspect_cover", "aspect_share", "aspect_gap", "aspect_line", "aspect_line_share",
    "aspect_line_gap", "worth_cover", "worth_cover_share", "worth_line", "worth_line_share",
    "worth_line_gap",
}  # fmt: skip
"""Features of which more is never less evidence: it keeps the trees from learning a source."""

FALLING = {"missing", "worth_missing", "ended", "twin_outlived", "foreign"}


def names(stage: int) -> list[str]:
    """Return the columns of a stage."""
    first = first_names()
    if stage == 1:
        return first
    unit = Unit("", "", "who", "who", ("a", "b"), (True, False), "task")
    _, need, relations = first_columns(unit)
    likely = [0.5, 0.5]
    return [*first, *link(need, relations, likely, "first"), *standing(likely, relations, need)]


def second_rows(sample: Sample, likely: Sequence[float]) -> np.ndarray:
    """Return the rows of the second stage: the first's, and what its estimates show."""
    values = [float(value) for value in likely]
    columns = link(sample.need, sample.relations, values, "first")
    columns |= standing(values, sample.relations, sample.need)
    return np.hstack([sample.rows, np.array(list(columns.values()), np.float32).T])


def weights(samples: Sequence[Sample]) -> np.ndarray:
    """
    Return a weight a row: a source counts with the root of its size, a question once.

    Units of one source share its weight equally, however many passages they have.
    """
    sizes: dict[str, int] = defaultdict(int)
    for sample in samples:
        sizes[sample.unit.source] += 1
    of_source = {s: TASK_LIKE.get(s, 1.0) * n**0.5 / n for s, n in sizes.items()}
    found = [
        np.full(len(s.rows), of_source[s.unit.source] * _of_kind(s.unit) * 10 / len(s.rows) ** 0.5)
        for s in samples
    ]
    every = np.concatenate(found)
    return every / every.mean()


def _of_kind(unit: Unit) -> float:
    """A question of many hops as a whole is seldom what a requirement looks like."""
    return 0.5 if unit.kind.startswith("task") and unit.source in MANY_HOPS else 1.0


def fit(
    samples: Sequence[Sample], rows: Sequence[np.ndarray], stage: int, trees: int, leaves: int
) -> lightgbm.Booster:
    """Fit one stage."""
    monotone = [1 if n in RISING else -1 if n in FALLING else 0 for n in names(stage)]
    gold = np.concatenate([sample.gold for sample in samples])
    data = lightgbm.Dataset(np.vstack(rows), gold, weight=weights(samples))
    settings = SETTINGS | {"num_leaves": leaves, "monotone_constraints": monotone}
    return lightgbm.train(settings, data, trees)


def estimates(model: lightgbm.Booster, rows: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the probabilities of each sample's passages."""
    if not rows:
        return []
    flat = model.predict(np.vstack(rows), num_threads=1)
    return np.split(flat, np.cumsum([len(each) for each in rows])[:-1])


class Stages:
    """Both stages, fitted on some samples, without what the first knows by heart in the second."""

    def __init__(
        self,
        samples: Sequence[Sample],
        trees: tuple[int, int] = (100, 160),
        leaves: tuple[int, int] = (10, 10),
    ) -> None:
        samples = [sample for sample in samples if sample.unit.kind != ASKED]
        rows = [sample.rows for sample in samples]
        folds = np.array([int(chance("fold", s.unit.id) * FOLDS) for s in samples])
        likely: dict[int, np.ndarray] = {}
        for fold in range(FOLDS):
            inside = [i for i in range(len(samples)) if folds[i] != fold]
            outside = [i for i in range(len(samples)) if folds[i] == fold]
            model = fit(
                [samples[i] for i in inside], [rows[i] for i in inside], 1, trees[0], leaves[0]
            )
            likely |= zip(outside, estimates(model, [rows[i] for i in outside]), strict=True)
        self.first = fit(samples, rows, 1, trees[0], leaves[0])
        second = [second_rows(sample, likely[i]) for i, sample in enumerate(samples)]
        self.second = fit(samples, second, 2, trees[1], leaves[1])

    def likelihoods(self, samples: Sequence[Sample]) -> list[np.ndarray]:
        """Return the second stage's estimates for samples that were not trained on."""
        likely = estimates(self.first, [sample.rows for sample in samples])
        rows = [second_rows(s, p) for s, p in zip(samples, likely, strict=True)]
        return estimates(self.second, rows)

    def data(self) -> dict[str, object]:
        """Return what the product reads."""
        return {"first": _forest(self.first, 1), "second": _forest(self.second, 2)}


def _forest(model: lightgbm.Booster, stage: int) -> dict[str, object]:
    trees = [_nodes(tree["tree_structure"]) for tree in model.dump_model()["tree_info"]]
    return {"features": names(stage), "trees": trees}


def _nodes(root: dict) -> list[list[float]]:
    """Return the nodes of a tree, the root first, as the product reads them."""
    nodes: list[list[float]] = [[]]
    waiting = [(root, 0)]
    for node, place in waiting:
        if "leaf_value" in node:
            nodes[place] = [round(node["leaf_value"], 4)]
            continue
        left, right = len(nodes), len(nodes) + 1
        nodes += [[], []]
        nodes[place] = [node["split_feature"], float(f"{node['threshold']:.6g}"), left, right]
        waiting += [(node["left_child"], left), (node["right_child"], right)]
    return nodes
