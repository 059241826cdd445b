"""Scores against labels: of the retriever, and of the judge."""

from collections.abc import Collection, Sequence
from typing import Final

from seer_otel.metrics.documents import documents, supporting
from seer_otel.retrieval import Passage
from seer_otel.verdict import GroundTruthScores

NO_GOLD: Final = "no gold ids are given"
NOTHING_FETCHED: Final = "nothing was fetched"
NO_GOLD_FETCHED: Final = "no gold id was fetched"
NOTHING_CITED: Final = "nothing was cited"

_SCORES: Final = (
    "gt_recall",
    "gt_precision",
    "evaluator_recall",
    "evaluator_precision",
    "evaluator_exact_match",
)


def score(
    context: Sequence[Passage],
    gold_doc_ids: Collection[str],
    requirements: Sequence[Collection[int]],
) -> GroundTruthScores:
    """
    Score a context, and the citations of the task's judgement, against gold ids.

    The unit of a gold id is the id; that of precision is the document (a distinct text), so several
    chunks that share an id are several documents and one id. A document is gold when any copy of
    it carries a gold id.

    Args:
        context: The items in the order given.
        gold_doc_ids: What should have been fetched; an id given twice counts once.
        requirements: For each requirement of the task the positions cited, from 1.
    """
    gold = frozenset(gold_doc_ids)
    if not gold:
        return GroundTruthScores(absent=dict.fromkeys(_SCORES, NO_GOLD))
    texts = documents(context)
    fetched = {text for text in texts if text is not None}
    cited = frozenset().union(*supporting(texts, requirements))
    carried = [
        (text, passage.id)
        for text, passage in zip(texts, context, strict=True)
        if text is not None and passage.id in gold
    ]
    gold_documents = {text for text, _ in carried}
    gold_fetched = {id_ for _, id_ in carried}
    gold_cited = {id_ for text, id_ in carried if text in cited}

    absent = {}
    if not fetched:
        absent["gt_precision"] = NOTHING_FETCHED
    if not gold_fetched:
        absent["evaluator_recall"] = NO_GOLD_FETCHED
    if not cited:
        absent["evaluator_precision"] = NOTHING_CITED
    return GroundTruthScores(
        gt_recall=len(gold_fetched) / len(gold),
        gt_precision=_share(len(gold_documents), len(fetched)),
        evaluator_recall=_share(len(gold_cited), len(gold_fetched)),
        evaluator_precision=_share(len(cited & gold_documents), len(cited)),
        evaluator_exact_match=float(gold_cited == gold_fetched and cited <= gold_documents),
        gold_ids_unmatched=not gold_fetched,
        absent=absent,
    )


def evaluator_f1(
    context: Sequence[Passage],
    gold_doc_ids: Collection[str],
    requirements: Sequence[Collection[int]],
) -> float:
    """
    Return F1 of the documents cited against the gold documents fetched; 1 where both are none.

    Defined also without gold ids: then it says whether the judge cited nothing.
    """
    gold = frozenset(gold_doc_ids)
    texts = documents(context)
    cited = frozenset().union(*supporting(texts, requirements))
    pairs = zip(texts, context, strict=True)
    right = {text for text, passage in pairs if text is not None and passage.id in gold}
    if not cited and not right:
        return 1.0
    return 2 * len(cited & right) / (len(cited) + len(right))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
