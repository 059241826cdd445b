"""The judge's means, corrected by the retrievals that have labels: many judged, few labelled."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from seer_otel.metrics.ppi import FEWEST, CorrectedMean, corrected_mean
from seer_otel.verdict import Evaluation

_LABEL_OF: Final = {"recall": "gt_recall", "precision": "gt_precision"}


def means(evaluations: Iterable[Evaluation]) -> Mapping[str, CorrectedMean]:
    """
    Return recall and precision against the tasks, as the labels would have them.

    The labelled retrievals must be a random draw from all. A score is left out where fewer than
    three have labels, or all have: then the labels say it themselves.
    """
    tasks = [each for each in evaluations if each.scope == "task" and each.status == "scored"]
    found = {}
    for score, label in _LABEL_OF.items():
        labels, judged, others = [], [], []
        for each in tasks:
            said = getattr(each.scores, score)
            truth = getattr(each.ground_truth, label, None)
            if said is not None and truth is not None:
                labels.append(truth)
                judged.append(said)
            elif said is not None:
                others.append(said)
        if len(labels) >= FEWEST and others:
            found[score] = corrected_mean(labels, judged, others)
    return found


def as_json(evaluations: Iterable[Evaluation]) -> dict[str, Any]:
    """Return the corrected means as plain values, by score."""
    return {
        score: {
            "mean": each.value,
            "ci95": [each.interval.low, each.interval.high],
            "degenerate": each.interval.degenerate,
            "judged": each.judged,
            "labelled": each.labelled,
            "labelled_ci95": [each.labels_alone.low, each.labels_alone.high],
            "weight": each.weight,
            "n_labelled": each.n_labelled,
            "n_judged": each.n_judged,
        }
        for score, each in means(evaluations).items()
    }


def sentences(evaluations: Iterable[Evaluation]) -> Iterator[str]:
    """Return the corrected means in words."""
    for score, each in means(evaluations).items():
        yield (
            f"{score}, corrected by {each.n_labelled} labels: {each.value:.3f} "
            f"[{each.interval.low:.3f}, {each.interval.high:.3f}]; the judge says "
            f"{each.judged:.3f}, the labels alone {each.labelled:.3f} "
            f"[{each.labels_alone.low:.3f}, {each.labels_alone.high:.3f}]"
        )
